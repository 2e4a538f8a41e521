import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import { estimateTokens } from '../kernel/tokens.js';
import { pageOfRows, pageOfText, ROW_TOKENS, rowsOf, type Page } from './page.js';
import { counted, DETAILS, prune } from './prune.js';
import { bulkOf, jsonOf, onlyTextOf, textOfBlock } from './result-data.js';
import { countLines, linesOf } from './text-lines.js';
import { shapeOfJson, shapeOfText } from './shape.js';

/** What is shown of a result that is too large to be returned. */
export interface Preview {
  readonly shape: string;
  readonly text: string;
  /** Arguments of `read_result` for what comes next. */
  readonly next: JsonObject;
}

/** Of what a preview may cost, the share of the shape. */
const SHAPE_SHARE = 0.25;

/** Of what the preview of a text may cost, the shares of its first and of its last lines; the rest is for the line between them. */
const HEAD_SHARE = 0.7;
const TAIL_SHARE = 0.25;

/** Last lines of a text that are looked at. */
const MAX_TAIL_LINES = 2000;

/** A preview of a result in at most so many tokens. */
export function previewResult(result: JsonObject, tokens: number): Preview {
  const json = jsonOf(result);
  if (json !== undefined && (Array.isArray(json) || isObject(json))) return previewJson(json, tokens);
  const blocks = Array.isArray(result['content']) ? result['content'] : [];
  const texts = blocks.filter((block) => textOfBlock(block) !== undefined);
  const only = onlyTextOf(result);
  if (only !== undefined) return previewText(only, tokens);
  const names = blocks.map((block, at) => `${at}: ${nameOfBlock(block)}`);
  const shape = namesWithin(names, Math.floor(tokens * SHAPE_SHARE));
  const share = Math.floor((tokens - estimateTokens(shape)) / Math.max(1, Math.min(texts.length, MAX_BLOCKS)));
  const parts: string[] = [];
  let next: JsonObject | undefined;
  for (const [at, block] of blocks.entries()) {
    const found = textOfBlock(block);
    if (!found || parts.length >= MAX_BLOCKS) continue;
    const page = previewOf(found.text, share - 12);
    parts.push(`[block ${at}, ${page.shown}]\n${page.text}`);
    if (next === undefined && page.next !== undefined) {
      next = { path: `content[${at}].${found.path}`, offset: page.next };
    }
  }
  return { shape: `${counted(blocks.length)} blocks: ${shape}`, text: parts.join('\n'), next: next ?? {} };
}

/** Blocks of text that a preview shows something of. */
const MAX_BLOCKS = 10;

function namesWithin(names: readonly string[], tokens: number): string {
  for (let shown = Math.min(names.length, 200); shown > 0; shown = Math.floor(shown / 2)) {
    const list =
      names.slice(0, shown).join('; ') + (shown < names.length ? `; … ${counted(names.length - shown)} more` : '');
    if (estimateTokens(list, tokens) <= tokens) return list;
  }
  return `${counted(names.length)} blocks`;
}

function previewText(text: string, tokens: number): Preview {
  const shape = shapeOfText(text, Math.floor(tokens * SHAPE_SHARE));
  const page = previewOf(text, tokens - estimateTokens(shape));
  return { shape, text: page.text, next: page.next === undefined ? {} : { offset: page.next } };
}

function previewJson(json: JsonValue, tokens: number): Preview {
  const shape = shapeOfJson(json, Math.floor(tokens * SHAPE_SHARE));
  const { value, path } = bulkOf(json);
  let left = tokens - estimateTokens(shape);
  // What stands beside the bulk is often what describes it: a total, a cursor, a title.
  const around = path === '' ? '' : surroundings(json, value, Math.floor(left / 4));
  left -= estimateTokens(around);
  const page: Page = previewOf(value, left - estimateTokens(path) - 12);
  const head = around === '' ? '' : `${around}\n`;
  const where = path === '' ? '' : `${path}, `;
  return {
    shape,
    text: `${head}[${where}${page.shown}]\n${page.text}`,
    next: { ...(path !== '' && { path }), ...(page.next !== undefined && { offset: page.next }) },
  };
}

/** Everything but the bulk, as JSON; empty when it does not fit. */
function surroundings(json: JsonValue, bulk: JsonValue, tokens: number): string {
  const rest = without(json, bulk);
  for (const detail of DETAILS) {
    const text = JSON.stringify(prune(rest, detail));
    if (estimateTokens(text, tokens) <= tokens) return text;
  }
  return '';
}

const SHOWN_BELOW = '(shown below)';

/** The same value with its bulk replaced; it is on the way that {@link bulkOf} went. */
function without(value: JsonValue, bulk: JsonValue): JsonValue {
  if (value === bulk) return SHOWN_BELOW;
  if (Array.isArray(value)) return value.length === 1 ? [without(value[0]!, bulk)] : value;
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.keys(value).map((key) => [key, withoutIn(value[key] ?? null, bulk)]));
}

function withoutIn(value: JsonValue, bulk: JsonValue): JsonValue {
  return typeof value === 'object' || value === bulk ? without(value, bulk) : value;
}

/** A block as one phrase: its type, and for data its media type and size. */
function nameOfBlock(block: JsonValue): string {
  if (!isObject(block)) return typeof block;
  const { type, data, mimeType, resource, uri, name } = block;
  const text = textOfBlock(block)?.text;
  const kind = typeof type === 'string' ? type.slice(0, 40) : 'block';
  const media = mediaOf(isObject(resource) ? resource['mimeType'] : mimeType);
  const blob = isObject(resource) ? resource['blob'] : data;
  if (typeof blob === 'string') return `${kind}${media}, ${counted(Math.floor((blob.length * 3) / 4))} bytes`;
  if (text !== undefined) return `${kind}${media}, ${counted(text.length)} characters`;
  const label = [name, uri].find((each) => typeof each === 'string');
  return `${kind}${media}${label === undefined ? '' : ` ${String(label).slice(0, 120)}`}`;
}

function mediaOf(mimeType: JsonValue | undefined): string {
  return typeof mimeType === 'string' ? ` ${mimeType.slice(0, 60)}` : '';
}

/** The first and the last lines of a text, with what is between them named. */
function endsOfText(text: string, tokens: number): Page {
  const total = countLines(text);
  const head = pageOfText(text, { offset: 0, limit: Infinity, tokens: Math.floor(tokens * HEAD_SHARE) });
  const shownLines = head.next ?? total;
  if (shownLines >= total) return head;
  const tail: string[] = [];
  let left = Math.floor(tokens * TAIL_SHARE);
  const from = Math.max(shownLines, total - MAX_TAIL_LINES);
  const rest = [...after(text, from)];
  for (let at = rest.length - 1; at >= 0; at--) {
    const cost = ROW_TOKENS + estimateTokens(rest[at]!, left);
    if (cost > left) break;
    left -= cost;
    tail.unshift(rest[at]!);
  }
  const tailFrom = total - tail.length;
  const gap = tailFrom - shownLines;
  const middle = gap > 0 ? [`[… lines ${shownLines} to ${tailFrom - 1}: ${counted(gap)} lines not shown …]`] : [];
  return {
    text: [head.text, ...middle, ...tail].join('\n'),
    shown: `lines 0 to ${shownLines - 1}${tail.length > 0 ? ` and ${tailFrom} to ${total - 1}` : ''} of ${counted(total)}`,
    ...(gap > 0 && { next: shownLines }),
    ...(head.isPruned && { isPruned: true as const }),
  };
}

function* after(text: string, offset: number): Generator<string> {
  let at = 0;
  for (const line of linesOf(text)) if (at++ >= offset) yield line;
}

/** Rows that a preview shows at least, if there are so many; for that it gives up detail. */
const MIN_ROWS = 5;

/** The beginning of any value, with as much detail as lets several rows be seen; of a text the end too. */
function previewOf(value: JsonValue, tokens: number): Page {
  if (typeof value === 'string') return endsOfText(value, tokens);
  if (!Array.isArray(value) && !isObject(value)) return { text: JSON.stringify(value), shown: 'the whole value' };
  const rows = rowsOf(value);
  const part = { offset: 0, limit: Infinity, tokens };
  let page = pageOfRows(rows, part, -1);
  for (let level = 0; level < DETAILS.length && page.next !== undefined; level++) {
    if (page.next >= Math.min(MIN_ROWS, rows.count) && !(page.next === 1 && page.isPruned)) break;
    page = pageOfRows(rows, part, level);
  }
  return page;
}
