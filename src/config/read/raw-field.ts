import { isObject } from '../../kernel/json.js';
import { valueAt } from './path.js';

/** The section in which a config may stand when it shares its file with something else (CFG-2). */
export const SECTION = 'discovery';

/** A field of a raw config, wherever it stands (CFG-2). */
export function rawField(raw: unknown, name: string): unknown {
  return isObject(raw) ? (valueAt(raw, [name]) ?? valueAt(raw, [SECTION, name])) : undefined;
}

/** Where a field of a raw config stands, or is to stand when it has none yet. */
export function keysOfField(raw: unknown, name: string): string[] {
  const isTop = (valueAt(raw, [name]) ?? undefined) !== undefined;
  return !isTop && isObject(valueAt(raw, [SECTION])) ? [SECTION, name] : [name];
}
