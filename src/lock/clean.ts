import { isObject, type JsonValue } from '../kernel/json.js';

/** Places of one machine, and what stands for them in a file that others read. */
export interface MachinePlaces {
  readonly home: string;
  /** The folder of the lock file. */
  readonly project: string;
  readonly temporary: string;
}

/** Removes from texts what belongs to one machine or is private. */
export interface Cleaner {
  text(text: string): string;
  /** Only the places; secrets stay. For what is hashed and not shown. */
  paths(text: string): string;
  json(value: JsonValue): JsonValue;
}

/** Where a path can end: anything that does not go on with a name. */
const END = String.raw`(?![\w.-])`;
const START = String.raw`(?<![\w.~-])`;

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** Gives each of several names one of its own: two that are the same once they are clean would hide one another (A12). */
export function createNames(): (name: string) => string {
  const taken = new Set<string>();
  const next = new Map<string, number>();
  return (name) => {
    let own = name;
    for (let count = next.get(name) ?? 2; taken.has(own); count++) {
      own = `${name}'${count}`;
      next.set(name, count + 1);
    }
    taken.add(own);
    return own;
  };
}

/** A cleaner that also hides known secrets. The same text comes out on every machine on which only these places differ. */
export function createCleaner(places: MachinePlaces, hide: (text: string) => string): Cleaner {
  const named: ReadonlyArray<readonly [string, string]> = [
    [places.project, '.'],
    [places.home, '~'],
    [places.temporary, '<tmp>'],
    // Its place elsewhere: what a definition says of it must not differ by machine.
    ['/tmp', '<tmp>'],
  ];
  const known = named
    .map(([path, name]) => [path.replace(/[\\/]+$/, ''), name] as const)
    // The root of a file system is part of every path.
    .filter(([path]) => path.length > 3)
    .toSorted(([a], [b]) => b.length - a.length)
    .map(([path, name]) => [new RegExp(`${START}${escape(path)}${END}`, 'g'), name] as const);
  const paths = (given: string): string =>
    known.reduce((text, [pattern, name]) => text.replaceAll(pattern, name), given);
  const text = (given: string): string => paths(hide(given));
  const json = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map(json);
    if (!isObject(value)) return value;
    const cleaned: Record<string, JsonValue> = Object.create(null) as Record<string, JsonValue>;
    const nameOf = createNames();
    // In one order, so that the order of the fields does not matter where names become the same.
    for (const name of Object.keys(value).toSorted()) {
      const each = value[name];
      if (each !== undefined) cleaned[nameOf(text(name))] = json(each);
    }
    return cleaned;
  };
  return { text, paths, json };
}
