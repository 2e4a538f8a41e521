import { effect, signal } from '@preact/signals';
import { hrefTo, parseHash, route, routeHref } from './router.js';

/** A place that the page of a tool leads back to. */
export interface Place {
  readonly view: string;
  readonly label: string;
  readonly href: string;
}

/** The names of views, as the navigation has them. */
export const LABELS: Readonly<Record<string, string>> = {
  home: 'Home',
  search: 'Search',
  held: 'Held back',
  traffic: 'Traffic',
  audit: 'Audit',
  approvals: 'Approvals',
  rules: 'Rules',
  skills: 'Skills',
  config: 'Config',
};

/** The last address that was not the page of a tool. */
const last = signal<string | undefined>(undefined);

/** Remembers where the page of a tool is opened from. */
export function followPlaces(): () => void {
  return effect(() => {
    if (route.value.view !== 'tool') last.value = routeHref.value;
  });
}

/** Where the page of a tool leads back to from this address; without one to its server, to which it belongs. */
export function placeBefore(address: string | undefined, server: string): Place {
  const view = address === undefined ? undefined : parseHash(address).view;
  if (address !== undefined && view !== undefined && Object.hasOwn(LABELS, view)) {
    return { view, label: LABELS[view]!, href: address.startsWith('#') ? address : `#${address}` };
  }
  return { view: 'servers', label: server.slice(0, 60), href: hrefTo('servers', [server]) };
}

/** Where the page of a tool of this server was opened from. */
export function wayBack(server: string): Place {
  return placeBefore(last.value, server);
}
