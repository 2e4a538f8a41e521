import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import { LOOK_ALIKES } from '../kernel/look-alikes.js';
import type { Tool } from '../model/tool.js';
import { reportsError } from '../protocol/strict-results.js';

/** Words that no tool may have in its name if it is to be called merely to see what it answers (DISC-9). */
const WRITING = ['create', 'update', 'delete', 'remove', 'add', 'modify', 'write', 'post', 'put', 'patch'];

/** Combining marks, and invisible characters. */
const UNSEEN = /[\p{M}\p{Cf}]/gu;

/** The verb of writing that a name contains, however it is spelled: in capitals, wide letters or letters of other scripts. */
export function writingVerbIn(name: string): string | undefined {
  const plain = name.normalize('NFKD').toLowerCase().replace(UNSEEN, '');
  const latin = [...plain].map((letter) => LOOK_ALIKES.get(letter) ?? letter).join('');
  return WRITING.find((word) => latin.includes(word));
}

/** Bounds of an inferred schema. */
const MAX_DEPTH = 8;
const MAX_KEYS = 100;
const MAX_ITEMS = 50;

/** Values that fit what a parameter is called, where its schema says nothing better. */
const PLAUSIBLE: ReadonlyArray<readonly [RegExp, JsonValue]> = [
  [/url|uri|link/i, 'https://example.com'],
  [/e-?mail/i, 'user@example.com'],
  [/date|day/i, '2026-01-01'],
  [/path|file|dir|folder/i, '.'],
  [/query|search|text|term|keyword/i, 'test'],
  [/lang/i, 'en'],
  [/country/i, 'US'],
  [/city|location|place/i, 'London'],
  [/owner|org|user/i, 'octocat'],
  [/repo/i, 'hello-world'],
];

/**
 * Whether a tool may be called once to see what it answers: it says itself that it only reads, or is
 * of the reading kind; nothing in its name writes; and it does not already say what it answers.
 */
export function mayBeTried(tool: Tool): boolean {
  const { definition, name } = tool;
  if (definition['outputSchema'] !== undefined || tool.status !== 'enabled' || tool.provenance !== 'protocol') {
    return false;
  }
  if (writingVerbIn(name) !== undefined) return false;
  const annotations = isObject(definition['annotations']) ? definition['annotations'] : {};
  if (annotations['readOnlyHint'] === false || annotations['destructiveHint'] === true) return false;
  return annotations['readOnlyHint'] === true || tool.categories.includes('crud.read');
}

/** The least that can be given to a tool: its required fields only. `undefined` when a value cannot be thought of. */
export function safeInput(tool: Tool): JsonObject | undefined {
  const schema = tool.definition['inputSchema'];
  if (!isObject(schema)) return {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const input: JsonObject = {};
  for (const name of required) {
    if (typeof name !== 'string' || name === '__proto__') return undefined;
    const value = valueFor(name, Object.hasOwn(properties, name) ? properties[name] : undefined, 0);
    if (value === undefined) return undefined;
    input[name] = value;
  }
  return input;
}

function valueFor(name: string, schema: JsonValue | undefined, depth: number): JsonValue | undefined {
  if (!isObject(schema)) return plausible(name);
  if (schema['default'] !== undefined) return schema['default'];
  if (schema['const'] !== undefined) return schema['const'];
  if (Array.isArray(schema['enum']) && schema['enum'].length > 0) return schema['enum'][0];
  const examples = schema['examples'];
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  const type = Array.isArray(schema['type']) ? schema['type'].find((one) => one !== 'null') : schema['type'];
  switch (type) {
    case 'integer':
    case 'number':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 1;
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'object':
      return depth < MAX_DEPTH ? objectFor(schema, depth + 1) : undefined;
    case 'string':
    case undefined:
      return plausible(name);
    default:
      return undefined;
  }
}

function objectFor(schema: JsonObject, depth: number): JsonObject | undefined {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const made: JsonObject = {};
  for (const name of Array.isArray(schema['required']) ? schema['required'] : []) {
    if (typeof name !== 'string' || name === '__proto__') return undefined;
    const value = valueFor(name, Object.hasOwn(properties, name) ? properties[name] : undefined, depth);
    if (value === undefined) return undefined;
    made[name] = value;
  }
  return made;
}

function plausible(name: string): JsonValue {
  return PLAUSIBLE.find(([pattern]) => pattern.test(name))?.[1] ?? 'test';
}

/**
 * The schema of what a tool answered: its structured content, or JSON inside its text. An error is
 * never a type, and text that is no JSON says nothing.
 */
export function inferOutput(result: JsonObject): JsonObject | undefined {
  if (reportsError(result)) return undefined;
  if (result['structuredContent'] !== undefined) return schemaOf(result['structuredContent'], 0);
  const content = Array.isArray(result['content']) ? result['content'] : [];
  const texts = content.flatMap((item) =>
    isObject(item) && item['type'] === 'text' && typeof item['text'] === 'string' ? [item['text']] : [],
  );
  if (texts.length !== 1) return undefined;
  try {
    const value = JSON.parse(texts[0]!) as JsonValue;
    const isError = isObject(value) && (value['error'] !== undefined || value['error_code'] !== undefined);
    return isError || typeof value !== 'object' || value === null ? undefined : schemaOf(value, 0);
  } catch {
    // Plain text has no schema worth keeping.
    return undefined;
  }
}

function schemaOf(value: JsonValue | undefined, depth: number): JsonObject {
  if (value === null || value === undefined || depth > MAX_DEPTH) return {};
  if (Array.isArray(value)) {
    const kinds = value.slice(0, MAX_ITEMS).map((item) => schemaOf(item, depth + 1));
    return kinds.length === 0 ? { type: 'array' } : { type: 'array', items: kinds.reduce(merge) };
  }
  if (isObject(value)) {
    const entries = Object.entries(value)
      .filter(([key]) => key !== '__proto__')
      .slice(0, MAX_KEYS);
    return {
      type: 'object',
      properties: Object.fromEntries(entries.map(([key, one]) => [key, schemaOf(one, depth + 1)])),
    };
  }
  if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'number' };
  return { type: typeof value };
}

/** One schema for two items of a list: what both have in common. */
function merge(a: JsonObject, b: JsonObject): JsonObject {
  if (Object.keys(a).length === 0) return b;
  if (Object.keys(b).length === 0) return a;
  if (a['type'] !== b['type']) {
    const numbers = [a['type'], b['type']].every((type) => type === 'integer' || type === 'number');
    return numbers ? { type: 'number' } : {};
  }
  if (isObject(a['properties']) && isObject(b['properties'])) {
    const properties: JsonObject = { ...a['properties'] };
    for (const [key, schema] of Object.entries(b['properties'])) {
      const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
      properties[key] = isObject(known) && isObject(schema) ? merge(known, schema) : (schema ?? {});
    }
    return { type: 'object', properties };
  }
  if (isObject(a['items']) && isObject(b['items'])) return { type: 'array', items: merge(a['items'], b['items']) };
  return a;
}
