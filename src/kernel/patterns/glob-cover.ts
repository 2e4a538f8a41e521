import { readClass, type CharClass } from './pattern.js';

/** One place of a glob without alternatives: a character, any one character, one of a class, or any text at all. */
export type GlobPlace =
  | { readonly is: 'char'; readonly char: string }
  | { readonly is: 'any' }
  | { readonly is: 'class'; readonly class: CharClass }
  | { readonly is: 'star' };

/** A glob with more alternatives or places than this is not looked into: a person reads no such rule either. */
const MAX_ALTERNATIVES = 64;
const MAX_PLACES = 200;

const ANY: GlobPlace = { is: 'any' };
const STAR: GlobPlace = { is: 'star' };

type Places = readonly GlobPlace[];

class TooMany extends Error {}

/** Reads one glob, or one alternative of it up to the `,` or `}` that ends it. */
function readSequence(chars: readonly string[], start: number, inside: boolean): { end: number; found: Places[] } {
  let found: Places[] = [[]];
  const append = (options: readonly Places[]): void => {
    if (found.length * options.length > MAX_ALTERNATIVES) throw new TooMany();
    found = found.flatMap((before) => options.map((after) => [...before, ...after]));
    if (found.some((places) => places.length > MAX_PLACES)) throw new TooMany();
  };
  let i = start;
  for (; i < chars.length; i++) {
    const char = chars[i]!;
    if (inside && (char === ',' || char === '}')) break;
    if (char === '*') append([[STAR]]);
    else if (char === '?') append([[ANY]]);
    else if (char === '[') {
      const read = readClass(chars, i);
      append([[{ is: 'class', class: read }]]);
      i = read.end;
    } else if (char === '{') {
      const options: Places[] = [];
      do {
        const read = readSequence(chars, i + 1, true);
        options.push(...read.found);
        i = read.end;
      } while (chars[i] === ',');
      append(options);
    } else append([[{ is: 'char', char: char === '\\' && i + 1 < chars.length ? chars[++i]! : char }]]);
  }
  return { end: i, found };
}

/** `*?` and `?**` say the same: within a run the single ones go first, and one star is enough. */
function settle(places: Places): Places {
  const settled: GlobPlace[] = [];
  for (const place of places) {
    const last = settled.at(-1);
    if (last?.is !== 'star') settled.push(place);
    else if (place.is === 'any') settled.splice(-1, 0, place);
    else if (place.is !== 'star') settled.push(place);
  }
  return settled;
}

/** The globs without alternatives that a valid glob stands for; `undefined` when they are too many to be looked into. */
export function alternativesOf(glob: string): readonly Places[] | undefined {
  try {
    return readSequence([...glob], 0, false).found.map(settle);
  } catch (thrown) {
    if (thrown instanceof TooMany) return undefined;
    throw thrown;
  }
}

/** The one text that the places stand for, if it is one. */
export function literalOf(places: Places): string | undefined {
  return places.every((place) => place.is === 'char') ? places.map(({ char }) => char).join('') : undefined;
}

function accepts(wide: GlobPlace, narrow: GlobPlace): boolean {
  if (narrow.is === 'star') return false;
  if (wide.is === 'any') return true;
  if (wide.is === 'char') return narrow.is === 'char' && narrow.char === wide.char;
  if (wide.is !== 'class') return false;
  if (narrow.is === 'char') return wide.class.accepts(narrow.char.codePointAt(0)!);
  return narrow.is === 'class' && narrow.class.regex === wide.class.regex;
}

/**
 * Whether every text that `narrow` matches is one that `wide` matches. The places of `narrow` are matched like the letters
 * of a text, a star of it only by a star: where that works it is so, and where it does not it may still be.
 */
export function coversPlaces(wide: Places, narrow: Places): boolean {
  let at = 0;
  let place = 0;
  let star = -1;
  let resume = 0;
  while (at < narrow.length) {
    const here = wide[place];
    if (here?.is === 'star') {
      star = place++;
      resume = at;
    } else if (here && accepts(here, narrow[at]!)) {
      place++;
      at++;
    } else if (star < 0) return false;
    else {
      at = ++resume;
      place = star + 1;
    }
  }
  while (wide[place]?.is === 'star') place++;
  return place === wide.length;
}
