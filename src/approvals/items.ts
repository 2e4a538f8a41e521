import { hashJson } from '../kernel/hash.js';
import type { JsonObject } from '../kernel/json.js';
import type { SeenTool } from './decide.js';

/** What a server lists besides tools, and the field that names an entry of each list. */
const KEYS = { prompts: 'name', resources: 'uri', templates: 'uriTemplate' } as const;

/** A list besides the tools. */
export type ItemKind = keyof typeof KEYS;

/** What a server lists besides tools. */
export interface ListedItems {
  readonly prompts?: readonly JsonObject[];
  readonly resources?: readonly JsonObject[];
  readonly resourceTemplates?: readonly JsonObject[];
}

/**
 * The name under which an entry is pinned, approved and rejected: `prompts/greet`, `resources/note:1`. A tool of that very
 * name has another definition, so that neither can pass for the other.
 */
export function itemName(kind: ItemKind, key: string): string {
  return `${kind}/${key}`;
}

const seen = new WeakMap<JsonObject, SeenTool>();

/** An entry as far as trust goes: it is pinned by its whole definition, like a tool. */
export function seenItem(kind: ItemKind, definition: JsonObject): SeenTool {
  let item = seen.get(definition);
  if (!item) {
    const name = itemName(kind, String(definition[KEYS[kind]]));
    item = { name, hash: hashJson(definition), definition, categories: [] };
    seen.set(definition, item);
  }
  return item;
}

/** Every entry of every list besides the tools. */
export function seenItems({ prompts = [], resources = [], resourceTemplates = [] }: ListedItems): SeenTool[] {
  return [
    ...prompts.map((each) => seenItem('prompts', each)),
    ...resources.map((each) => seenItem('resources', each)),
    ...resourceTemplates.map((each) => seenItem('templates', each)),
  ];
}
