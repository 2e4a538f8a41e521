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

/** Objects nest no deeper than this where they are worth reading. */
const MAX_DEPTH = 200;

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
  let lastText: string | undefined;
  let key: string | undefined;
  for (let at = 0; at < text.length; at++) {
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
        if (wanted === '{') spans.push({ start: begun.at, end: at + 1, path: keysOf([...open, begun]) });
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

function isAlone(text: string, start: number, end: number): boolean {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const lineEnd = text.indexOf('\n', end);
  const rest = text.slice(end, lineEnd < 0 ? text.length : lineEnd);
  return text.slice(lineStart, start).trim() === '' && /^[\s,]*$/.test(rest);
}
