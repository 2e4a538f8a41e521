import { computed, signal, type ReadonlySignal } from '@preact/signals';

/** Where the page is: the view, what it shows, and its filters. */
export interface Route {
  readonly view: string;
  readonly parts: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Reads the part of an address after `#`. */
export function parseHash(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s, 2);
  const [view = '', ...parts] = path.split('/').map(decode);
  return {
    view: view || 'home',
    parts: parts.filter((part) => part !== ''),
    query: Object.fromEntries(new URLSearchParams(search)),
  };
}

/** The address of a view. */
export function hrefTo(
  view: string,
  parts: readonly string[] = [],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const path = [view, ...parts].map(encodeURIComponent).join('/');
  const search = new URLSearchParams(Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  return `#/${path}${search.size > 0 ? `?${search.toString()}` : ''}`;
}

const hash = signal(globalThis.location?.hash ?? '');

/** The address of the page now. */
export const routeHref: ReadonlySignal<string> = hash;

/** Where the page is now. */
export const route = computed(() => parseHash(hash.value));

/**
 * Goes to an address; `replace` leaves no step in the history. `from` is the view that asks after something took time: who has
 * gone elsewhere meanwhile stays there.
 */
export function goTo(href: string, options: { readonly replace?: boolean; readonly from?: string } = {}): void {
  if (options.from !== undefined && options.from !== route.peek().view) return;
  if (options.replace) {
    history.replaceState(null, '', href);
    hash.value = location.hash;
  } else location.hash = href;
}

/** Follows the address of the browser. */
export function startRouter(): void {
  addEventListener('hashchange', () => (hash.value = location.hash));
}
