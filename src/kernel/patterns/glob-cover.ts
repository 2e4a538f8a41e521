import { readClass, type CharClass } from './pattern.js';

/** One token of a glob without alternatives: a character, any one character, one of a class, or any text at all. */
export type GlobToken =
  | { readonly is: 'char'; readonly char: string }
  | { readonly is: 'any' }
  | { readonly is: 'class'; readonly class: CharClass }
  | { readonly is: 'star' };

/** A glob with more alternatives or tokens than this is not looked into: a person reads no such rule either. */
const MAX_ALTERNATIVES = 64;
const MAX_TOKENS = 200;

const ANY: GlobToken = { is: 'any' };
const STAR: GlobToken = { is: 'star' };

type GlobTokens = readonly GlobToken[];

class TooMany extends Error {}

/** Reads one glob, or one alternative of it up to the `,` or `}` that ends it. */
function readSequence(chars: readonly string[], start: number, inside: boolean): { end: number; found: GlobTokens[] } {
  let found: GlobTokens[] = [[]];
  const append = (options: readonly GlobTokens[]): void => {
    if (found.length * options.length > MAX_ALTERNATIVES) throw new TooMany();
    found = found.flatMap((before) => options.map((after) => [...before, ...after]));
    if (found.some((tokens) => tokens.length > MAX_TOKENS)) throw new TooMany();
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
      const options: GlobTokens[] = [];
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
function settle(tokens: GlobTokens): GlobTokens {
  const settled: GlobToken[] = [];
  for (const token of tokens) {
    const last = settled.at(-1);
    if (last?.is !== 'star') settled.push(token);
    else if (token.is === 'any') settled.splice(-1, 0, token);
    else if (token.is !== 'star') settled.push(token);
  }
  return settled;
}

/** The globs without alternatives that a valid glob stands for; `undefined` when they are too many to be looked into. */
export function alternativesOf(glob: string): readonly GlobTokens[] | undefined {
  try {
    return readSequence([...glob], 0, false).found.map(settle);
  } catch (thrown) {
    if (thrown instanceof TooMany) return undefined;
    throw thrown;
  }
}

/** The one text that the tokens stand for, if it is one. */
export function literalOf(tokens: GlobTokens): string | undefined {
  return tokens.every((token) => token.is === 'char') ? tokens.map(({ char }) => char).join('') : undefined;
}

function accepts(wide: GlobToken, narrow: GlobToken): boolean {
  if (narrow.is === 'star') return false;
  if (wide.is === 'any') return true;
  if (wide.is === 'char') return narrow.is === 'char' && narrow.char === wide.char;
  if (wide.is !== 'class') return false;
  if (narrow.is === 'char') return wide.class.accepts(narrow.char.codePointAt(0)!);
  return narrow.is === 'class' && narrow.class.regex === wide.class.regex;
}

/**
 * Whether every text that `narrow` matches is one that `wide` matches. The tokens of `narrow` are matched like the letters
 * of a text, a star only by a star. `true` is certain; `false` means only that it was not shown.
 */
export function coversTokens(wide: GlobTokens, narrow: GlobTokens): boolean {
  let at = 0;
  let token = 0;
  let star = -1;
  let resume = 0;
  while (at < narrow.length) {
    const here = wide[token];
    if (here?.is === 'star') {
      star = token++;
      resume = at;
    } else if (here && accepts(here, narrow[at]!)) {
      token++;
      at++;
    } else if (star < 0) return false;
    else {
      at = ++resume;
      token = star + 1;
    }
  }
  while (wide[token]?.is === 'star') token++;
  return token === wide.length;
}
