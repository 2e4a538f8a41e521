import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import { estimateTokens } from '../kernel/tokens.js';
import { counted, DETAILS, prune, shortened } from './prune.js';
import { countLines, linesOf } from './text-lines.js';

/** Which part of a value is asked for: lines of a text, items of a list, members of an object. */
export interface Part {
  readonly offset: number;
  readonly limit: number;
  /** What the page may cost. */
  readonly tokens: number;
}

/** A part of a value, as text. */
export interface Page {
  readonly text: string;
  /** What is shown: `lines 0 to 39 of 3,000`. */
  readonly shown: string;
  /** Where the next page begins; absent when this is the end. */
  readonly next?: number;
  /** An item was too large to be shown whole. */
  readonly isPruned?: true;
}

/** What stands between rows, and their number, cost a little too. */
const ROW_TOKENS = 1;

function rangeOf(kind: string, from: number, to: number, total: number): string {
  if (total === 0) return `no ${kind}`;
  return to <= from ? `none of ${counted(total)} ${kind}` : `${kind} ${from} to ${to - 1} of ${counted(total)}`;
}

/** Lines of a text from an offset on, as many as fit. */
export function pageOfText(text: string, { offset, limit, tokens }: Part): Page {
  const shown: string[] = [];
  let left = tokens;
  let at = 0;
  let isCut = false;
  for (const line of linesOf(text)) {
    if (at++ < offset) continue;
    if (shown.length >= limit) break;
    const cost = ROW_TOKENS + estimateTokens(line, left);
    if (cost > left) {
      // A line is cut only when not even one fits.
      if (shown.length > 0 || left < 8) break;
      const part = shortened(line, Math.max(1, Math.floor(left / 2)));
      shown.push(part);
      isCut = true;
      break;
    }
    left -= cost;
    shown.push(line);
  }
  const total = countLines(text);
  const to = offset + shown.length;
  return {
    text: shown.join('\n'),
    shown: rangeOf('lines', offset, to, total),
    ...(to < total && { next: to }),
    ...(isCut && { isPruned: true as const }),
  };
}

/** The first and the last lines of a text, with what is between them named. */
export function endsOfText(text: string, tokens: number): Page {
  const total = countLines(text);
  const head = pageOfText(text, { offset: 0, limit: Infinity, tokens: Math.floor(tokens * 0.7) });
  const shownLines = head.next ?? total;
  if (shownLines >= total) return head;
  const tail: string[] = [];
  let left = Math.floor(tokens * 0.25);
  const from = Math.max(shownLines, total - 2000);
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

/** The JSON of one row, whole when it fits, else with less detail; `undefined` when nothing of it fits. */
function rowOf(
  value: JsonValue,
  tokens: number,
  level: number,
): { readonly text: string; readonly cost: number; readonly isPruned: boolean } | undefined {
  for (let detail = level; detail <= DETAILS.length; detail++) {
    const isWhole = detail < 0;
    if (isWhole && isLarger(value, tokens)) continue;
    const shown = isWhole ? value : prune(value, DETAILS[Math.min(detail, DETAILS.length - 1)]!);
    const text = JSON.stringify(shown);
    const cost = ROW_TOKENS + estimateTokens(text, tokens);
    if (cost <= tokens) return { text, cost, isPruned: !isWhole && text.includes('…') };
  }
  return undefined;
}

/** Whether a value is surely too large to be written for so many tokens: a token is at most some twenty characters. */
function isLarger(value: JsonValue, tokens: number): boolean {
  let left = tokens * 24;
  const stack: JsonValue[] = [value];
  while (stack.length > 0) {
    const next = stack.pop()!;
    left -= typeof next === 'string' ? next.length : 1;
    if (left < 0) return true;
    if (Array.isArray(next)) {
      if (next.length > left) return true;
      for (const item of next) stack.push(item);
    } else if (isObject(next)) for (const key of Object.keys(next)) stack.push(next[key] ?? null);
  }
  return false;
}

/** Rows of a list or an object from an offset on; `level` -1 shows whole rows. */
function pageOfRows(rows: Rows, { offset, limit, tokens }: Part, level: number): Page {
  const shown: string[] = [];
  let left = tokens - 4;
  let isPruned = false;
  const end = Math.min(rows.count, offset + limit);
  for (let at = offset; at < end; at++) {
    // Whole rows as long as they fit; the first is pruned rather than left out.
    const isFirst = shown.length === 0;
    const prefix = rows.prefix(at);
    const prefixCost = prefix === '' ? 0 : estimateTokens(prefix, left);
    const row =
      level >= 0 || isFirst ? rowOf(rows.at(at), left - prefixCost, level) : wholeRow(rows.at(at), left - prefixCost);
    if (!row) break;
    left -= row.cost + prefixCost;
    isPruned ||= row.isPruned;
    shown.push(prefix + row.text);
  }
  const to = offset + shown.length;
  const [open, close] = rows.brackets;
  return {
    text: shown.length === 0 ? `${open}${close}` : `${open}\n${shown.join(',\n')}\n${close}`,
    shown: rangeOf(rows.kind, offset, to, rows.count),
    ...(to < rows.count && { next: to }),
    ...(isPruned && { isPruned: true as const }),
  };
}

function wholeRow(value: JsonValue, tokens: number): ReturnType<typeof rowOf> {
  if (isLarger(value, tokens)) return undefined;
  const text = JSON.stringify(value);
  const cost = ROW_TOKENS + estimateTokens(text, tokens);
  return cost <= tokens ? { text, cost, isPruned: false } : undefined;
}

interface Rows {
  readonly kind: 'items' | 'members';
  readonly count: number;
  readonly brackets: readonly [string, string];
  at(index: number): JsonValue;
  prefix(index: number): string;
}

function rowsOf(value: JsonValue[] | JsonObject): Rows {
  if (Array.isArray(value)) {
    return { kind: 'items', count: value.length, brackets: ['[', ']'], at: (index) => value[index]!, prefix: () => '' };
  }
  const keys = Object.keys(value);
  return {
    kind: 'members',
    count: keys.length,
    brackets: ['{', '}'],
    at: (index) => value[keys[index]!] ?? null,
    prefix: (index) => `${JSON.stringify(shortened(keys[index]!, 200))}:`,
  };
}

/** Part of any value: whole lines, whole items, whole members. */
export function pageOf(value: JsonValue, part: Part): Page {
  if (typeof value === 'string') return pageOfText(value, part);
  if (Array.isArray(value) || isObject(value)) return pageOfRows(rowsOf(value), part, -1);
  return { text: JSON.stringify(value), shown: 'the whole value' };
}

/** Rows that a preview shows at least, if there are so many; for that it gives up detail. */
const MIN_ROWS = 5;

/** The beginning of any value, with as much detail as lets several rows be seen; of a text the end too. */
export function previewOf(value: JsonValue, tokens: number): Page {
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
