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
export const ROW_TOKENS = 1;

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
export function pageOfRows(rows: Rows, { offset, limit, tokens }: Part, level: number): Page {
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

/** The items of a list, or the members of an object, as rows. */
export function rowsOf(value: JsonValue[] | JsonObject): Rows {
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
