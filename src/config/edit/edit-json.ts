import type { Node } from 'jsonc-parser';
import { valueAt } from '../read/path.js';
import type { Edit } from './edit.js';
import { indentOf } from './indent.js';

type Jsonc = typeof import('jsonc-parser');

/**
 * A new field at the beginning of an object that is written on several lines: at the end it would come between the last
 * field and the remark behind it. `undefined` when the object is not written like that.
 */
function prepend(
  text: string,
  parent: Node | undefined,
  key: string,
  value: unknown,
  step: string,
): string | undefined {
  if (parent?.type !== 'object') return undefined;
  const first = parent.children?.[0];
  const until = first?.offset ?? parent.offset + parent.length;
  const lineEnd = text.indexOf('\n', parent.offset);
  if (lineEnd === -1 || lineEnd >= until) return undefined;
  // Without a field only remarks are in it; it then begins one step deeper than the line of its bracket.
  const indent = first
    ? text.slice(text.lastIndexOf('\n', first.offset) + 1, first.offset)
    : `${/^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', parent.offset) + 1))![0]}${step}`;
  if (indent.trim() !== '') return undefined;
  const eol = text[lineEnd - 1] === '\r' ? '\r\n' : '\n';
  const lines = JSON.stringify(value, null, step).split('\n');
  const field = `${indent}${JSON.stringify(key)}: ${lines.join(`${eol}${indent}`)}${first ? ',' : ''}`;
  return `${text.slice(0, lineEnd + 1)}${field}${eol}${text.slice(lineEnd + 1)}`;
}

function change(jsonc: Jsonc, text: string, { keys, value }: Edit): string {
  const indent = indentOf(text);
  const isTab = indent.startsWith('\t');
  const formattingOptions = {
    insertSpaces: !isTab,
    tabSize: isTab ? 1 : Math.min(8, indent.length),
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
  const last = keys.at(-1)!;
  const parents = keys.slice(0, -1);
  const holder = valueAt(jsonc.parse(text) as unknown, parents);
  const isNew = value !== undefined && valueAt(holder, [last]) === undefined;
  if (isNew && typeof last === 'string') {
    const root = jsonc.parseTree(text);
    const parent = root && jsonc.findNodeAtLocation(root, [...parents]);
    const done = prepend(text, parent, last, value, isTab ? '\t' : ' '.repeat(formattingOptions.tabSize));
    if (done !== undefined) return done;
  }
  const isArrayInsertion = Array.isArray(holder) && typeof last === 'number' && last >= holder.length;
  return jsonc.applyEdits(text, jsonc.modify(text, [...keys], value, { formattingOptions, isArrayInsertion }));
}

/** Changes a text of JSON, with or without comments. */
export async function editJson(text: string, edits: readonly Edit[]): Promise<string> {
  const jsonc = await import('jsonc-parser');
  const isItem = ({ keys }: Edit): boolean => typeof keys.at(-1) === 'number';
  // Fields are put before others, so that the last one comes first; items of lists are put behind.
  const ordered = [...edits.filter((edit) => !isItem(edit)).toReversed(), ...edits.filter(isItem)];
  let out = text.trim() === '' ? '{}\n' : text;
  for (const edit of ordered) out = change(jsonc, out, edit);
  return out;
}
