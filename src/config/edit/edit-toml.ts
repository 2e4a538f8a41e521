import { isObject, type JsonValue } from '../../kernel/json.js';
import type { Edit } from './edit.js';
import { readPlaces, type TomlPlace } from '../read/toml-places.js';

type Keys = Edit['keys'];

const isAt = (keys: Keys, other: Keys): boolean =>
  keys.length === other.length && keys.every((key, depth) => key === other[depth]);

const isBelow = (keys: Keys, parent: Keys): boolean => isAt(keys.slice(0, parent.length), parent);

const splice = (text: string, from: number, until: number, put: string): string =>
  `${text.slice(0, from)}${put}${text.slice(until)}`;

const nameOf = (key: string | number): string =>
  /^[\w-]+$/.test(String(key)) ? String(key) : JSON.stringify(String(key));

/** A value on one line. */
function inline(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value as Record<string, JsonValue>).map(
    ([key, field]) => `${nameOf(key)} = ${inline(field)}`,
  );
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1;

function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

/** Where a table begins: with the remarks right above its header. */
function blockStart(text: string, { span }: TomlPlace): number {
  let from = lineStart(text, span.from);
  while (from > 0 && /^[ \t]*#/.test(text.slice(lineStart(text, from - 1), from))) from = lineStart(text, from - 1);
  return from;
}

/** The text without a table and those below it. Remarks before the next table belong to that one. */
function withoutTables(text: string, keys: Keys): string {
  const tables = readPlaces(text).filter((place) => place.kind === 'table' && place.keys.length > 0);
  const gone = tables.filter((place) => isBelow(place.keys, keys));
  return gone.toReversed().reduce((current, { span }) => {
    const from = lineStart(current, span.from);
    const next = splice(current, from, nextLine(current, span.until), '');
    // With the empty line that set it apart.
    const before = lineStart(next, from - 1);
    return from > 0 && next.slice(before, from).trim() === '' ? splice(next, before, from, '') : next;
  }, text);
}

/** The text without a field or an item, which stands alone on its line or between commas. */
function withoutPlace(text: string, { span }: TomlPlace): string {
  const from = lineStart(text, span.from);
  const rest = text.slice(span.until, nextLine(text, span.until));
  const isAlone = text.slice(from, span.from).trim() === '' && /^[ \t]*,?[ \t]*(?:#.*)?\r?\n?$/.test(rest);
  if (isAlone) return splice(text, from, nextLine(text, span.until), '');
  const behind = /^\s*,[ \t]*/.exec(text.slice(span.until));
  if (behind) return splice(text, span.from, span.until + behind[0].length, '');
  const before = /,\s*$/.exec(text.slice(0, span.from));
  return splice(text, span.from - (before?.[0].length ?? 0), span.until, '');
}

/** A further item of a list that stands in brackets, written as its neighbours are. */
function insertItem(text: string, items: readonly TomlPlace[], index: number, value: JsonValue): string {
  const [before, after] = [items[index - 1]?.span, items[index]?.span];
  const like = (before ?? after)!;
  const from = lineStart(text, like.from);
  const indent = text.slice(from, like.from);
  if (indent.trim() !== '') {
    return after
      ? splice(text, after.from, after.from, `${inline(value)}, `)
      : splice(text, like.until, like.until, `, ${inline(value)}`);
  }
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  if (!before) return splice(text, from, from, `${indent}${inline(value)},${eol}`);
  const hasComma = /^(?:\s|#[^\n]*)*,/.test(text.slice(before.until));
  const withComma = hasComma ? text : splice(text, before.until, before.until, ',');
  const place = nextLine(withComma, before.until);
  return splice(withComma, place, place, `${indent}${inline(value)},${eol}`);
}

/** A table of a list of tables, as it is written. */
function tableText(keys: Keys, value: JsonValue, eol: string): string {
  const name = keys
    .filter((key) => typeof key === 'string')
    .map(nameOf)
    .join('.');
  const fields = Object.entries(value as Record<string, JsonValue>);
  return [`[[${name}]]`, ...fields.map(([key, field]) => `${nameOf(key)} = ${inline(field)}`), ''].join(eol);
}

/** A further table of a list of tables. */
function insertTable(text: string, tables: readonly TomlPlace[], keys: Keys, value: JsonValue): string {
  const index = Number(keys.at(-1));
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const put = tableText(keys, value, eol);
  const after = tables.find((place) => isAt(place.keys, keys));
  if (after) {
    const from = blockStart(text, after);
    return splice(text, from, from, `${put}${eol}`);
  }
  const list = keys.slice(0, -1);
  const last = tables.findLast((place) => isBelow(place.keys, [...list, index - 1]));
  const until = last ? nextLine(text, last.span.until) : text.length;
  const start = text.slice(0, until);
  return `${start}${start === '' || start.endsWith('\n') ? '' : eol}${start.trim() === '' ? '' : eol}${put}${text.slice(until)}`;
}

/** A further field: behind the last one of its table, or within braces. */
function insertField(text: string, places: readonly TomlPlace[], keys: Keys, value: JsonValue): string | undefined {
  const parent = keys.slice(0, -1);
  const put = `${nameOf(keys.at(-1)!)} = ${inline(value)}`;
  const holder = places.find((place) => place.kind !== 'table' && isAt(place.keys, parent));
  if (holder) {
    const { from, until } = holder.value!;
    if (text[from] !== '{') return undefined;
    const isEmpty = text.slice(from + 1, until - 1).trim() === '';
    const end = from + text.slice(from, until - 1).trimEnd().length;
    return splice(text, isEmpty ? from : end, isEmpty ? until : end, isEmpty ? `{ ${put} }` : `, ${put}`);
  }
  const table = places.find((place) => place.kind === 'table' && isAt(place.keys, parent));
  if (table?.end === undefined) return undefined;
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  if (table.end === 0) return `${put}${eol}${text}`;
  return splice(text, table.end, table.end, `${eol}${put}`);
}

const isTable = (value: JsonValue): boolean => isObject(value);

async function change(text: string, { keys, value, isNew }: Edit): Promise<string> {
  const places = readPlaces(text);
  const tables = places.filter(({ kind }) => kind === 'table');
  const place = places.find(({ kind, keys: own }) => kind !== 'table' && isAt(own, keys));
  const isItem = typeof keys.at(-1) === 'number';
  if (value === undefined) return place ? withoutPlace(text, place) : withoutTables(text, keys);
  if (isItem) {
    const list = keys.slice(0, -1);
    const items = places.filter(({ kind, keys: own }) => kind === 'item' && isAt(own.slice(0, -1), list));
    const isFurther = isNew === true || Number(keys.at(-1)) >= items.length;
    if (items.length > 0 && isFurther) return insertItem(text, items, Number(keys.at(-1)), value);
    if (items.length === 0 && isFurther) return insertTable(text, tables, keys, value);
  }
  if (place) return splice(text, place.value!.from, place.value!.until, inline(value));
  const bare = withoutTables(text, keys);
  // In a list of tables, a table with a header would belong to the last of them.
  const isInList = keys.slice(0, -1).some((key) => typeof key === 'number');
  const isInBraces = places.some(({ kind, keys: own }) => kind !== 'table' && isAt(own, keys.slice(0, -1)));
  if (Array.isArray(value) && value.length > 0 && value.every(isTable) && !isInList && !isInBraces) {
    const put = (current: string, item: JsonValue, index: number): string =>
      insertTable(current, readPlaces(current), [...keys, index], item);
    return value.reduce<string>(put, bare);
  }
  if (!isTable(value) || isInList || isInBraces) {
    const put = insertField(bare, readPlaces(bare), keys, value);
    if (put !== undefined) return put;
  }
  const { stringify } = await import('smol-toml');
  const start = bare.trim() === '' ? '' : `${bare.trimEnd()}\n\n`;
  const table = keys.toReversed().reduce<JsonValue>((inner, key) => ({ [key]: inner }), value);
  return `${start}${stringify(table as Record<string, JsonValue>).trim()}\n`;
}

/** Changes a TOML text, for which there is no parser that keeps remarks: only what stands at the place of an edit is written anew. */
export async function editToml(text: string, edits: readonly Edit[]): Promise<string> {
  let out = text;
  for (const edit of edits) out = await change(out, edit);
  return out;
}
