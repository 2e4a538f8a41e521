import { compileGlob } from './pattern.js';

/** Any number of names, also none. */
const ANY_DEPTH = '**';

type Segment = typeof ANY_DEPTH | ((name: string) => boolean);

/** A glob over the path of a field: `headers.authorization`, `**.password`, `*token*`. */
export interface FieldGlob {
  readonly source: string;
  readonly segments: readonly Segment[];
}

/** A position in a value: what the path to it has met so far. */
export interface PathState<T> {
  /** What stands behind the first glob that matches this very path. */
  readonly hit: T | undefined;
}

/** Follows the path to a field, name by name. */
export interface FieldMatcher<T> {
  readonly root: PathState<T>;
  /** The position of a field below a position. */
  step(position: PathState<T>, name: string): PathState<T>;
  /** The position that has met what either of two has met. */
  merge(one: PathState<T>, other: PathState<T>): PathState<T>;
}

interface MemoizedState<T> extends PathState<T> {
  readonly states: readonly number[];
  readonly next: Map<string, MemoizedState<T>>;
}

/** Names remembered at one position, and memoized remembered at all: names come from callers and servers. */
const MAX_NAMES = 1000;
const MAX_STATES = 5000;
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
 * A matcher over globs; the first match decides. It is an automaton built while it is used: a field whose name was seen
 * before costs one look into a map, however many globs there are.
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
  const memoized = new Map<string, MemoizedState<T>>();

  const stateOf = (found: Iterable<number>): MemoizedState<T> => {
    const all = new Set<number>();
    const add = (state: number): void => {
      if (all.has(state)) return;
      all.add(state);
      if (segmentAt(state) === ANY_DEPTH) add(state + 1);
    };
    for (const state of found) add(state);
    const states = [...all].toSorted((a, b) => a - b);
    const key = states.join(',');
    const known = memoized.get(key);
    if (known) return known;
    const done = states.find((state) => segmentAt(state) === undefined);
    const position: MemoizedState<T> = {
      states,
      next: new Map(),
      hit: done === undefined ? undefined : globs[owners[done]!]![1],
    };
    if (memoized.size >= MAX_STATES) memoized.clear();
    memoized.set(key, position);
    return position;
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

  const walk = (position: MemoizedState<T>, name: string): MemoizedState<T> => {
    const lower = name.toLowerCase();
    const found = advance(position.states, lower);
    if (!lower.includes('.')) return stateOf(found);
    // A field called "headers.authorization" is also what the path headers.authorization means.
    let through: MemoizedState<T> = position;
    for (const part of lower.split('.').slice(0, MAX_NAME)) through = stateOf(advance(through.states, part));
    return stateOf([...found, ...through.states]);
  };

  return {
    root: stateOf(starts),
    step(from, name) {
      const position = from as MemoizedState<T>;
      const known = position.next.get(name);
      if (known) return known;
      const next = walk(position, name);
      if (name.length <= MAX_NAME) {
        if (position.next.size >= MAX_NAMES) position.next.clear();
        position.next.set(name, next);
      }
      return next;
    },
    merge: (one, other) => stateOf([...(one as MemoizedState<T>).states, ...(other as MemoizedState<T>).states]),
  };
}
