import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';

/** One example of a call, as the server gives it. */
export interface ToolExample {
  readonly description?: string;
  readonly arguments: JsonObject;
}

/** More than an agent reads. */
const MAX_EXAMPLES = 10;

function exampleIn(item: JsonValue): ToolExample[] {
  if (!isObject(item)) return [];
  const args = item['arguments'] ?? item['input'] ?? item['args'];
  if (!isObject(args)) return [{ arguments: item }];
  const { description } = item;
  return [{ ...(typeof description === 'string' && { description }), arguments: args }];
}

/**
 * The examples of a tool: `examples` or `input_examples` of its definition, or the `examples` of its input schema. An item is
 * an object of arguments, or one with `arguments` and a `description`.
 */
export function examplesOf(definition: JsonObject): ToolExample[] {
  const schema = isObject(definition['inputSchema']) ? definition['inputSchema'] : {};
  const lists = [definition['examples'], definition['input_examples'], schema['examples']];
  const items = lists.flatMap((list) => (Array.isArray(list) ? list : []));
  return items.flatMap(exampleIn).slice(0, MAX_EXAMPLES);
}
