import type { Node } from 'jsonc-parser';
import { isObject } from '../../kernel/json.js';
import { valueAt } from '../read/path.js';
import type { Edit } from './edit.js';
import { indentOf } from './indent.js';

type Jsonc = typeof import('jsonc-parser');

/** How a text is written. */
interface Style {
  readonly step: string;
  readonly eol: string;
}

const splice = (text: string, from: number, until: number, put: string): string =>
  `${text.slice(0, from)}${put}${text.slice(until)}`;

const endOf = ({ offset, length }: Node): number => offset + length;

/** The white space that the line of a place begins with. */
function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset))![0];
}

/** Where the line of a place ends, before its line break. */
function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  if (end === -1) return text.length;
  return text[end - 1] === '\r' ? end - 1 : end;
}

/** Where the comma behind a value ends; `undefined` when there is none. White space and whole remarks may stand before it. */
function afterComma(text: string, offset: number): number | undefined {
  const found = /^(?:\s|\/\/[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*,/.exec(text.slice(offset));
  return found ? offset + found[0].length : undefined;
}

/** A value on one line, with spaces as people write them. */
function onOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, field]) => `${JSON.stringify(key)}: ${onOneLine(field)}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

/** A value on several lines, of which the first is put behind something. */
function onLines(value: unknown, indent: string, { step, eol }: Style): string {
  return JSON.stringify(value, null, step).split('\n').join(`${eol}${indent}`);
}

/** Whether each value in a list or an object stands on a line of its own. */
function standsOnLines(text: string, { offset, children = [] }: Node): boolean {
  const first = children[0];
  return first !== undefined && text.slice(offset, first.offset).includes('\n');
}

/**
 * A new field at the beginning of an object that is written on several lines: behind the last field it might come between
 * that field and a remark about it. `undefined` when the object is not written like that.
 */
function prepend(text: string, parent: Node, key: string, value: unknown, { step, eol }: Style): string | undefined {
  const first = parent.children?.[0];
  const until = first?.offset ?? parent.offset + parent.length;
  const end = text.indexOf('\n', parent.offset);
  if (end === -1 || end >= until) return undefined;
  // Without a field only remarks are in it; it then begins one step deeper than the line of its bracket.
  const indent = first
    ? text.slice(text.lastIndexOf('\n', first.offset) + 1, first.offset)
    : `${indentAt(text, parent.offset)}${step}`;
  if (indent.trim() !== '') return undefined;
  const field = `${indent}${JSON.stringify(key)}: ${onLines(value, indent, { step, eol })}${first ? ',' : ''}`;
  return splice(text, end + 1, end + 1, `${field}${eol}`);
}

/** A new field on the line of the last one, for an object whose first field stands on the line of its bracket. */
function append(text: string, parent: Node, key: string, value: unknown): string | undefined {
  const last = parent.children?.at(-1);
  if (!last) return undefined;
  return splice(text, endOf(last), endOf(last), `, ${JSON.stringify(key)}: ${onOneLine(value)}`);
}

/**
 * A new field behind the last one of an object whose fields stand on lines, written on one line where the others are.
 * `undefined` where a remark on a line of its own follows the last field: whose it is cannot be known.
 */
function appendLine(text: string, parent: Node, key: string, value: unknown, style: Style): string | undefined {
  const fields = parent.children ?? [];
  const last = fields.at(-1);
  if (!last || !standsOnLines(text, parent)) return undefined;
  const comma = afterComma(text, endOf(last));
  const place = lineEnd(text, comma ?? endOf(last));
  const rest = text.slice(place, endOf(parent) - 1);
  const behind = text.slice(comma ?? endOf(last), place);
  if (rest.trim() !== '' || !/^\s*(?:\/\/.*|\/\*.*\*\/\s*)?$/.test(behind)) return undefined;
  // Which of the fields are objects says how people write one here: a field with a plain value always fits on a line.
  const likes = fields.flatMap(({ children = [] }) => (children[1]?.children?.length ? [children[1]] : []));
  const isShort = likes.length > 0 && likes.every((one) => !text.slice(one.offset, endOf(one)).includes('\n'));
  const indent = indentAt(text, last.offset);
  const shown = isShort ? onOneLine(value) : onLines(value, indent, style);
  const put = `${style.eol}${indent}${JSON.stringify(key)}: ${shown}${comma === undefined ? '' : ','}`;
  const next = splice(text, place, place, put);
  return comma === undefined ? splice(next, endOf(last), endOf(last), ',') : next;
}

/** A new item of a list, written as its neighbours are. */
function insertItem(text: string, list: Node, at: number, value: unknown, style: Style): string | undefined {
  const items = list.children ?? [];
  const [before, after] = [items[at - 1], items[at]];
  const like = before ?? after;
  if (!like) return undefined;
  if (!standsOnLines(text, list)) {
    const put = onOneLine(value);
    return after
      ? splice(text, after.offset, after.offset, `${put}, `)
      : splice(text, endOf(before!), endOf(before!), `, ${put}`);
  }
  const indent = indentAt(text, like.offset);
  const isLong = text.slice(like.offset, endOf(like)).includes('\n');
  const put = `${style.eol}${indent}${isLong ? onLines(value, indent, style) : onOneLine(value)}`;
  // Behind the line of the item before it: remarks above an item stay with that item.
  if (!before) {
    const place = lineEnd(text, list.offset);
    return splice(text, place, place, `${put},`);
  }
  const comma = afterComma(text, endOf(before));
  const place = lineEnd(text, comma ?? endOf(before));
  const next = splice(text, place, place, after || comma !== undefined ? `${put},` : put);
  return comma === undefined ? splice(next, endOf(before), endOf(before), ',') : next;
}

/** Takes an item with its line, so that remarks about others stay, or from among others of its line. */
function removeItem(text: string, list: Node, at: number): string {
  const items = list.children ?? [];
  const item = items[at]!;
  const from = text.lastIndexOf('\n', item.offset - 1) + 1;
  const comma = afterComma(text, endOf(item));
  const isLast = at === items.length - 1;
  const rest = lineEnd(text, comma ?? endOf(item));
  const behind = text.slice(comma ?? endOf(item), rest);
  const isAlone = text.slice(from, item.offset).trim() === '' && /^\s*(?:\/\/.*)?$/.test(behind);
  if (!isAlone || items.length === 1) {
    const [before, after] = [items[at - 1], items[at + 1]];
    if (after) return splice(text, item.offset, after.offset, '');
    return splice(text, before ? endOf(before) : item.offset, before ? endOf(item) : (comma ?? endOf(item)), '');
  }
  const until = text.indexOf('\n', rest) + 1;
  const next = splice(text, from, until === 0 ? text.length : until, '');
  if (!isLast || comma !== undefined) return next;
  const before = items[at - 1]!;
  return splice(next, afterComma(next, endOf(before))! - 1, afterComma(next, endOf(before))!, '');
}

/** Another value where one stands; what is written on several lines, or becomes an object, the printer of the format writes. */
function replaceValue(text: string, node: Node, value: unknown): string | undefined {
  const isPlain = !isObject(value) && [value].flat().every((item) => typeof item !== 'object' || item === null);
  if (!isPlain || text.slice(node.offset, endOf(node)).includes('\n')) return undefined;
  return splice(text, node.offset, endOf(node), onOneLine(value));
}

/** The change of a single value, with nothing else touched; `undefined` where the printer of the format must help. */
function changeInPlace(jsonc: Jsonc, text: string, { keys, value, isNew }: Edit, style: Style): string | undefined {
  const root = jsonc.parseTree(text, [], { allowTrailingComma: true });
  const last = keys.at(-1)!;
  const parent = root && jsonc.findNodeAtLocation(root, keys.slice(0, -1) as Array<string | number>);
  if (!parent) return undefined;
  if (typeof last === 'number' && parent.type === 'array') {
    if (value === undefined) return parent.children?.[last] ? removeItem(text, parent, last) : undefined;
    if (isNew || last >= (parent.children?.length ?? 0)) return insertItem(text, parent, last, value, style);
  }
  if (value === undefined) return undefined;
  const node = jsonc.findNodeAtLocation(parent, [last]);
  if (node) return replaceValue(text, node, value);
  if (parent.type !== 'object' || typeof last !== 'string') return undefined;
  return (
    appendLine(text, parent, last, value, style) ??
    prepend(text, parent, last, value, style) ??
    append(text, parent, last, value)
  );
}

function change(jsonc: Jsonc, text: string, edit: Edit): string {
  const { keys, value, isNew } = edit;
  const indent = indentOf(text);
  const isTab = indent.startsWith('\t');
  const tabSize = isTab ? 1 : Math.min(8, indent.length);
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const done = changeInPlace(jsonc, text, edit, { step: isTab ? '\t' : ' '.repeat(tabSize), eol });
  if (done !== undefined) return done;
  const last = keys.at(-1)!;
  const holder = valueAt(jsonc.parse(text) as unknown, keys.slice(0, -1));
  const isArrayInsertion = Array.isArray(holder) && typeof last === 'number' && (isNew || last >= holder.length);
  const formattingOptions = { insertSpaces: !isTab, tabSize, eol };
  return jsonc.applyEdits(text, jsonc.modify(text, [...keys], value, { formattingOptions, isArrayInsertion }));
}

/** Changes a text of JSON, with or without comments. */
export async function editJson(text: string, edits: readonly Edit[]): Promise<string> {
  const jsonc = await import('jsonc-parser');
  const isItem = ({ keys }: Edit): boolean => typeof keys.at(-1) === 'number';
  const ordered = [...edits.filter((edit) => !isItem(edit)), ...edits.filter(isItem)];
  let out = text.trim() === '' ? '{}\n' : text;
  for (const edit of ordered) out = change(jsonc, out, edit);
  return out;
}
