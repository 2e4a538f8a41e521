import type { Gateway } from '../../../gateway/index.js';
import type { Server } from '../../../model/server.js';
import type { Tool } from '../../../model/tool.js';
import { exposedName } from './names.js';

/** The server whose tools read on in large results (ANS-3). */
const OWN_SERVER = 'toolscout';

function isSet(value: number | false | undefined): boolean {
  return typeof value === 'number';
}

function hasBudget({ answers }: Pick<Server, 'answers'>): boolean {
  return isSet(answers?.maxTokens) || Object.values(answers?.tools ?? {}).some(isSet);
}

/**
 * The tools that read on in large results, by the names of a host that has no `execute_tool`; none without a budget,
 * which the config sets for all servers or for one that the host is offered.
 */
export async function readingTools(gateway: Gateway, server?: string): Promise<ReadonlyMap<string, Tool>> {
  const { config, servers } = gateway.internal.loaded();
  const offered = server === undefined ? servers : servers.filter(({ id }) => id === server);
  if (!isSet(config.answers.maxTokens) && !offered.some(hasBudget)) return new Map();
  const tools = await gateway.tools.list(OWN_SERVER);
  return new Map(tools.map((tool) => [exposedName(tool.server, tool.name), tool]));
}

/**
 * Whether results of a tool that a host is offered by name may be cut. It is then offered without its output schema: a host that has one
 * refuses a result without structured content, and whole that may cost more than the budget (ANS-1).
 */
export function isCut(gateway: Gateway, tool: Tool, asked: 'pinned' | 'passthrough'): boolean {
  return tool.definition['outputSchema'] !== undefined && gateway.internal.budget(tool, asked) !== undefined;
}
