import type { Problem } from '../../kernel/errors.js';
import { nearestNames } from '../../kernel/text.js';
import { problemAt } from '../read/path.js';

const STORES = ['sqlite', 'memory'];

/** A store that there is not. What was written is never repeated: the address of a database holds its password. */
export function checkStore(store: unknown, path: string): Problem[] {
  if (typeof store !== 'string' || STORES.includes(store)) return [];
  if (/^postgres/i.test(store)) {
    return [problemAt(path, 'PostgreSQL is not available in this version; use "sqlite" or "memory"')];
  }
  const [nearest] = store.includes(':') ? [] : nearestNames(store, STORES, 1);
  const hint = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
  return [problemAt(path, `expected "sqlite" or "memory"${hint}`)];
}
