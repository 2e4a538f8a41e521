import { isObject, type JsonObject, type JsonValue } from './json.js';
import { estimateBytes } from './size.js';
import { TOKEN_PRICES as PRICE } from './token-prices.js';

/**
 * How many tokens a text costs a model, without a tokenizer (ANS-6). A text is cut into pieces much as o200k cuts it: words,
 * groups of digits, punctuation, white space. Each kind of piece has a fitted price. `bench/tokens` shows how far off it is.
 */

const LONG_WORD = 24;

/** Plain words after one beyond ASCII that are taken as words of the same language. */
const FOREIGN_WORDS = 8;

/** Marks whose long runs are single tokens. */
const RULES = '=-*#_.~+/';

/** Scripts beyond Latin, by the first and the last code unit: the price of a run and of each code unit in it. */
const SCRIPTS: ReadonlyArray<readonly [first: number, last: number, run: number, unit: number]> = [
  [0x370, 0x52f, 0.6, 0.17],
  [0x590, 0x77f, 0.4, 0.24],
  [0x900, 0xdff, 0, 0.373],
  [0xe00, 0xfff, 0, 0.6],
  [0x2000, 0x2fff, 0, 1.62],
  [0x3000, 0x303f, 0, 0.6],
  [0x3040, 0x30ff, 0, 0.7],
  [0x3400, 0x9fff, 0.09, 0.74],
  [0xac00, 0xd7af, 0.515, 0.455],
  [0xd800, 0xdfff, 0, 1.22],
  [0xff00, 0xffef, 0, 0.6],
];
/** The price of a code unit of any other script. */
const RARE = 0.95;

/** No code unit costs more, so that a short text need not be read. */
const MAX_PER_UNIT = 1.7;

/** Tokens an image or a sound is counted as: its data is not read as text, and this is about the most that models charge. */
const MEDIA_TOKENS = 1600;

const OTHER = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
const MARK = 4;
const BLANK = 5;
const BREAK = 6;

const KINDS = new Uint8Array(128);
for (let code = 0; code < 128; code++) {
  const text = String.fromCharCode(code);
  if (/[a-z]/.test(text)) KINDS[code] = LOWER;
  else if (/[A-Z]/.test(text)) KINDS[code] = UPPER;
  else if (/[0-9]/.test(text)) KINDS[code] = DIGIT;
  else if (/[\r\n]/.test(text)) KINDS[code] = BREAK;
  else if (/[\t ]/.test(text)) KINDS[code] = BLANK;
  else if (code > 32 && code < 127) KINDS[code] = MARK;
}

function kindAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 128) return KINDS[code]!;
  if (code < 0x370 ? code >= 0xc0 : code >= 0x1e00 && code < 0x1f00) return LOWER;
  return OTHER;
}

/** One reading of a text; `at` is where it is. */
class Reading {
  tokens = 0;
  at = 0;
  readonly #text: string;
  /** How many plain words ago a word beyond ASCII was read, counted down. */
  #foreign = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Letters and digits in a row: words of camelCase, numbers, or an id. */
  word(): void {
    const text = this.#text;
    const start = this.at;
    const isSpaced = start > 0 && text.charCodeAt(start - 1) === 32;
    let plain = 0;
    let dense = 0;
    let pieces = 0;
    let digits = 0;
    let at = start;
    // A hostile text may be one word of a hundred megabytes: it is priced in parts.
    const end = Math.min(text.length, start + 4096);
    for (let kind = kindAt(text, at); at < end; kind = kindAt(text, at)) {
      const from = at;
      if (kind === DIGIT) {
        do at++;
        while (at < end && kindAt(text, at) === DIGIT);
        digits += at - from;
        const price = PRICE.digits * Math.ceil((at - from) / 3);
        plain += price;
        dense += price;
      } else if (kind === LOWER || kind === UPPER) {
        while (at < end && kindAt(text, at) === UPPER) at++;
        const uppers = at - from;
        let isAscii = true;
        while (at < end && kindAt(text, at) === LOWER) if (text.charCodeAt(at++) > 127) isAscii = false;
        plain += wordPrice(at - from, uppers, isAscii, isSpaced && pieces === 0);
        if (!isAscii) this.#foreign = FOREIGN_WORDS;
        else if (this.#foreign > 0) {
          this.#foreign--;
          plain += PRICE.foreignLetter * Math.max(0, Math.min(at - from, LONG_WORD) - 4);
        }
        dense += PRICE.dense + PRICE.denseLetter * (at - from);
      } else break;
      pieces++;
    }
    const length = at - start;
    const isMixed = digits > 0 && digits < length && pieces >= 3 && length >= 5;
    const isDense = (isMixed && length < 4 * pieces) || (pieces >= 4 && length < 3.2 * pieces);
    this.tokens += isDense ? dense : plain;
    this.at = at;
  }

  whiteSpace(): void {
    const text = this.#text;
    const start = this.at;
    let lastBreak = -1;
    let at = start;
    for (; at < text.length; at++) {
      const kind = kindAt(text, at);
      if (kind === BREAK) lastBreak = at;
      else if (kind !== BLANK) break;
    }
    const length = at - start;
    if (lastBreak >= 0) {
      const followsMark = start > 0 && KINDS[text.charCodeAt(start - 1)] === MARK && kindAt(text, start) === BREAK;
      this.tokens += followsMark ? PRICE.newlineAfterMark : PRICE.newline;
      if (at - lastBreak > 2) this.tokens += PRICE.indent;
    } else if (length > 1) this.tokens += PRICE.spaces;
    if (length > 16) this.tokens += PRICE.blank * length;
    this.at = at;
  }

  marks(): void {
    const text = this.#text;
    const start = this.at;
    const first = text.charCodeAt(start);
    let isRule = RULES.includes(text[start]!);
    let at = start + 1;
    for (; at < text.length && kindAt(text, at) === MARK; at++) if (text.charCodeAt(at) !== first) isRule = false;
    const length = at - start;
    if (length === 1) {
      const next = at < text.length ? kindAt(text, at) : OTHER;
      this.tokens += next === LOWER || next === UPPER ? PRICE.markBeforeLetter : PRICE.marks[1]!;
    } else if (isRule && length > 3) this.tokens += PRICE.rule + PRICE.ruleMark * length;
    else this.tokens += PRICE.marks[Math.min(length, 4)]! + PRICE.furtherMark * Math.max(0, length - 4);
    this.at = at;
  }

  script(): void {
    const text = this.#text;
    const code = text.charCodeAt(this.at);
    const script = SCRIPTS.find(([first, last]) => code >= first && code <= last);
    let at = this.at + 1;
    if (!script) this.tokens += RARE;
    else {
      const [first, last, run, unit] = script;
      for (let next = text.charCodeAt(at); next >= first && next <= last; next = text.charCodeAt(at)) at++;
      this.tokens += run + unit * (at - this.at);
    }
    this.at = at;
  }
}

function wordPrice(length: number, uppers: number, isAscii: boolean, isSpaced: boolean): number {
  const tail = Math.max(0, Math.min(length, LONG_WORD) - 9);
  const endless = PRICE.endless * Math.max(0, length - LONG_WORD);
  const letters = Math.max(0, Math.min(length, LONG_WORD) - 3);
  if (!isAscii) return PRICE.latin + PRICE.latinLetter * letters + PRICE.latinTail * tail + 2 * endless;
  if (uppers === 0) {
    const tailPrice = isSpaced ? PRICE.spacedTail : PRICE.lowerTail;
    return (isSpaced ? PRICE.spaced : PRICE.lower) + tailPrice * tail + endless;
  }
  if (uppers === 1 && length > 1) {
    return PRICE.capital + PRICE.capitalLetter * letters + PRICE.capitalTail * tail + endless;
  }
  return PRICE.upper + PRICE.upperLetter * letters + endless;
}

/**
 * About how many tokens (o200k) a text is. With a `limit` reading ends soon after the estimate has passed it: the answer
 * is then above the limit and below the whole.
 */
export function estimateTokens(text: string, limit = Infinity): number {
  return Math.ceil(priceOf(text, limit));
}

function priceOf(text: string, limit: number): number {
  const reading = new Reading(text);
  while (reading.at < text.length && reading.tokens <= limit) {
    switch (kindAt(text, reading.at)) {
      case LOWER:
      case UPPER:
      case DIGIT:
        reading.word();
        break;
      case BLANK:
      case BREAK:
        reading.whiteSpace();
        break;
      case MARK:
        reading.marks();
        break;
      default:
        reading.script();
    }
  }
  return reading.tokens;
}

/** What quotes, colons, commas and brackets cost around the values of a JSON text. */
const JSON_PRICE = { member: 1.3, item: 0.8, nested: 0.6, number: 0.7, literal: 1 } as const;

/**
 * About how many tokens the JSON text of a value is; it is not written for that. With a `limit` it ends soon after the
 * estimate has passed it.
 */
export function estimateJsonTokens(value: JsonValue | undefined, limit = Infinity): number {
  let tokens = 0;
  const stack: Array<JsonValue | undefined> = [value];
  while (stack.length > 0 && tokens <= limit) {
    const next = stack.pop();
    if (typeof next === 'string') tokens += priceOf(next, limit - tokens);
    else if (typeof next === 'number') tokens += JSON_PRICE.number + priceOf(String(next), limit);
    else if (Array.isArray(next)) {
      tokens += JSON_PRICE.nested + JSON_PRICE.item * next.length;
      if (tokens > limit) break;
      for (let at = next.length - 1; at >= 0; at--) stack.push(next[at]);
    } else if (isObject(next)) {
      tokens += JSON_PRICE.nested;
      for (const key of Object.keys(next)) {
        if (next[key] === undefined) continue;
        tokens += JSON_PRICE.member + priceOf(key, limit);
        stack.push(next[key]);
        if (tokens > limit) break;
      }
    } else tokens += JSON_PRICE.literal;
  }
  return Math.ceil(tokens);
}

/**
 * About how many tokens the result of a call costs the agent that reads it: its texts as they are, its structured content
 * and other blocks as JSON, and a fixed price for an image or a sound. `_meta` is for the host.
 */
export function estimateResultTokens(result: JsonObject, limit = Infinity): number {
  let tokens = 0;
  for (const key of Object.keys(result)) {
    if (tokens > limit) break;
    const value = result[key];
    if (key === '_meta' || value === undefined) continue;
    if (key === 'content' && Array.isArray(value)) {
      for (const block of value) {
        tokens += estimateBlockTokens(block, limit - tokens);
        if (tokens > limit) break;
      }
    } else if (key === 'structuredContent') tokens += estimateJsonTokens(value, limit - tokens);
    else tokens += estimateTokens(key) + estimateJsonTokens(value, limit - tokens);
  }
  return tokens;
}

/**
 * About how many tokens a model reads of a result. Servers send the same data as text and as structured content, as the protocol asks, and most
 * hosts show a model one of the two: the larger counts. A budget counts both, because there are hosts that show both.
 */
export function estimateReadTokens(result: JsonObject): number {
  const { structuredContent, ...shown } = result;
  if (structuredContent === undefined) return estimateResultTokens(shown);
  return Math.max(estimateResultTokens(shown), estimateJsonTokens(structuredContent));
}

/** Up to this limit the size of a result bounds its tokens: larger results may have more values than are counted for the size. */
const MAX_SIZED = 20_000;

/** Whether the result of a call costs no more than `limit` tokens; a small one is not read for that. */
export function fitsResult(result: JsonObject, limit: number): boolean {
  if (limit <= MAX_SIZED && estimateBytes(result) * MAX_PER_UNIT <= limit) return true;
  return estimateResultTokens(result, limit) <= limit;
}

function estimateBlockTokens(block: JsonValue, limit: number): number {
  if (!isObject(block)) return estimateJsonTokens(block, limit);
  const { type, text } = block;
  if (type === 'text' && typeof text === 'string') return estimateTokens(text, limit);
  if (type === 'image' || type === 'audio') return MEDIA_TOKENS;
  return estimateJsonTokens(block, limit);
}
