import { ToolscoutError } from '../../kernel/errors.js';
import { canonicalJson, isObject, type JsonValue } from '../../kernel/json.js';
import { parseData, type DataFormat } from '../parse.js';
import { editToml } from './edit-toml.js';

/** One change of a file: what stands at a path of keys from now on; without a value it goes. */
export interface Edit {
  readonly keys: ReadonlyArray<string | number>;
  readonly value?: JsonValue;
}

function indentOf(text: string): string {
  return /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';
}

async function editJson(text: string, edits: readonly Edit[]): Promise<string> {
  const { applyEdits, modify, parse } = await import('jsonc-parser');
  const indent = indentOf(text);
  const formattingOptions = {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : Math.min(8, indent.length),
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
  let out = text.trim() === '' ? '{}\n' : text;
  for (const { keys, value } of edits) {
    const last = keys.at(-1);
    const list: unknown = typeof last === 'number' ? at(parse(out) as unknown, keys.slice(0, -1)) : undefined;
    const isArrayInsertion = Array.isArray(list) && typeof last === 'number' && last >= list.length;
    out = applyEdits(out, modify(out, [...keys], value, { formattingOptions, isArrayInsertion }));
  }
  return out;
}

async function editYaml(text: string, edits: readonly Edit[]): Promise<string> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text);
  for (const { keys, value } of edits) {
    if (value === undefined) document.deleteIn(keys);
    else document.setIn(keys, document.createNode(value));
  }
  // Lines stay as long as they are, and lists as deep as they stood.
  const indent = indentOf(text).length;
  const isFlat = /^[\w-]+:[ \t]*(?:#.*)?\r?\n- /m.test(text);
  return document.toString({ lineWidth: 0, indent: indent >= 2 && indent <= 8 ? indent : 2, indentSeq: !isFlat });
}

function at(data: unknown, keys: Edit['keys']): unknown {
  let here = data;
  for (const key of keys) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<PropertyKey, unknown>)[key];
  }
  return here;
}

/** The data as it must be after the edits. */
function applied(data: unknown, edits: readonly Edit[]): unknown {
  const root: unknown = isObject(data) ? structuredClone(data) : {};
  for (const { keys, value } of edits) {
    let here = root as Record<PropertyKey, unknown>;
    for (const [depth, key] of keys.slice(0, -1).entries()) {
      const next = Object.hasOwn(here, key) ? here[key] : undefined;
      if (typeof next !== 'object' || next === null) here[key] = typeof keys[depth + 1] === 'number' ? [] : {};
      here = here[key] as Record<PropertyKey, unknown>;
    }
    const last = keys.at(-1)!;
    if (value !== undefined) here[last] = value;
    else if (Array.isArray(here)) here.splice(Number(last), 1);
    else delete here[last];
  }
  return root;
}

/** Whether the way to a value leads through something else than objects and lists. */
function isBlocked(data: unknown, { keys }: Edit): boolean {
  return keys.slice(0, -1).some((_, depth) => {
    const value = at(data, keys.slice(0, depth + 1));
    return value !== undefined && value !== null && typeof value !== 'object';
  });
}

/**
 * Changes a text in place: comments, order and everything else in it stay. What comes out is read again and must say
 * exactly what was meant; a file that cannot be read, or not be changed like that, is left alone.
 *
 * @throws ToolscoutError `CONFIGURATION_ERROR`
 */
export async function editText(
  text: string,
  file: { readonly path: string; readonly format: DataFormat },
  edits: readonly Edit[],
): Promise<string> {
  const { path, format } = file;
  const before = await parseData(text, path, format);
  const refuse = (): ToolscoutError =>
    new ToolscoutError('CONFIGURATION_ERROR', `${path} cannot be changed without touching more than it should.`, {
      suggestion: 'Make the change by hand; --dry-run prints what to add.',
    });
  if (!isObject(before) || edits.some((edit) => isBlocked(before, edit))) throw refuse();
  const isJson = format === 'json' || format === 'jsonc';
  const after = isJson
    ? await editJson(text, edits)
    : format === 'toml'
      ? await editToml(text, edits)
      : await editYaml(text, edits);
  const said = canonicalJson((await parseData(after, path, format)) as JsonValue);
  if (said !== canonicalJson(applied(before, edits) as JsonValue)) throw refuse();
  return after;
}
