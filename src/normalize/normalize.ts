import { hashJson, sha256 } from '../kernel/hash.js';
import { isDeeperThan, isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import { LIMITS } from '../kernel/limits.js';
import { matchesNames } from '../kernel/patterns/pattern.js';
import type { Server } from '../model/server.js';
import type { Decision, Tool } from '../model/tool.js';
import { inferCategories, inferDomains } from './domains.js';
import { readParameters } from './parameters.js';
import type { Rules } from './rules.js';
import { summarise } from './summary.js';

const textOf = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined;

const TOO_DEEP: Decision = { enabled: false, reason: `its definition nests deeper than ${LIMITS.depth} levels` };

/**
 * One listed tool in our own words. Total: whatever JSON a server sent, there is a tool; one whose
 * definition cannot be walked safely (discovery drops such) is disabled.
 */
export function normalizeTool(
  server: Pick<Server, 'id' | 'tags' | 'autoApproved'>,
  definition: JsonObject,
  rules: Rules,
): Tool {
  // The definition itself is one level above its schema.
  const isDeep = isDeeperThan(definition, LIMITS.depth + 1);
  const name = typeof definition.name === 'string' ? definition.name : '';
  const description = typeof definition.description === 'string' ? definition.description : '';
  const annotations = isObject(definition.annotations) ? definition.annotations : {};
  const title = textOf(definition.title) ?? textOf(annotations.title);
  const ruled = rules.decide(server.id, name);
  const decision = isDeep ? TOO_DEEP : ruled.decision;
  return {
    server: server.id,
    name,
    ...(title === undefined ? {} : { title }),
    description,
    summary: summarise(description, title, name),
    parameters: readParameters(definition.inputSchema),
    domains: inferDomains(server.id, name),
    categories: inferCategories(name),
    tags: [...new Set([...ruled.tags, ...server.tags])],
    status: decision.enabled ? 'enabled' : 'disabled',
    decision,
    ...(ruled.confirm ? { confirm: ruled.confirm } : {}),
    ...(server.autoApproved && matchesNames(server.autoApproved, name) ? { autoApproved: true as const } : {}),
    provenance: 'protocol',
    hash: isDeep ? sha256(`too deep\0${name}\0${description}`) : hashJson(definition),
    definition,
  };
}
