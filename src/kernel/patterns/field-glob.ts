import { compileGlob } from './pattern.js';

/** Any number of names, also none. */
const ANY_DEPTH = '**';

type Segment = typeof ANY_DEPTH | ((name: string) => boolean);

/** A glob over the path of a field: `headers.authorization`, `**.password`, `*token*`. */
export interface FieldGlob {
  readonly source: string;
  readonly segments: readonly Segment[];
}

/** A place in a value: what the path to it has met so far. */
export interface FieldPlace<T> {
  /** What stands behind the first glob that matches this very path. */
  readonly hit: T | undefined;
}

/** Follows the path to a field, name by name. */
export interface FieldMatcher<T> {
  readonly root: FieldPlace<T>;
  /** The place of a field below a place. */
  step(place: FieldPlace<T>, name: string): FieldPlace<T>;
  /** The place that has met what either of two has met. */
  merge(one: FieldPlace<T>, other: FieldPlace<T>): FieldPlace<T>;
}

interface Place<T> extends FieldPlace<T> {
  readonly states: readonly number[];
  readonly next: Map<string, Place<T>>;
}

/** Names remembered at one place, and places remembered at all: names come from callers and servers. */
const MAX_NAMES = 1000;
const MAX_PLACES = 5000;
const MAX_NAME = 200;

/** Cuts at dots; one in brackets, in braces or behind a backslash belongs to a name. */
function splitPath(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char === '.' && depth === 0) {
      parts.push('');
      continue;
    }
    if (char === '[' || char === '{') depth++;
    else if (char === ']' || char === '}') depth = Math.max(0, depth - 1);
    parts[parts.length - 1] += char === '\\' ? char + (text[++i] ?? '') : char;
  }
  return parts;
}

/**
 * Compiles a glob over the path of a field. Names are joined by dots and compared without regard to case; `*` stays
 * within a name, `**` is any number of names. A single name matches at every depth. Items of a list have the path of
 * their list.
 *
 * @throws Error that says what is wrong with it.
 */
export function compileFieldGlob(text: string): FieldGlob {
  const parts = splitPath(text);
  if (parts.includes('')) throw new Error('a name is missing before, between or after the dots');
  const segments = parts.map((part): Segment => {
    if (part === ANY_DEPTH) return ANY_DEPTH;
    const glob = compileGlob(part.toLowerCase());
    return (name) => glob.matches(name);
  });
  return { source: text, segments: segments.length === 1 ? [ANY_DEPTH, ...segments] : segments };
}

/**
 * A matcher over globs, the first of which that matches decides. It is an automaton built while it is used: a field
 * whose name was seen before costs one look into a map, however many globs there are.
 */
export function createFieldMatcher<T>(globs: ReadonlyArray<readonly [glob: FieldGlob, value: T]>): FieldMatcher<T> {
  /** Every state is a glob and how far it got; one number each. */
  const starts: number[] = [];
  const owners: number[] = [];
  for (const [index, [{ segments }]] of globs.entries()) {
    starts.push(owners.length);
    for (let at = 0; at <= segments.length; at++) owners.push(index);
  }
  const segmentAt = (state: number): Segment | undefined => {
    const owner = owners[state]!;
    return globs[owner]![0].segments[state - starts[owner]!];
  };
  const places = new Map<string, Place<T>>();

  const placeOf = (found: Iterable<number>): Place<T> => {
    const all = new Set<number>();
    const add = (state: number): void => {
      if (all.has(state)) return;
      all.add(state);
      if (segmentAt(state) === ANY_DEPTH) add(state + 1);
    };
    for (const state of found) add(state);
    const states = [...all].toSorted((a, b) => a - b);
    const key = states.join(',');
    const known = places.get(key);
    if (known) return known;
    const done = states.find((state) => segmentAt(state) === undefined);
    const place: Place<T> = {
      states,
      next: new Map(),
      hit: done === undefined ? undefined : globs[owners[done]!]![1],
    };
    if (places.size >= MAX_PLACES) places.clear();
    places.set(key, place);
    return place;
  };

  const advance = (states: Iterable<number>, name: string): number[] => {
    const found: number[] = [];
    for (const state of states) {
      const segment = segmentAt(state);
      if (segment === ANY_DEPTH) found.push(state);
      else if (segment?.(name)) found.push(state + 1);
    }
    return found;
  };

  const walk = (place: Place<T>, name: string): Place<T> => {
    const lower = name.toLowerCase();
    const found = advance(place.states, lower);
    if (!lower.includes('.')) return placeOf(found);
    // A field called "headers.authorization" is also what the path headers.authorization means.
    let through: Place<T> = place;
    for (const part of lower.split('.').slice(0, MAX_NAME)) through = placeOf(advance(through.states, part));
    return placeOf([...found, ...through.states]);
  };

  return {
    root: placeOf(starts),
    step(from, name) {
      const place = from as Place<T>;
      const known = place.next.get(name);
      if (known) return known;
      const next = walk(place, name);
      if (name.length <= MAX_NAME) {
        if (place.next.size >= MAX_NAMES) place.next.clear();
        place.next.set(name, next);
      }
      return next;
    },
    merge: (one, other) => placeOf([...(one as Place<T>).states, ...(other as Place<T>).states]),
  };
}
