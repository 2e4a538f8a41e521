import type { JsonObject } from '../../../kernel/json.js';
import { DEFAULT_HITS, MAX_AGENT_HITS } from '../../../model/hit.js';

const string = { type: 'string' };
const readOnly = { readOnlyHint: true, openWorldHint: false };

function object(properties: JsonObject, required: string[] = []): JsonObject {
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

/**
 * The five tools an agent pays for (META-1), in a fixed order with fixed bytes. The wording of
 * `search_tools` draws out queries that rank well; every word here is paid for in every session.
 */
export const META_TOOLS: readonly JsonObject[] = [
  {
    name: 'search_tools',
    title: 'Search tools',
    description:
      'Find tools on all connected servers. Ask for one need at a time, in plain words: action + object + product + key inputs, e.g. "create issue in GitHub repo".',
    inputSchema: object(
      {
        query: string,
        server: { type: 'string', description: 'only this server' },
        limit: { type: 'integer', minimum: 1, maximum: MAX_AGENT_HITS, default: DEFAULT_HITS },
        includeSchema: { type: 'boolean', description: 'add call signatures' },
        schemaTokens: { type: 'integer', minimum: 1, description: 'budget for them' },
      },
      ['query'],
    ),
    annotations: readOnly,
  },
  {
    name: 'get_tool_details',
    title: 'Tool details',
    description: "A tool's full description and input schema. Read it before the first execute_tool.",
    inputSchema: object({ server: string, tool: string }, ['server', 'tool']),
    annotations: readOnly,
  },
  {
    name: 'execute_tool',
    title: 'Execute tool',
    description: 'Run a tool that search_tools found.',
    inputSchema: object(
      {
        server: string,
        tool: string,
        arguments: { type: 'object', description: "match the tool's schema" },
        select: { type: 'string', description: 'JMESPath filter' },
      },
      ['server', 'tool', 'arguments'],
    ),
    annotations: { destructiveHint: true, openWorldHint: true },
  },
  {
    name: 'list_mcp_servers',
    title: 'List servers',
    description: 'Servers, what they are for, their state and number of tools.',
    inputSchema: object({}),
    annotations: readOnly,
  },
  {
    name: 'list_tools',
    title: 'List tools of a server',
    description: 'All tools of one server.',
    inputSchema: object({ server: string, includeDisabled: { type: 'boolean', default: false } }, ['server']),
    annotations: readOnly,
  },
];

/**
 * The meta-tools for a host that may not show instructions: what is behind toolscout stands in the description of the search
 * (META-8).
 */
export function metaToolsNaming(coverage: string, tools: readonly JsonObject[] = META_TOOLS): readonly JsonObject[] {
  if (coverage === '') return tools;
  return tools.map((tool) =>
    tool['name'] === 'search_tools'
      ? { ...tool, description: String(tool['description']).replace('servers.', () => `servers: ${coverage}.`) }
      : tool,
  );
}

/** The meta-tool that only reads (META-10); it is there where the config says `splitReads`. */
export const QUERY_NAME = 'query_tool';

/** The names of the five. */
export const META_NAMES: ReadonlySet<string> = new Set(META_TOOLS.map(({ name }) => String(name)));

/** The instructions for a host that is offered the tools themselves. */
export function passthroughInstructions(coverage: string): string {
  const behind = coverage === '' ? 'No servers are configured yet.' : `Behind it: ${coverage}.`;
  return `One door to many MCP servers. ${behind} Tools are named server__tool.`;
}

/** The instructions of toolscout for a host (META-2, META-8). */
export function instructionsFor(coverage: string, runner = 'execute_tool'): string {
  const behind = coverage === '' ? 'No servers are configured yet.' : `Behind it: ${coverage}.`;
  return (
    `One door to many MCP servers. ${behind} Whenever a task may need an outside tool or data: ` +
    `search_tools, then get_tool_details, then ${runner}. Do not guess tool names.`
  );
}
