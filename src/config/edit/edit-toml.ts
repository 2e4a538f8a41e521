import { isObject, type JsonValue } from '../../kernel/json.js';
import type { Edit } from './edit.js';

/** The name in a table's header, bare or quoted, as its keys; `undefined` for any other line. */
function headerOf(line: string): string[] | undefined {
  const inner = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(line)?.[1];
  return inner?.split('.').map((key) => key.trim().replace(/^(["'])(.*)\1$/, '$2'));
}

function isBelow(header: readonly string[] | undefined, keys: Edit['keys']): boolean {
  return header !== undefined && keys.every((key, at) => header[at] === String(key));
}

/** The text without a table and those below it. Remarks before the next table belong to that one. */
function withoutTable(text: string, keys: Edit['keys']): string {
  const lines = text.split('\n');
  const kept: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    if (!isBelow(headerOf(lines[i]!), keys)) {
      kept.push(lines[i]!);
      continue;
    }
    let end = i + 1;
    while (end < lines.length && !/^\s*\[/.test(lines[end]!)) end++;
    let last = end - 1;
    while (last > i && /^\s*(#.*)?$/.test(lines[last]!)) last--;
    i = last;
    if (kept.at(-1)?.trim() === '') kept.pop();
  }
  return kept.join('\n');
}

/** Changes whole tables of a TOML text: it has no parser that keeps remarks, so only what stands under its own header moves. */
export async function editToml(text: string, edits: readonly Edit[]): Promise<string> {
  const { stringify } = await import('smol-toml');
  let out = text;
  for (const { keys, value } of edits) {
    out = withoutTable(out, keys);
    if (!isObject(value)) continue;
    const start = out.trim() === '' ? '' : `${out.trimEnd()}\n\n`;
    const table = keys.toReversed().reduce<JsonValue>((inner, key) => ({ [key]: inner }), value);
    out = `${start}${stringify(table).trim()}\n`;
  }
  return out;
}
