import type { Problem } from '../../kernel/errors.js';
import { printable } from '../../kernel/text.js';

/** The path of the whole config, for problems that belong to no field. */
export const ROOT = 'config';

/** Keys longer than this are cut when shown. */
const MAX_KEY = 80;

/** The path of a field below another, as people write it: `toolRules[2].pattern`, `servers["a b"].url`. */
export function joinPath(base: string, ...keys: readonly PropertyKey[]): string {
  let path = base === ROOT ? '' : base;
  for (const key of keys) {
    if (typeof key === 'number') path += `[${key}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(String(key))) path += `${path === '' ? '' : '.'}${String(key)}`;
    else path += `[${printable(JSON.stringify(String(key).slice(0, MAX_KEY)))}]`;
  }
  return path === '' ? ROOT : path;
}

/** The value below `value` at `keys`; only own fields are followed. */
export function valueAt(value: unknown, keys: readonly PropertyKey[]): unknown {
  let here = value;
  for (const key of keys) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<PropertyKey, unknown>)[key];
  }
  return here;
}

/** What is wrong with a config, and what merely deserves a look. */
export interface Findings {
  readonly problems: Problem[];
  readonly warnings: Problem[];
}

/** One problem, as a value. */
export function problemAt(path: string, message: string): Problem {
  return { path, message };
}
