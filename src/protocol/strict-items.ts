import { isCompilable } from '../kernel/schema/compilable-schema.js';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';

/** An entry of a list in a form that every client can parse, or the reason why it cannot be converted. */
export type Strict =
  | { readonly item: JsonObject; /** What was changed, one phrase each. */ readonly repairs: readonly string[] }
  | { readonly fault: string };

/** Gives one field the form that clients expect; `undefined` takes it out. */
type Mend = (value: JsonValue, path: string, note: (phrase: string) => void) => JsonValue | undefined;

type Fields = Readonly<Record<string, Mend>>;

const kindOf = (value: JsonValue): string =>
  value === null
    ? 'null'
    : Array.isArray(value)
      ? 'a list'
      : typeof value === 'object'
        ? 'an object'
        : `a ${typeof value}`;

/** A field that is taken out when its value is not what it should be. */
function only(expected: string, test: (value: JsonValue) => boolean): Mend {
  return (value, path, note) => {
    if (test(value)) return value;
    note(`${path} removed: expected ${expected}, found ${kindOf(value)}`);
    return undefined;
  };
}

function oneOf(...values: readonly string[]): Mend {
  return only(values.join(' or '), (value) => typeof value === 'string' && values.includes(value));
}

/** The same object when nothing had to be changed. */
function mendFields(object: JsonObject, fields: Fields, path: string, note: (phrase: string) => void): JsonObject {
  let mended = object;
  for (const [field, mend] of Object.entries(fields)) {
    const value = object[field];
    if (value === undefined) continue;
    const better = mend(value, path === '' ? field : `${path}.${field}`, note);
    if (better === value) continue;
    if (mended === object) mended = { ...object };
    if (better === undefined) delete mended[field];
    else mended[field] = better;
  }
  return mended;
}

function objectWith(fields: Fields): Mend {
  const isIt = only('an object', isObject);
  return (value, path, note) => (isObject(value) ? mendFields(value, fields, path, note) : isIt(value, path, note));
}

/** A list from which entries without `key` are taken out, and whose other entries are mended. */
function listOf(key: string, fields: Fields): Mend {
  const isIt = only('a list', Array.isArray);
  return (value, path, note) => {
    if (!Array.isArray(value)) return isIt(value, path, note);
    const kept = value.flatMap((entry, at): JsonValue[] => {
      if (isObject(entry) && typeof entry[key] === 'string') return [mendFields(entry, fields, `${path}[${at}]`, note)];
      note(`${path}[${at}] removed: expected an object with ${key}`);
      return [];
    });
    return kept.length === value.length && kept.every((entry, at) => entry === value[at]) ? value : kept;
  };
}

const text = only('a string', (value) => typeof value === 'string');
const flag = only('true or false', (value) => typeof value === 'boolean');
const object = objectWith({});

const sizes: Mend = (value, path, note) => {
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
  if (typeof value === 'string') {
    note(`${path} made a list`);
    return value.split(/\s+/).filter((each) => each !== '');
  }
  return only('a list of strings', () => false)(value, path, note);
};

const audience: Mend = (value, path, note) => {
  const roles = Array.isArray(value) ? value.filter((each) => each === 'user' || each === 'assistant') : [];
  if (Array.isArray(value) && roles.length === value.length) return value;
  note(`${path} ${roles.length > 0 ? 'reduced' : 'removed'}: expected a list of user or assistant`);
  return roles.length > 0 ? roles : undefined;
};

const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

function isDateTime(value: JsonValue): boolean {
  const [, year, month, day] = (typeof value === 'string' && DATE_TIME.exec(value)) || [];
  if (year === undefined) return false;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

const required: Mend = (value, path, note) => {
  if (typeof value !== 'string') return flag(value, path, note);
  if (value !== 'true' && value !== 'false') return flag(value, path, note);
  note(`${path} made a boolean`);
  return value === 'true';
};

const COMMON: Fields = {
  title: text,
  description: text,
  icons: listOf('src', { mimeType: text, sizes, theme: oneOf('light', 'dark') }),
  _meta: object,
};

const annotations = objectWith({
  audience,
  priority: only('a number from 0 to 1', (value) => typeof value === 'number' && value >= 0 && value <= 1),
  lastModified: only('a date and time of ISO 8601', isDateTime),
});

const TEMPLATE: Fields = { ...COMMON, mimeType: text, annotations };

const RESOURCE: Fields = {
  ...TEMPLATE,
  size: only('a whole number of bytes', (value) => Number.isSafeInteger(value) && (value as number) >= 0),
};

const PROMPT: Fields = {
  ...COMMON,
  arguments: listOf('name', { title: text, description: text, required }),
};

/** What a member of `properties` means as an object: `true` allows anything, `false` nothing. */
function schemaOf(schema: JsonValue | undefined): JsonObject {
  if (isObject(schema)) return schema;
  return schema === false ? { not: {} } : {};
}

const properties: Mend = (value, path, note) => {
  if (!isObject(value)) return object(value, path, note);
  const odd = Object.entries(value).filter(([, schema]) => !isObject(schema));
  if (odd.length === 0) return value;
  for (const [name, schema] of odd)
    note(`${path}.${name.slice(0, 60)} written as an object: found ${kindOf(schema ?? null)}`);
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, schemaOf(schema)]));
};

const names: Mend = (value, path, note) => {
  if (!Array.isArray(value)) return only('a list of strings', () => false)(value, path, note);
  const kept = value.filter((name) => typeof name === 'string');
  if (kept.length === value.length) return value;
  note(`${path} reduced to its strings`);
  return kept;
};

const SCHEMA: Fields = { $schema: text, properties, required: names };

const inputSchema: Mend = (value, path, note) => {
  if (!isObject(value)) return undefined;
  const mended = mendFields(value, SCHEMA, path, note);
  if (mended['type'] === 'object') return mended;
  note(`${path}.type set to "object"`);
  return { ...mended, type: 'object' };
};

const outputSchema: Mend = (value, path, note) => {
  if (!isObject(value)) return object(value, path, note);
  const mended = mendFields(value, SCHEMA, path, note);
  // Names of schemas are shared by all tools of a client, and those of many servers meet there.
  const { $id: id, ...nameless } = mended;
  const schema = typeof id === 'string' ? nameless : mended;
  if (isCompilable(schema)) return schema;
  note(`${path} removed: clients cannot compile it`);
  return undefined;
};

const TOOL: Fields = {
  ...COMMON,
  inputSchema,
  outputSchema,
  annotations: objectWith({
    title: text,
    readOnlyHint: flag,
    destructiveHint: flag,
    idempotentHint: flag,
    openWorldHint: flag,
  }),
  execution: objectWith({ taskSupport: oneOf('required', 'optional', 'forbidden') }),
};

/** Repairs of one entry that are named. */
const MAX_REPAIRS = 20;

/** Half a character, which many JSON parsers refuse together with everything around it; and how JSON writes one. */
const LONE_SURROGATE = /\p{Surrogate}/gu;
const ESCAPED_SURROGATE = /\\ud[89a-f][0-9a-f]{2}/;

function wellFormed(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.replaceAll(LONE_SURROGATE, '\ufffd');
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name.replaceAll(LONE_SURROGATE, '\ufffd'), wellFormed(each ?? null)]),
  );
}

function strict(raw: JsonObject, key: string, fields: Fields): Strict {
  const id = raw[key];
  if (typeof id !== 'string' || id === '') return { fault: `it has no ${key}` };
  if (id.search(LONE_SURROGATE) !== -1) return { fault: `its ${key} is not well-formed Unicode` };
  const repairs: string[] = [];
  const note = (phrase: string): void => void (repairs.length < MAX_REPAIRS && repairs.push(phrase));
  const item = mendFields(raw, fields, '', note);
  if (!ESCAPED_SURROGATE.test(JSON.stringify(item))) return { item, repairs };
  const readable = wellFormed(item) as JsonObject;
  if (JSON.stringify(readable) !== JSON.stringify(item)) repairs.push('characters that are no Unicode replaced');
  return { item: readable, repairs };
}

/** A tool as every client can parse it; what cannot be understood is taken out of it, field by field. */
export function strictTool(raw: JsonObject): Strict {
  const schema = raw['inputSchema'];
  if (schema === undefined || schema === null || schema === true) {
    const repaired = strict({ ...raw, inputSchema: { type: 'object' } }, 'name', TOOL);
    return 'fault' in repaired ? repaired : { ...repaired, repairs: ['inputSchema added', ...repaired.repairs] };
  }
  if (!isObject(schema)) return { fault: 'its inputSchema is not an object' };
  return strict(raw, 'name', TOOL);
}

/** A prompt as every client can parse it. */
export function strictPrompt(raw: JsonObject): Strict {
  return strict(raw, 'name', PROMPT);
}

/** What a client shows must have a name; its address is one. */
function named(raw: JsonObject, key: string, fields: Fields): Strict {
  const { name } = raw;
  if (typeof name === 'string') return strict(raw, key, fields);
  const repaired = strict({ ...raw, name: raw[key] }, key, fields);
  return 'fault' in repaired ? repaired : { ...repaired, repairs: [`name taken from ${key}`, ...repaired.repairs] };
}

/** A resource as every client can parse it. */
export function strictResource(raw: JsonObject): Strict {
  return named(raw, 'uri', RESOURCE);
}

/** A resource template as every client can parse it. */
export function strictResourceTemplate(raw: JsonObject): Strict {
  return named(raw, 'uriTemplate', TEMPLATE);
}

const BLOCK: Fields = { annotations, _meta: object };

/** A block of content without annotations and `_meta` that clients cannot parse. */
export function strictBlockFields(block: JsonObject): JsonObject {
  return mendFields(block, BLOCK, '', () => undefined);
}

/** A link to a resource as every client can parse it; its address is its name where it has none. */
export function strictLink(link: JsonObject): JsonObject {
  const named = typeof link['name'] === 'string' ? link : { ...link, name: link['uri'] };
  return mendFields(named, RESOURCE, '', () => undefined);
}

const INFO: Fields = { ...COMMON, websiteUrl: text };

/** Features by name, each an object. */
const features: Mend = (value, path, note) => {
  if (!isObject(value)) return object(value, path, note);
  const kept = Object.entries(value).filter(([, each]) => isObject(each));
  return kept.length === Object.keys(value).length ? value : Object.fromEntries(kept);
};

const CAPABILITIES: Fields = {
  experimental: features,
  extensions: features,
  logging: object,
  completions: object,
  prompts: objectWith({ listChanged: flag }),
  resources: objectWith({ listChanged: flag, subscribe: flag }),
  tools: objectWith({ listChanged: flag }),
};

/** A server's own description in a form that every client can parse: a client that cannot parse it does not connect. */
export function strictInfo<T extends JsonObject>(info: T): T {
  const mended = mendFields(info, INFO, '', () => undefined);
  return (ESCAPED_SURROGATE.test(JSON.stringify(mended)) ? wellFormed(mended) : mended) as T;
}

/** What a server declares, as every client can parse it. */
export function strictCapabilities(declared: JsonObject): JsonObject {
  return mendFields(declared, CAPABILITIES, '', () => undefined);
}
