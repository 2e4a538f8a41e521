import { excessIn } from '../kernel/json-bounds.js';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import { estimateBytes } from '../kernel/size.js';
import { nameInPath } from './shape.js';

/** The JSON that a result holds: its structured content, else what its only text block says. */
export function jsonOf(result: JsonObject): JsonValue | undefined {
  const { structuredContent, content } = result;
  if (structuredContent !== undefined && structuredContent !== null) return structuredContent;
  if (!Array.isArray(content)) return undefined;
  const texts = content.filter((block) => isObject(block) && block['type'] === 'text');
  const text = texts.length === 1 ? (texts[0] as JsonObject)['text'] : undefined;
  return typeof text === 'string' ? parsed(text) : undefined;
}

/** A text in a block of content, and the path to it from the block. */
export interface BlockText {
  readonly text: string;
  readonly path: 'text' | 'resource.text';
}

/** The text of a block of content, or of the resource that it embeds; `undefined` when it has none. */
export function textOfBlock(block: JsonValue): BlockText | undefined {
  if (!isObject(block)) return undefined;
  const { type, text, resource } = block;
  if (type === 'text' && typeof text === 'string') return { text, path: 'text' };
  if (type !== 'resource' || !isObject(resource) || typeof resource['text'] !== 'string') return undefined;
  return { text: resource['text'], path: 'resource.text' };
}

/** The text of a result that is one block; `undefined` for any other result. */
export function onlyTextOf({ content }: JsonObject): string | undefined {
  return Array.isArray(content) && content.length === 1 ? textOfBlock(content[0]!)?.text : undefined;
}

/** The list or object that a text is; `undefined` for any other text. */
function parsed(text: string): JsonValue | undefined {
  if (!/^\s*[[{]/.test(text.slice(0, 200)) || excessIn(text) !== undefined) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The list or object that the one text of an object is, as in `{content: "[…]"}`; `undefined` for any other data. */
export function jsonInside(data: JsonValue): JsonValue | undefined {
  const [only, ...others] = isObject(data) ? Object.values(data) : [];
  return typeof only === 'string' && others.length === 0 ? parsed(only) : undefined;
}

/** The part of a value that makes it large, and the path to it. */
export interface Bulk {
  readonly value: JsonValue;
  /** JMESPath; empty for the value itself. */
  readonly path: string;
}

/** What makes one member of an object the bulk of it. */
const BULK_SHARE = 0.6;
const MAX_LEVELS = 6;

/** Finds the list, text or object that most of a value consists of, such as `data.items` of a page. */
export function bulkOf(value: JsonValue): Bulk {
  let bulk: Bulk = { value, path: '' };
  for (let level = 0; level < MAX_LEVELS; level++) {
    const inner: Bulk | undefined = heaviestIn(bulk);
    if (!inner) break;
    bulk = inner;
  }
  return bulk;
}

function heaviestIn({ value, path }: Bulk): Bulk | undefined {
  if (Array.isArray(value)) {
    const only = value.length === 1 ? value[0]! : undefined;
    return typeof only === 'object' && only !== null ? { value: only, path: `${path}[0]` } : undefined;
  }
  if (!isObject(value)) return undefined;
  const keys = Object.keys(value);
  // Members of a map are alike; one of them is not the bulk.
  if (keys.length === 0 || keys.length > 200) return undefined;
  const weights = keys.map((key) => estimateBytes(value[key]));
  const most = weights.indexOf(Math.max(...weights));
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  const heaviest = value[keys[most]!]!;
  const isLong = typeof heaviest === 'object' || typeof heaviest === 'string';
  if (heaviest === null || !isLong || weights[most]! < BULK_SHARE * whole) return undefined;
  const name = nameInPath(keys[most]!);
  return { value: heaviest, path: path === '' ? name : `${path}.${name}` };
}
