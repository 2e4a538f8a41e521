import { isObject, type JsonObject, type JsonValue } from './json.js';
import { estimateBytes } from './size.js';
import { estimateJsonTokens, estimateReadTokens, estimateResultTokens, estimateTokens } from './tokens.js';

/** Up to this size a value is read whole; of a larger one parts are read and the rest is taken to be like them. */
const WHOLE_BYTES = 4096;
/** Of a long text so much is read, in so many parts. */
const TEXT_PARTS = 16;
const PART_CHARACTERS = 256;
/** Items of a long list, and members of a large object, that are read. */
const MAX_ITEMS = 8;
const MAX_MEMBERS = 32;
const MAX_DEPTH = 8;
/** Large values within one value that are read; a value may hold itself. */
const MAX_LARGE = 64;
/** What a byte costs where nothing is read any more. */
const TOKENS_PER_BYTE = 0.3;
/** Quotes, colons and commas around a member or an item. */
const MEMBER_TOKENS = 1.3;
const ITEM_TOKENS = 0.8;

/** Some of a list, evenly spread. */
function spread<T>(list: readonly T[], most: number): readonly T[] {
  if (list.length <= most) return list;
  return Array.from({ length: most }, (_, at) => list[Math.floor((at * list.length) / most)]!);
}

function sampleText(text: string): number {
  if (text.length <= WHOLE_BYTES) return estimateTokens(text);
  const stride = (text.length - PART_CHARACTERS) / (TEXT_PARTS - 1);
  let tokens = 0;
  for (let part = 0; part < TEXT_PARTS; part++) {
    const start = Math.floor(part * stride);
    tokens += estimateTokens(text.slice(start, start + PART_CHARACTERS));
  }
  return (tokens * text.length) / (TEXT_PARTS * PART_CHARACTERS);
}

/** How many more large values may be read. */
interface Patience {
  left: number;
}

function sampleValue(value: JsonValue | undefined, depth = 0, patience: Patience = { left: MAX_LARGE }): number {
  if (typeof value === 'string') return sampleText(value);
  if (estimateBytes(value, WHOLE_BYTES) <= WHOLE_BYTES) return estimateJsonTokens(value);
  if (patience.left-- <= 0) return WHOLE_BYTES * TOKENS_PER_BYTE;
  if (depth >= MAX_DEPTH) return estimateBytes(value, 16 * WHOLE_BYTES) * TOKENS_PER_BYTE;
  if (Array.isArray(value)) {
    const read = spread(value, MAX_ITEMS);
    const tokens = read.reduce<number>((sum, item) => sum + sampleValue(item, depth + 1, patience) + ITEM_TOKENS, 0);
    return (tokens * value.length) / read.length;
  }
  if (!isObject(value)) return 1;
  const names = Object.keys(value);
  const read = spread(names, MAX_MEMBERS);
  let tokens = 0;
  for (const name of read) tokens += sampleText(name) + MEMBER_TOKENS + sampleValue(value[name], depth + 1, patience);
  return (tokens * names.length) / read.length;
}

/** About how many tokens a JSON value is, in a time that does not grow with it (ANS-7). */
export function sampleTokens(value: JsonValue | undefined): number {
  return Math.ceil(sampleValue(value));
}

/** About how many tokens a model reads of the result of a call ({@link estimateReadTokens}), in a time that does not grow with it (ANS-7). */
export function sampleResultTokens(result: JsonObject): number {
  if (estimateBytes(result, WHOLE_BYTES) <= WHOLE_BYTES) return estimateReadTokens(result);
  const { content, structuredContent, _meta, ...rest } = result;
  const blocks = Array.isArray(content) ? content : [];
  const read = spread(blocks, MAX_ITEMS);
  let tokens = 0;
  for (const block of read) tokens += sampleBlock(block);
  if (read.length > 0) tokens = (tokens * blocks.length) / read.length;
  if (Object.keys(rest).length > 0) tokens += sampleValue(rest);
  return Math.ceil(structuredContent === undefined ? tokens : Math.max(tokens, sampleValue(structuredContent)));
}

/** What is held until its tokens are counted is not larger. */
const HELD_BYTES = 16 * 1024;

/**
 * Has something counted when its audit record is stored, not while a call is running; what is too large to be held that long is
 * counted at once.
 */
export function countLater<Count>(bytes: number, count: () => Count): { countTokens: () => Count } | { tokens: Count } {
  return bytes <= HELD_BYTES ? { countTokens: count } : { tokens: count() };
}

function sampleBlock(block: JsonValue): number {
  if (!isObject(block)) return sampleValue(block);
  const { type, text } = block;
  if (type === 'text' && typeof text === 'string') return sampleText(text);
  // What is not read as text has a price of its own.
  return type === 'image' || type === 'audio' ? estimateResultTokens({ content: [block] }) : sampleValue(block);
}
