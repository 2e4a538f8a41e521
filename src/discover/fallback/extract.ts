import { isObject, type JsonObject, type JsonValue } from '../../kernel/json.js';
import { LIMITS } from '../../kernel/limits.js';
import { findIdentifiers, findPairs } from './printed-names.js';
import { findObjects, type PrintedObject } from './printed-json.js';
import type { Strategy } from './strategies.js';

/** Tools that were read out of what a program printed, as a server would have listed them. */
export interface Extracted {
  readonly strategy: Strategy;
  readonly items: readonly JsonObject[];
  /** The program has more pages than the one that it was asked for. */
  readonly hasMore?: boolean;
}

/** Fields that distinguish a log line from a tool. */
const LOG_FIELDS = ['level', 'msg', 'pid', 'hostname', 'timestamp', 'severity', 'jsonrpc', 'method'];

/** The answer to a plain `tools/list` with that id, wherever it stands in the output. */
export function extractAnswer(stdout: string, id: number): Extracted | undefined {
  for (const { value } of findObjects(bounded(stdout))) {
    const { result } = value;
    if (value['jsonrpc'] !== '2.0' || value['id'] !== id || !isObject(result)) continue;
    const items = toItems(result['tools']);
    const { nextCursor } = result;
    const hasMore = typeof nextCursor === 'string' && nextCursor !== '';
    if (items.length > 0) return { strategy: 'plain-list', items, ...(hasMore && { hasMore }) };
  }
  return undefined;
}

/**
 * Reads tools out of what a program printed: the first way that finds any. Names, descriptions and
 * schemas are kept; what is found this way can be seen, never called.
 */
export function extractTools(printed: string): Extracted | undefined {
  const text = bounded(printed);
  const objects = findObjects(text);
  const ways: ReadonlyArray<readonly [Strategy, () => JsonObject[]]> = [
    ['functions', () => listed(objects, 'functions')],
    ['tools', () => listed(objects, 'tools')],
    ['json-lines', () => lines(objects)],
    ['pairs', () => findPairs(withoutLogs(text, objects))],
    ['identifiers', () => findIdentifiers(withoutLogs(text, objects))],
  ];
  for (const [strategy, read] of ways) {
    const items = distinct(read());
    if (items.length > 0) return { strategy, items };
  }
  return undefined;
}

/** What is printed may be endless; what is read of it is not. */
function bounded(text: string): string {
  return text.slice(0, LIMITS.listBytes);
}

/** Entries of a list under a key, whole or cut off: those of a list that never ended stand in the text by themselves. */
function listed(objects: readonly PrintedObject[], key: string): JsonObject[] {
  return objects.flatMap(({ value, path }) => {
    const holder = [value, value['result']].find((one) => isObject(one) && Array.isArray(one[key]));
    if (isObject(holder)) return toItems(holder[key]);
    return path.at(-1) === key ? toItems([value]) : [];
  });
}

function lines(objects: readonly PrintedObject[]): JsonObject[] {
  return objects.flatMap(({ value, alone }) => (alone && !isLog(value) ? toItems([value]) : []));
}

function isLog(value: JsonObject): boolean {
  return LOG_FIELDS.some((field) => Object.hasOwn(value, field));
}

/** The text without the lines of a log and the messages of a protocol in it: their names are no tools. */
function withoutLogs(text: string, objects: readonly PrintedObject[]): string {
  const kept: string[] = [];
  let after = 0;
  for (const { value, start, end } of objects) {
    if (!isLog(value)) continue;
    kept.push(text.slice(after, start));
    after = end;
  }
  return [...kept, text.slice(after)].join('');
}

/** Entries as a server would list them: `{type: 'function', function: {…}}` is unwrapped, `parameters` is the input. */
function toItems(list: JsonValue | undefined): JsonObject[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry) => {
    const tool = isObject(entry) && isObject(entry['function']) ? entry['function'] : entry;
    if (typeof tool === 'string' && tool !== '') return [{ name: tool }];
    if (!isObject(tool) || typeof tool['name'] !== 'string' || tool['name'] === '') return [];
    const { parameters, input_schema: snake, ...rest } = tool;
    const schema = rest['inputSchema'] ?? snake ?? parameters;
    return [isObject(schema) ? { ...rest, inputSchema: schema } : rest];
  });
}

/** One entry for each name: the one that says most. */
function distinct(items: readonly JsonObject[]): JsonObject[] {
  const best = new Map<string, JsonObject>();
  for (const item of items) {
    const name = item['name'] as string;
    const known = best.get(name);
    if (!known || Object.keys(item).length > Object.keys(known).length) best.set(name, item);
  }
  return [...best.values()].slice(0, LIMITS.toolsPerServer);
}
