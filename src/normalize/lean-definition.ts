import { isDeeperThan, isObject, type JsonObject } from '../kernel/json.js';
import { LIMITS } from '../kernel/limits.js';
import { estimateTokens } from '../kernel/tokens.js';

/** Hints worth their tokens, the most important first. */
const HINTS = ['destructiveHint', 'readOnlyHint', 'idempotentHint', 'openWorldHint'] as const;

/** The hints by which an agent chooses how to call a tool. */
const EFFECTS: ReadonlySet<string> = new Set(['destructiveHint', 'readOnlyHint']);

/** What details may cost, as a share of the name, description and input schema that a server sent (META-9: 1.1, less the error of the estimate). */
const MAX_SHARE = 1.08;

/** The annotations that are true: as many as cost no more than `tokens` with what is there, those of `always` in any case. */
function hintsOf(definition: JsonObject, lean: JsonObject, tokens: number, always: ReadonlySet<string>) {
  if (!isObject(definition.annotations)) return undefined;
  let hints: JsonObject | undefined;
  for (const hint of HINTS) {
    if (definition.annotations[hint] !== true) continue;
    const more = { ...hints, [hint]: true };
    if (always.has(hint) || costOf({ ...lean, annotations: more }) <= tokens) hints = more;
  }
  return hints;
}

function costOf(value: JsonObject): number {
  return estimateTokens(JSON.stringify(value));
}

/**
 * What an agent needs to call a tool and nothing else: name, description and input schema, plus the annotations that are true as far as
 * they cost next to nothing; with `effects`, whether it reads or destroys at any cost. Shares its parts with the definition.
 */
export function leanDefinition(definition: JsonObject, { effects = false } = {}): JsonObject {
  const sent = isObject(definition.inputSchema) ? definition.inputSchema : { type: 'object' };
  const { $schema: _dialect, ...inputSchema } = sent;
  const lean: JsonObject = {
    name: typeof definition.name === 'string' ? definition.name : '',
    ...(typeof definition.description === 'string' ? { description: definition.description } : {}),
    inputSchema,
  };
  if (isDeeperThan(inputSchema, LIMITS.depth)) return lean;
  const tokens = costOf({ ...lean, inputSchema: sent }) * MAX_SHARE;
  const annotations = hintsOf(definition, lean, tokens, effects ? EFFECTS : new Set());
  return annotations ? { ...lean, annotations } : lean;
}
