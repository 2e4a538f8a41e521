import { signal } from '@preact/signals';
import { goTo, route } from './router.js';

/** Whether the list of keys is shown. */
export const isHelpOpen = signal(false);

/** After `g`, one letter goes to a view. */
export const GO_KEYS: Readonly<Record<string, string>> = {
  h: 'home',
  s: 'servers',
  f: 'search',
  b: 'held',
  t: 'traffic',
  u: 'audit',
  a: 'approvals',
  r: 'rules',
  k: 'skills',
  c: 'config',
};

const GO_MS = 1500;

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** Puts the focus into the search, where there is one. */
export function focusSearch(): void {
  document.getElementById('search-input')?.focus();
}

/** What was typed after `/` while the search was not there yet; `undefined` when nothing waits for it. */
let typed: string | undefined;

/** The text that was typed before the search had the focus. */
export function takeTyped(): string {
  const text = typed ?? '';
  typed = undefined;
  return text;
}

/** Keys that work everywhere: `/` searches, `?` helps, `g` and a letter goes. */
export function startKeyboard(): () => void {
  let goUntil = 0;
  const onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector('dialog[open]')) return;
    if (typed !== undefined && event.key.length === 1) {
      event.preventDefault();
      typed += event.key;
    } else if (event.key === '/') {
      event.preventDefault();
      if (route.value.view === 'search') focusSearch();
      else {
        typed = '';
        goTo('#/search');
      }
    } else if (event.key === '?') {
      event.preventDefault();
      isHelpOpen.value = true;
    } else if (event.key === 'g') {
      goUntil = event.timeStamp + GO_MS;
      return;
    } else if (event.timeStamp < goUntil && Object.hasOwn(GO_KEYS, event.key)) {
      event.preventDefault();
      goTo(`#/${GO_KEYS[event.key]}`);
    }
    goUntil = 0;
  };
  addEventListener('keydown', onKey);
  return () => removeEventListener('keydown', onKey);
}
