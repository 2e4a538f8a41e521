import { messageOf, ToolscoutError } from '../errors.js';
import { addressOf } from '../ids.js';
import { compileRegex } from './regex.js';

/** One entry of a pattern list: a glob or a `/regex/`, perhaps negated (PAT-1). */
export interface Pattern {
  /** As it was written. */
  readonly source: string;
  /** It began with `!`. */
  readonly negated: boolean;
  /** It names a `:`, so it tests the address `server:tool` and not the tool's name (PAT-3). */
  readonly hasColon: boolean;
  /** About how many steps each letter of a text costs at the most. */
  readonly size: number;
  /** Whether glob or regex match the text; `negated` is not applied here. */
  matches(text: string): boolean;
}

/** Several patterns read as one condition (PAT-2). */
export interface PatternList {
  readonly patterns: readonly Pattern[];
  /** No negated entry matches, and a positive one does (or there are only negated ones). */
  matches(server: string, tool: string): boolean;
}

/** A glob that was compiled. */
export interface Glob {
  /** It names a `:`. */
  readonly hasColon: boolean;
  /** As that of a {@link Pattern}. */
  readonly size: number;
  matches(text: string): boolean;
}

/** Longer globs are mistakes or attacks. */
const MAX_GLOB = 2000;

const ANY = '[\\x00-\\x{10FFFF}]';

function literal(char: string): string {
  return /^\w$/.test(char) ? char : `\\x{${char.codePointAt(0)!.toString(16)}}`;
}

/** One element of a glob without alternatives: whether a code point may stand there, or `*`. */
type GlobElement = typeof STAR | ((point: number) => boolean);

const STAR = '*';

const isAny = (): boolean => true;

/** What stands between brackets in a glob. */
export interface CharClass {
  readonly regex: string;
  readonly accepts: (point: number) => boolean;
  /** A `:` is written in it as one that may stand there. A range that merely spans it was not written for it. */
  readonly hasColon: boolean;
  /** Index of the closing bracket. */
  readonly end: number;
}

/** Reads `[abc]`, `[a-z]`, `[!a]` from the bracket at `start`; a `]` that comes first is an ordinary character. */
export function readClass(chars: readonly string[], start: number): CharClass {
  let i = start + 1;
  const negated = chars[i] === '!' || chars[i] === '^';
  if (negated) i++;
  let hasColon = false;
  const next = (): string => {
    if (chars[i] === '\\' && i + 1 < chars.length) i++;
    const char = chars[i++];
    if (char === undefined) throw new Error('a "[" is never closed');
    hasColon ||= char === ':';
    return char;
  };
  let members = '';
  const ranges: Array<readonly [low: number, high: number]> = [];
  do {
    const low = next();
    if (chars[i] !== '-' || chars[i + 1] === ']' || chars[i + 1] === undefined) {
      members += literal(low);
      ranges.push([low.codePointAt(0)!, low.codePointAt(0)!]);
      continue;
    }
    i++;
    const high = next();
    if (high.codePointAt(0)! < low.codePointAt(0)!) throw new Error(`the range "${low}-${high}" is in the wrong order`);
    members += `${literal(low)}-${literal(high)}`;
    ranges.push([low.codePointAt(0)!, high.codePointAt(0)!]);
  } while (chars[i] !== ']');
  return {
    regex: `[${negated ? '^' : ''}${members}]`,
    accepts: (point) => ranges.some(([low, high]) => low <= point && point <= high) !== negated,
    hasColon: hasColon && !negated,
    end: i,
  };
}

/** Whether a text fills the elements. Only the last star is ever widened, so the time is at most text × elements. */
function fills(text: string, elements: readonly GlobElement[]): boolean {
  let at = 0;
  let element = 0;
  let star = -1;
  let resume = 0;
  const widthAt = (index: number): number => (text.codePointAt(index)! > 0xffff ? 2 : 1);
  while (at < text.length) {
    const here = elements[element];
    if (here === STAR) {
      star = element++;
      resume = at;
    } else if (here?.(text.codePointAt(at)!)) {
      element++;
      at += widthAt(at);
    } else if (star < 0) return false;
    else {
      resume += widthAt(resume);
      at = resume;
      element = star + 1;
    }
  }
  while (elements[element] === STAR) element++;
  return element === elements.length;
}

/**
 * Compiles one glob. Alternatives become a group of the linear engine and are never multiplied out, so none can
 * explode; without them a glob is matched here, since starting the engine is a good part of a start.
 *
 * @throws Error that says what is wrong with it.
 */
export function compileGlob(glob: string): Glob {
  if (glob.length > MAX_GLOB) throw new Error(`it is longer than ${MAX_GLOB} characters`);
  const chars = [...glob];
  let regex = '';
  let text = '';
  let plain = true;
  let hasAlternatives = false;
  const elements: GlobElement[] = [];
  let depth = 0;
  let hasColon = false;
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i]!;
    if (char === '*') {
      regex += chars[i - 1] === '*' && regex.endsWith(`${ANY}*`) ? '' : `${ANY}*`;
      elements.push(STAR);
    } else if (char === '?') {
      regex += ANY;
      elements.push(isAny);
    } else if (char === '[') {
      const read = readClass(chars, i);
      regex += read.regex;
      elements.push(read.accepts);
      hasColon ||= read.hasColon;
      i = read.end;
    } else if (char === '{') {
      hasAlternatives = true;
      depth++;
      regex += '(?:';
    } else if (char === '}' && depth > 0) {
      depth--;
      regex += ')';
    } else if (char === ',' && depth > 0) regex += '|';
    else {
      const taken = char === '\\' && i + 1 < chars.length ? chars[++i]! : char;
      hasColon ||= taken === ':';
      regex += literal(taken);
      text += taken;
      elements.push((point) => point === taken.codePointAt(0));
      continue;
    }
    plain = false;
  }
  if (depth > 0) throw new Error('a "{" is never closed');
  if (plain) return { hasColon, size: 1, matches: (other) => other === text };
  if (regex === `${ANY}*`) return { hasColon, size: 1, matches: () => true };
  // A step of a glob takes a small part of the time that a step of a regex takes.
  const size = Math.ceil(elements.length / 16);
  if (!hasAlternatives) return { hasColon, size, matches: (other) => fills(other, elements) };
  const compiled = compileRegex(`^(?:${regex})$`);
  return { hasColon, size: compiled.size, matches: (other) => compiled.test(other) };
}

/** The ways to write a `:` after a backslash. */
const ESCAPED_COLON = /^(?::|x3a|x\{0*3a\}|u003a|u\{0*3a\}|072)/i;

/** `(?:` and `(?i:` outside of a class, `[:alpha:]` inside of one: what has a `:` and says nothing of one. */
const GROUP = /^\(\?[a-zA-Z-]*:/;
const NAMED_CLASS = /^\[:\^?[a-z]+:\]/;

/** Whether a `:` is written in a regex as a character that may stand there; in `[^:]` it may not. */
function regexHasColon(source: string): boolean {
  let inside: 'class' | 'negated' | undefined;
  for (let i = 0; i < source.length; i++) {
    const char = source[i];
    const skip = (form: RegExp): number => (form.exec(source.slice(i, i + 16))?.[0].length ?? 1) - 1;
    if (char === '\\') {
      if (inside !== 'negated' && ESCAPED_COLON.test(source.slice(i + 1, i + 17))) return true;
      i++;
    } else if (char === ':') {
      if (inside !== 'negated') return true;
    } else if (inside) {
      if (char === '[') i += skip(NAMED_CLASS);
      else if (char === ']') inside = undefined;
    } else if (char === '(') i += skip(GROUP);
    else if (char === '[') inside = source[i + 1] === '^' ? 'negated' : 'class';
  }
  return false;
}

function compileBody(body: string): Glob {
  if (body === '') throw new Error('it is empty');
  if (!body.startsWith('/')) return compileGlob(body);
  const end = body.lastIndexOf('/');
  if (end === 0) throw new Error('a regex ends with "/"; write "\\/" for a name that begins with a slash');
  const source = body.slice(1, end);
  const compiled = compileRegex(source, body.slice(end + 1));
  return { hasColon: regexHasColon(source), size: compiled.size, matches: (text) => compiled.test(text) };
}

/**
 * Compiles one glob (`*`, `?`, `[abc]`, `[!a]`, `{a,b}`, `\` escapes; case-sensitive; `*` also crosses `/`)
 * or one `/regex/flags`. A leading `!` negates. Matching takes linear time whatever the pattern.
 *
 * @throws ToolscoutError `CONFIGURATION_ERROR` that says what is wrong with the pattern.
 */
export function compilePattern(text: string): Pattern {
  const negated = text.startsWith('!');
  try {
    const body = compileBody(negated ? text.slice(1) : text);
    const { hasColon, size } = body;
    return { source: text, negated, hasColon, size, matches: (other) => body.matches(other) };
  } catch (thrown) {
    const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text;
    throw new ToolscoutError('CONFIGURATION_ERROR', `Invalid pattern ${JSON.stringify(shown)}: ${messageOf(thrown)}.`, {
      cause: thrown,
    });
  }
}

/** Compiles a list of patterns; the order of the entries does not matter (PAT-2). An empty list matches nothing. */
export function compilePatterns(list: string | readonly string[]): PatternList {
  const patterns = (typeof list === 'string' ? [list] : list).map((text) => compilePattern(text));
  const negative = patterns.filter((pattern) => pattern.negated);
  const positive = patterns.filter((pattern) => !pattern.negated);
  return {
    patterns,
    matches(server, tool) {
      let address: string | undefined;
      const hit = (pattern: Pattern): boolean =>
        pattern.matches(pattern.hasColon ? (address ??= addressOf(server, tool)) : tool);
      if (negative.some(hit)) return false;
      return positive.length === 0 ? negative.length > 0 : positive.some(hit);
    },
  };
}

/** Whether a text is one with `*` or `?`, as the approval lists of clients have them. */
export function isWildcardName(text: string): boolean {
  return /[*?]/.test(text);
}

/** Whether one of these names, or patterns with `*` and `?`, is that of a tool. Nothing else is special in them. */
export function matchesNames(names: readonly string[], tool: string): boolean {
  return names.some((name) =>
    isWildcardName(name) ? compileGlob(name.replace(/[\\[\]{},]/g, '\\$&')).matches(tool) : name === tool,
  );
}
