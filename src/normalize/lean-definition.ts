import { isDeeperThan, isObject, type JsonObject } from '../kernel/json.js';
import { LIMITS } from '../kernel/limits.js';

/** Hints worth their tokens, the most important first. */
const HINTS = ['destructiveHint', 'readOnlyHint', 'idempotentHint', 'openWorldHint'] as const;

/** Share of the lean definition that hints may add; the rest of the ten percent is the front's (META-9). */
const HINT_SHARE = 0.05;

/** The annotations that are true and still fit into a number of characters. */
function hintsOf(definition: JsonObject, room: number): JsonObject | undefined {
  if (!isObject(definition.annotations)) return undefined;
  const hints: JsonObject = {};
  for (const hint of HINTS) {
    if (definition.annotations[hint] !== true) continue;
    if (JSON.stringify({ annotations: { ...hints, [hint]: true } }).length - 1 <= room) hints[hint] = true;
  }
  return Object.keys(hints).length > 0 ? hints : undefined;
}

/**
 * What an agent needs to call a tool and nothing else: name, description and input schema, plus the
 * annotations that are true as far as they cost next to nothing. Shares its parts with the definition.
 */
export function leanDefinition(definition: JsonObject): JsonObject {
  const { $schema: _dialect, ...inputSchema } = isObject(definition.inputSchema)
    ? definition.inputSchema
    : { type: 'object' };
  const lean: JsonObject = {
    name: typeof definition.name === 'string' ? definition.name : '',
    ...(typeof definition.description === 'string' ? { description: definition.description } : {}),
    inputSchema,
  };
  if (isDeeperThan(inputSchema, LIMITS.depth)) return lean;
  const annotations = hintsOf(definition, JSON.stringify(lean).length * HINT_SHARE);
  return annotations ? { ...lean, annotations } : lean;
}
