import { isDeeperThan, isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { LIMITS } from '../kernel/limits.js';
import { oneLine, printable } from '../kernel/text.js';
import { findHeaderFault } from './header-declarations.js';

/** An entry of a list that could not be kept, and why. */
export interface BadItem {
  /** Position over all pages, from 0. */
  readonly index: number;
  readonly name?: string;
  readonly reason: string;
}

/** An entry that was left out, and the list that it belongs to. */
export interface LeftOut extends BadItem {
  /** The method that lists such entries. */
  readonly method: string;
}

/** The bounds of one listing. */
export type ListLimits = { readonly [Name in keyof typeof LIMITS]: number };

/** An entry that was kept, perhaps mended, with its size; or the reason why not. */
export type Checked =
  | { readonly item: JsonObject; readonly key: string; readonly bytes: number }
  | { readonly reason: string };

/** Judges one entry of a list. */
export type ItemCheck = (raw: JsonValue | undefined, limits: ListLimits) => Checked;

const MAX_NAME = 256;

/** Text for people from a name that may be hostile. */
export function shownName(raw: JsonValue | undefined, key: string): string | undefined {
  const name = isObject(raw) ? raw[key] : undefined;
  return typeof name === 'string' && name !== '' ? printable(oneLine(name.slice(0, 200), 80)) : undefined;
}

function findNameFault(name: JsonValue | undefined, key: string, longest: number): string | undefined {
  if (typeof name !== 'string') return name === undefined ? `it has no ${key}` : `its ${key} is not a string`;
  if (name === '') return `its ${key} is empty`;
  if (name.length > longest) return `its ${key} is longer than ${longest} characters`;
  if (/\p{Surrogate}/u.test(name)) return `its ${key} is not well-formed Unicode`;
  return /[\p{Cc}\u2028\u2029]/u.test(name) ? `its ${key} contains control characters` : undefined;
}

function measure(item: JsonObject, limits: ListLimits): { readonly bytes: number } | { readonly reason: string } {
  // The item itself is the level above its schemas.
  if (isDeeperThan(item, limits.depth + 1)) return { reason: `it nests deeper than ${limits.depth} levels` };
  const bytes = Buffer.byteLength(JSON.stringify(item));
  return bytes > limits.toolBytes ? { reason: `it is larger than ${limits.toolBytes} bytes` } : { bytes };
}

/** A copy without optional fields that are `null`: some libraries write those instead of leaving them out. */
function withoutNulls(item: JsonObject, fields: readonly string[]): JsonObject {
  if (fields.every((field) => item[field] !== null)) return item;
  return Object.fromEntries(Object.entries(item).filter(([key, value]) => value !== null || !fields.includes(key)));
}

const TOOL_FIELDS = ['title', 'description', 'inputSchema', 'outputSchema', 'annotations'];

function findSchemaFault(schema: JsonValue | undefined): string | undefined {
  if (!isObject(schema)) return 'its inputSchema is not an object';
  const { type } = schema;
  const isObjectType = type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'));
  return isObjectType ? findHeaderFault(schema) : 'its inputSchema does not describe an object';
}

/**
 * Judges a tool: one that can be called is kept, any other is named (DISC-1). Unknown fields stay as they are, and so do fields of
 * a wrong type: they are left out where the tool is shown.
 */
export const checkTool: ItemCheck = (raw, limits) => {
  if (!isObject(raw)) return { reason: 'it is not an object' };
  const size = measure(raw, limits);
  if ('reason' in size) return size;
  const mended = withoutNulls(raw, TOOL_FIELDS);
  // `true` allows everything, and arguments are always an object.
  const isOpen = mended.inputSchema === undefined || mended.inputSchema === true;
  const item: JsonObject = isOpen ? { ...mended, inputSchema: { type: 'object' } } : mended;
  const reason = findNameFault(item.name, 'name', MAX_NAME) ?? findSchemaFault(item.inputSchema);
  return reason ? { reason } : { item, key: item.name as string, bytes: size.bytes };
};

/** A check for entries that only need a key of their own: a resource's `uri`, a prompt's `name`. */
export function checkKeyed(key: string, longest = 4096): ItemCheck {
  return (raw, limits) => {
    if (!isObject(raw)) return { reason: 'it is not an object' };
    const size = measure(raw, limits);
    if ('reason' in size) return size;
    const reason = findNameFault(raw[key], key, longest);
    return reason ? { reason } : { item: raw, key: raw[key] as string, bytes: size.bytes };
  };
}

/** Of two entries with one key the first stays: a later one must not take over a name that is in use. */
export function refuseDuplicate(checked: Checked, keys: ReadonlySet<string>, key: string): Checked {
  return 'key' in checked && keys.has(checked.key) ? { reason: `its ${key} is a duplicate` } : checked;
}
