import type { Document, YAMLSeq } from 'yaml';
import { ToolscoutError } from '../../kernel/errors.js';
import { canonicalJson, isObject, type JsonValue } from '../../kernel/json.js';
import { parseData, type DataFormat } from '../read/parse.js';
import { valueAt } from '../read/path.js';
import type { Edit } from './edit.js';
import { editJson } from './edit-json.js';
import { editToml } from './edit-toml.js';
import { indentOf } from './indent.js';
import { keepLines } from './keep-lines.js';

type Yaml = typeof import('yaml');

const isSame = (a: unknown, b: unknown): boolean => canonicalJson(a as JsonValue) === canonicalJson(b as JsonValue);

/** A value for a place of a document, written as what stood there: parts that stay keep their nodes, the others their style. */
function nodeLike(yaml: Yaml, document: Document, before: unknown, value: unknown): unknown {
  const { isMap, isSeq } = yaml;
  if (before !== undefined && yaml.isNode(before) && isSame(before.toJS(document), value)) return before;
  const node = document.createNode(value);
  if (isSeq(node) && isSeq(before) && Array.isArray(value)) {
    node.flow = before.flow ?? false;
    node.items = value.map((item, index) => {
      const stays = before.items.find((one) => yaml.isNode(one) && isSame(one.toJS(document), item));
      return stays ?? nodeLike(yaml, document, before.items[Math.min(index, before.items.length - 1)], item);
    });
  } else if (isMap(node) && isMap(before)) node.flow = before.flow ?? false;
  // Where one text stood, several stand on the same line.
  else if (isSeq(node) && yaml.isScalar(before)) node.flow = true;
  return node;
}

/** A further item of a list, written as the others are. */
function itemLike(yaml: Yaml, document: Document, list: YAMLSeq, value: unknown): unknown {
  const node = document.createNode(value);
  const like = list.items[0];
  if (yaml.isCollection(node) && yaml.isCollection(like)) node.flow = like.flow ?? false;
  return node;
}

/** One edit; all that it does not change stays as it is, to the last space. */
function editYamlOnce(yaml: Yaml, text: string, { keys, value, isNew }: Edit): string {
  // Lines stay as long as they are, and lists as deep as they stood.
  const indent = indentOf(text).length;
  const isFlat = /^[\w-]+:[ \t]*(?:#.*)?\r?\n- /m.test(text);
  const style = { lineWidth: 0, indent: indent >= 2 && indent <= 8 ? indent : 2, indentSeq: !isFlat };
  const plain = yaml.parseDocument(text).toString(style);
  const document = yaml.parseDocument(text);
  // A name with nothing behind it is the place for what is to stand there.
  const empty = keys.findIndex((_, depth) => depth > 0 && document.getIn(keys.slice(0, depth)) === null);
  if (empty !== -1 && value !== undefined) {
    const kind = typeof keys[empty] === 'number' ? [] : {};
    document.setIn(keys.slice(0, empty), document.createNode(kind));
  }
  const list = isNew ? document.getIn(keys.slice(0, -1), true) : undefined;
  if (yaml.isSeq(list)) list.items.splice(Number(keys.at(-1)), 0, itemLike(yaml, document, list, value));
  else if (value === undefined) document.deleteIn(keys);
  else document.setIn(keys, nodeLike(yaml, document, document.getIn(keys, true), value));
  const edited = document.toString(style);
  const kept = keepLines(text, plain, edited);
  // Where the lines of the file and those of the printer do not fit together, the printer is right.
  const read = yaml.parseDocument(kept);
  return read.errors.length === 0 && isSame(read.toJS(), document.toJS()) ? kept : edited;
}

async function editYaml(text: string, edits: readonly Edit[]): Promise<string> {
  const yaml = await import('yaml');
  return edits.reduce((current, edit) => editYamlOnce(yaml, current, edit), text);
}

/** The data as it must be after the edits. */
function applied(data: unknown, edits: readonly Edit[]): unknown {
  const root: unknown = isObject(data) ? structuredClone(data) : {};
  for (const { keys, value, isNew } of edits) {
    let here = root as Record<PropertyKey, unknown>;
    for (const [depth, key] of keys.slice(0, -1).entries()) {
      const next = Object.hasOwn(here, key) ? here[key] : undefined;
      if (typeof next !== 'object' || next === null) here[key] = typeof keys[depth + 1] === 'number' ? [] : {};
      here = here[key] as Record<PropertyKey, unknown>;
    }
    const last = keys.at(-1)!;
    // A key such as `__proto__` is a field like any other here; whether it may be one is not decided by an edit.
    const field = { value, enumerable: true, configurable: true, writable: true };
    if (isNew && Array.isArray(here)) here.splice(Number(last), 0, value);
    else if (value !== undefined) Object.defineProperty(here, last, field);
    else if (Array.isArray(here)) here.splice(Number(last), 1);
    else delete here[last];
  }
  return root;
}

/** Whether the way to a value leads through something else than objects and lists. */
function isBlocked(data: unknown, { keys }: Edit): boolean {
  return keys.slice(0, -1).some((_, depth) => {
    const value = valueAt(data, keys.slice(0, depth + 1));
    return value !== undefined && value !== null && typeof value !== 'object';
  });
}

/** TOML has no empty table where the last one below it is gone. */
function withoutEmpty(data: unknown): unknown {
  if (!isObject(data)) return data;
  const kept = Object.entries(data).map(([key, value]) => [key, withoutEmpty(value)] as const);
  return Object.fromEntries(kept.filter(([, value]) => !isObject(value) || Object.keys(value).length > 0));
}

/**
 * Changes a text in place: comments, order and everything else in it stay. What comes out is read again and must say
 * exactly what was meant; a file that cannot be read, or not be changed like that, is left alone.
 *
 * @throws ToolscoutError `CONFIGURATION_ERROR`
 */
export async function editText(
  content: string,
  file: { readonly path: string; readonly format: DataFormat },
  edits: readonly Edit[],
): Promise<string> {
  const { path, format } = file;
  const mark = content.startsWith('\ufeff') ? '\ufeff' : '';
  const text = content.slice(mark.length);
  const before = await parseData(text, path, format);
  const refuse = (): ToolscoutError =>
    new ToolscoutError(
      'CONFIGURATION_ERROR',
      `${path} cannot be edited without changing unrelated parts of the file.`,
      {
        suggestion: 'Make the change with an editor. Nothing was written.',
      },
    );
  if (!isObject(before) || edits.some((edit) => isBlocked(before, edit))) throw refuse();
  const isJson = format === 'json' || format === 'jsonc';
  const after = isJson
    ? await editJson(text, edits)
    : format === 'toml'
      ? await editToml(text, edits)
      : await editYaml(text, edits);
  const judge = (data: unknown): string => canonicalJson((format === 'toml' ? withoutEmpty(data) : data) as JsonValue);
  if (judge(await parseData(after, path, format)) !== judge(applied(before, edits))) throw refuse();
  return mark + after;
}
