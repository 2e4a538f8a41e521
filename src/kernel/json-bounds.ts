import { LIMITS } from './limits.js';

/** What a JSON text may hold. */
export interface JsonBounds {
  /** A text up to this length is parsed in a moment, whatever it holds. */
  readonly smallChars: number;
  /** Commas, lists and objects together: as many as there are values, or a few more when many of them are empty. */
  readonly values: number;
  readonly depth: number;
}

const BOUNDS: JsonBounds = { smallChars: 256 * 1024, values: LIMITS.jsonValues, depth: LIMITS.jsonDepth };

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Where the text goes on after the string whose first quote is at `start`. */
function afterString(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  for (; at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
  return text.length;
}

/**
 * Says why a JSON text is not to be parsed, `undefined` when it may be. Parsing takes time by the number of values and
 * not by length alone: ten million empty lists in 28 MB stop the process for ten seconds (A28, A44). Strings are
 * jumped over, so that a large text in one value costs next to nothing. Whether it is JSON at all is for the parser to say.
 */
export function excessIn(text: string, bounds: JsonBounds = BOUNDS): string | undefined {
  if (text.length <= bounds.smallChars) return undefined;
  let values = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = afterString(text, at) - 1;
        break;
      case COMMA:
        values++;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        values++;
        depth++;
        if (depth > bounds.depth) return `nests deeper than ${bounds.depth} levels`;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth--;
        break;
      default:
        continue;
    }
    if (values > bounds.values) return `has more than ${bounds.values} values`;
  }
  return undefined;
}
