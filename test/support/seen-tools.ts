import type { Seen } from '../../src/approvals/decide.js';
import { hashJson } from '../../src/kernel/hash.js';
import type { JsonObject } from '../../src/kernel/json.js';

/** A definition as approvals see it: with its hash, and as one that reads. */
export function seenTool(definition: JsonObject): Seen['tools'][number] {
  return { name: String(definition['name']), hash: hashJson(definition), definition, categories: ['crud.read'] };
}

/** A server as approvals see it. */
export function seen(definitions: readonly JsonObject[], rest: Omit<Seen, 'tools'> = {}): Seen {
  return { ...rest, tools: definitions.map(seenTool) };
}
