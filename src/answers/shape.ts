import { isObject, type JsonValue } from '../kernel/json.js';
import { estimateTokens } from '../kernel/tokens.js';
import { counted } from './prune.js';
import { countLines, linesOf } from './text-lines.js';

/** Items of a list that its shape is taken from, spread over the list. */
const SAMPLED = 40;

/** How much a shape says, from much to little. */
const LEVELS = [
  { members: 60, depth: 6 },
  { members: 30, depth: 4 },
  { members: 15, depth: 3 },
  { members: 8, depth: 2 },
  { members: 3, depth: 1 },
] as const;

function sampled(items: readonly JsonValue[]): JsonValue[] {
  if (items.length <= SAMPLED) return [...items];
  const step = (items.length - 1) / (SAMPLED - 1);
  return Array.from({ length: SAMPLED }, (_, at) => items[Math.round(at * step)]!);
}

/** A name as it is written in a path or a shape. */
export function nameInPath(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
    ? name
    : JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
}

/** What several values have in common, as one phrase: `{id: number, labels?: [0 to 5 × string]}`. */
function describe(values: readonly JsonValue[], depth: number, members: number): string {
  const phrases: string[] = [];
  const lists = values.filter((value) => Array.isArray(value));
  const objects = values.filter((value) => isObject(value));
  const others = new Set(
    values.filter((value) => typeof value !== 'object' || value === null).map((value) => plainType(value)),
  );
  if (objects.length > 0) phrases.push(describeObjects(objects, depth, members));
  if (lists.length > 0) phrases.push(describeLists(lists, depth, members));
  const longest = longestText(values);
  for (const type of others) {
    phrases.push(type === 'string' && longest > 200 ? `string of up to ${counted(longest)} characters` : type);
  }
  return phrases.join(' | ');
}

function plainType(value: JsonValue): string {
  return value === null ? 'null' : typeof value;
}

function longestText(values: readonly JsonValue[]): number {
  let longest = 0;
  for (const value of values) if (typeof value === 'string' && value.length > longest) longest = value.length;
  return longest;
}

function describeLists(lists: readonly JsonValue[][], depth: number, members: number): string {
  const lengths = lists.map(({ length }) => length);
  const [least, most] = [Math.min(...lengths), Math.max(...lengths)];
  const count = least === most ? counted(most) : `${counted(least)} to ${counted(most)}`;
  if (most === 0) return '[]';
  if (depth === 0) return `[${count} items]`;
  const items = lists.length === 1 ? sampled(lists[0]!) : sampled(lists.flatMap((list) => list.slice(0, SAMPLED)));
  return `[${count} × ${describe(items, depth - 1, members)}]`;
}

type JsonMap = Extract<JsonValue, { [key: string]: unknown }>;

function describeObjects(objects: readonly JsonMap[], depth: number, members: number): string {
  const found = new Map<string, JsonValue[]>();
  for (const object of objects) {
    for (const key of Object.keys(object)) {
      const values = found.get(key);
      if (values) values.push(object[key] ?? null);
      else if (found.size < 1000) found.set(key, [object[key] ?? null]);
    }
  }
  if (found.size === 0) return '{}';
  if (depth === 0) return `{${counted(found.size)} members}`;
  const shown = [...found].slice(0, members).map(([key, values]) => {
    const isOptional = values.length < objects.length;
    return `${nameInPath(key)}${isOptional ? '?' : ''}: ${describe(values, depth - 1, members)}`;
  });
  const more = found.size > members ? [`… ${counted(found.size - members)} more members`] : [];
  return `{${[...shown, ...more].join(', ')}}`;
}

/** The keys, types and lengths of a JSON value, in at most so many tokens. */
export function shapeOfJson(value: JsonValue, tokens: number): string {
  for (const { members, depth } of LEVELS) {
    const shape = describe([value], depth, members);
    if (estimateTokens(shape, tokens) <= tokens) return shape;
  }
  return Array.isArray(value) ? `[${counted(value.length)} items]` : typeof value;
}

/** Headings and lines that are looked at for the shape of a text. */
const MAX_HEADINGS = 200;
const MAX_LOOKED_AT = 200_000;
const HEADING = /^ {0,3}(#{1,6}) +(\S.*)$/;

interface Heading {
  readonly line: number;
  readonly level: number;
  readonly title: string;
}

function headingsOf(text: string): Heading[] {
  const headings: Heading[] = [];
  let line = 0;
  let isCode = false;
  for (const written of linesOf(text)) {
    if (line > MAX_LOOKED_AT || headings.length >= MAX_HEADINGS) break;
    if (written.startsWith('```')) isCode = !isCode;
    const found = isCode ? null : HEADING.exec(written.slice(0, 200));
    if (found) headings.push({ line, level: found[1]!.length, title: found[2]!.slice(0, 80) });
    line++;
  }
  return headings;
}

/** Columns of a text whose first lines are rows of a table. */
function columnsOf(text: string): string[] | undefined {
  const first: string[] = [];
  for (const line of linesOf(text)) {
    first.push(line);
    if (first.length === 6) break;
  }
  const filled = first.filter((line) => line.trim() !== '');
  if (filled.length < 4) return undefined;
  for (const separator of ['\t', '|', ',', ';']) {
    const counts = filled.map((line) => line.split(separator).length);
    if (counts[0]! < 2 || counts.some((count) => count !== counts[0])) continue;
    const cells = filled[0]!.split(separator).map((cell) => cell.trim().replaceAll(/^"|"$/g, ''));
    const named = cells.filter((cell) => cell !== '');
    if (named.length < 2 || named.some((cell) => cell.length > 60)) continue;
    return named.slice(0, 40);
  }
  return undefined;
}

/** The lines, columns and headings of a text, in at most so many tokens. */
export function shapeOfText(text: string, tokens: number): string {
  const lines = countLines(text);
  let shape = `text of ${counted(lines)} lines, ${counted(text.length)} characters`;
  const columns = columnsOf(text);
  const withColumns = columns && `${shape}; a table with the columns ${columns.join(', ')}`;
  if (withColumns && estimateTokens(withColumns, tokens) <= tokens) return withColumns;
  const headings = headingsOf(text);
  if (headings.length === 0) return shape;
  // The upper levels first: with many headings only those.
  for (let level = 6; level >= 1; level--) {
    const shown = headings.filter((heading) => heading.level <= level);
    const list = shown.map(({ line, title }) => `${line}: ${title}`).join('; ');
    const whole = `${shape}; headings by line: ${list}`;
    if (shown.length > 0 && estimateTokens(whole, tokens) <= tokens) return whole;
  }
  shape += `; ${counted(headings.length)} headings`;
  return shape;
}
