import { isObject, type JsonObject } from '../../kernel/json.js';

/** An object that was found in printed text. */
export interface PrintedObject {
  readonly value: JsonObject;
  /** The keys that lead to it from the outside, as far as they were printed: `['result', 'tools']`. */
  readonly path: readonly string[];
  /** Whether it stands on a line of its own. */
  readonly alone: boolean;
  /** Where it stands in the text. */
  readonly start: number;
  readonly end: number;
}

/** An object that has begun: where, and under which key. */
interface Open {
  readonly sign: '{' | '[';
  readonly at: number;
  readonly key: string | undefined;
}

/** Objects that stand in no other, and objects that do; a list has far fewer tools, and further ones are not read. */
const MAX_OBJECTS = 100_000;

/** Objects nest no deeper than this where they are worth reading. */
const MAX_DEPTH = 200;

const SPACE = /\s/;
const SPACE_OR_COMMA = /[\s,]/;

/** Text that is parsed again because an outer object did not parse, as a multiple of the whole. */
const PATIENCE = 8;

/**
 * Finds the JSON objects in text that a program printed between other things, perhaps cut off in the
 * middle: the outermost ones that parse. One pass, whatever the text is.
 */
export function findObjects(text: string): PrintedObject[] {
  const spans = findSpans(text);
  const found: PrintedObject[] = [];
  let budget = PATIENCE * (text.length + 1);
  let after = 0;
  // By beginning, the longer one first: an object that parses hides those inside it.
  for (const { start, end, path } of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (start < after || budget < end - start) continue;
    budget -= end - start;
    const value = parse(text.slice(start, end));
    if (!value) continue;
    found.push({ value, path, alone: isAlone(text, start, end), start, end });
    after = end;
  }
  return found;
}

interface Span {
  readonly start: number;
  readonly end: number;
  readonly path: readonly string[];
}

function findSpans(text: string): Span[] {
  const spans: Span[] = [];
  const open: Open[] = [];
  const left = { outer: MAX_OBJECTS, inner: MAX_OBJECTS };
  let lastText: string | undefined;
  let key: string | undefined;
  for (let at = 0; at < text.length && left.outer > 0; at++) {
    const sign = text[at]!;
    if (sign === '"') {
      const end = endOfString(text, at);
      // A quotation mark in prose opens nothing: JSON has no line breaks inside a string.
      if (text[end] === '"') lastText = text.slice(at + 1, end);
      at = end;
    } else if (sign === ':') {
      key = lastText;
      lastText = undefined;
    } else if (sign === '{' || sign === '[') {
      if (open.length < MAX_DEPTH) open.push({ sign, at, key });
      key = undefined;
      lastText = undefined;
    } else if (sign === '}' || sign === ']') {
      const wanted = sign === '}' ? '{' : '[';
      const place = open.findLastIndex((one) => one.sign === wanted);
      if (place >= 0) {
        const begun = open[place]!;
        open.length = place;
        const isCounted = wanted === '{' && left[place === 0 ? 'outer' : 'inner']-- > 0;
        if (isCounted) spans.push({ start: begun.at, end: at + 1, path: keysOf([...open, begun]) });
      }
      key = undefined;
    } else if (sign === ',') {
      key = undefined;
      lastText = undefined;
    }
  }
  return spans;
}

function keysOf(open: readonly Open[]): string[] {
  return open.flatMap(({ key }) => (key === undefined ? [] : [key]));
}

/**
 * Where the string that begins at a quotation mark ends; the end of the line when it is never closed, so that no scan
 * repeats.
 */
export function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at++) {
    const sign = text[at];
    if (sign === '\\') at++;
    else if (sign === '"' || sign === '\n') return at;
  }
  return text.length;
}

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    // Not JSON after all; what is inside it may be.
    return undefined;
  }
}

/** Looks no further than the next sign that is not a space: an object for each of a million lines is judged in one pass. */
function isAlone(text: string, start: number, end: number): boolean {
  let before = start - 1;
  while (before >= 0 && text[before] !== '\n' && SPACE.test(text[before]!)) before--;
  if (before >= 0 && text[before] !== '\n') return false;
  let after = end;
  while (after < text.length && text[after] !== '\n' && SPACE_OR_COMMA.test(text[after]!)) after++;
  return after >= text.length || text[after] === '\n';
}
