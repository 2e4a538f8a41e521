import { canonicalJson, isObject, type JsonValue } from '../kernel/json.js';
import type { Change } from '../model/approval.js';

/** Differences listed at most; beyond that a person reads the whole definition anyway. */
const MAX_CHANGES = 500;

/** A name as it stands in a JSON pointer. */
const escapeName = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

function childrenOf(value: JsonValue): Map<string, JsonValue> | undefined {
  if (Array.isArray(value)) return new Map(value.map((child, index) => [String(index), child]));
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined);
  return new Map(entries);
}

/** Where two JSON values differ, in the order of the new one; the order of keys does not matter. */
export function compareJson(before: JsonValue | undefined, after: JsonValue | undefined): Change[] {
  const changes: Change[] = [];
  const walk = (path: string, old: JsonValue | undefined, now: JsonValue | undefined): void => {
    if (changes.length >= MAX_CHANGES) return;
    // As text nothing and `null` are the same.
    if ((old === undefined) === (now === undefined) && canonicalJson(old) === canonicalJson(now)) return;
    const was = old === undefined ? undefined : childrenOf(old);
    const is = now === undefined ? undefined : childrenOf(now);
    if (was && is && Array.isArray(old) === Array.isArray(now)) {
      for (const name of new Set([...is.keys(), ...was.keys()])) {
        walk(`${path}/${escapeName(name)}`, was.get(name), is.get(name));
      }
      return;
    }
    changes.push({
      path,
      ...(old === undefined ? {} : { before: JSON.stringify(old) }),
      ...(now === undefined ? {} : { after: JSON.stringify(now) }),
    });
  };
  walk('', before, after);
  return changes;
}
