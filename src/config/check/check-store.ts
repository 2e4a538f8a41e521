import type { Problem } from '../../kernel/errors.js';
import { nearestNames } from '../../kernel/text.js';
import { problemAt } from '../read/path.js';

const STORES = ['sqlite', 'memory'];

/** What may stand there, for people. */
export const STORE_EXPECTED = 'expected "sqlite", "memory" or postgres://…';

/** A store that there is not. What was written is never repeated: the address of a database holds its password. */
export function checkStore(store: unknown, path: string): Problem[] {
  // A variable is looked at again when it has been filled in.
  if (typeof store !== 'string' || isStore(store) || /^\$\{?\w/.test(store)) return [];
  if (/^postgres/i.test(store)) return [problemAt(path, 'expected postgres://user@host:port/database')];
  const [nearest] = store.includes(':') ? [] : nearestNames(store, STORES, 1);
  const hint = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
  return [problemAt(path, `${STORE_EXPECTED}${hint}`)];
}

/** Whether this names a kind of store, or the address of a database. */
export function isStore(store: string): boolean {
  return STORES.includes(store) || /^postgres(ql)?:\/\/[^\s]+$/i.test(store);
}

/** The passwords in the address of a database. */
export function passwordsOfStore(store: string): string[] {
  const inUser = /^\w+:\/\/[^/?#:]*:([^/?#]*)@/.exec(store)?.[1];
  const inOptions = /[?&]password=([^&#]*)/.exec(store)?.[1];
  return [inUser, inOptions].filter((password): password is string => Boolean(password));
}
