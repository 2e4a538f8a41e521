import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { exposedName } from '../../src/front/mcp/menu/names.js';
import { fixture, type FixtureCommand } from '../support/fixture.js';
import type { Mode } from './client.js';
import type { Json } from './model/dialect.js';
import type { Step } from './model/stub.js';

/** The servers behind toolscout: one with every definition that a client may not be able to parse, and a healthy one. */
export const SERVERS: Readonly<Record<string, FixtureCommand>> = {
  odd: fixture('odd-shapes'),
  healthy: fixture('legacy'),
};

const META_TOOLS = ['search_tools', 'get_tool_details', 'execute_tool', 'list_mcp_servers', 'list_tools'];

/** What a client must see in one mode. */
export interface Expected {
  readonly tools: readonly string[];
  readonly resources: readonly string[];
  readonly templates: readonly string[];
  readonly prompts: readonly string[];
}

/** The calls of a cell, and a text that the answer to each must hold. */
export interface Call extends Step {
  readonly answer: string;
}

/** Asks a stdio server a few things after the handshake; results by method. */
export async function askServer(
  { command, args }: FixtureCommand,
  methods: readonly string[],
): Promise<Record<string, Json>> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const results: Record<string, Json> = {};
  const asked = ['initialize', ...methods];
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'toolscout-client-matrix', version: '1.0.0' };
  send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const { id, result } = JSON.parse(line) as Json;
      const method = asked[id];
      if (method === undefined) continue;
      results[method] = result;
      if (id === 0) send({ method: 'notifications/initialized' });
      const next = asked[id + 1];
      if (next === undefined) break;
      send({ id: id + 1, method: next, params: {} });
    }
  } finally {
    child.stdin.end();
    child.kill();
  }
  return results;
}

const isKept = (item: Json, key: string): boolean =>
  typeof item?.[key] === 'string' && !String(item.name ?? '').startsWith('lost_');

/** What toolscout must show of the servers in each mode: everything that is good or can be repaired. */
export async function expectedOf(): Promise<Readonly<Record<Mode, Expected>>> {
  const odd = await askServer(SERVERS['odd'] as FixtureCommand, [
    'tools/list',
    'resources/list',
    'resources/templates/list',
    'prompts/list',
  ]);
  const healthy = await askServer(SERVERS['healthy'] as FixtureCommand, ['tools/list']);
  const toolsOf = (server: string, { 'tools/list': list }: Record<string, Json>): string[] =>
    list.tools.filter((tool: Json) => isKept(tool, 'name')).map(({ name }: Json) => exposedName(server, name));
  const none = { resources: [], templates: [], prompts: [] };
  return {
    meta: { tools: META_TOOLS, ...none },
    passthrough: {
      tools: [...toolsOf('odd', odd), ...toolsOf('healthy', healthy)],
      resources: odd['resources/list'].resources
        .filter((each: Json) => isKept(each, 'uri'))
        .map(({ uri }: Json) => uri),
      templates: odd['resources/templates/list'].resourceTemplates
        .filter((each: Json) => isKept(each, 'uriTemplate'))
        .map(({ uriTemplate }: Json) => uriTemplate),
      prompts: odd['prompts/list'].prompts
        .filter((each: Json) => isKept(each, 'name'))
        .map(({ name }: Json) => exposedName('odd', name)),
    },
  };
}

const GREETING = 'hello from the client matrix';

/** What a client does in each mode: a healthy tool, and one whose definition had to be repaired. */
export const CALLS: Readonly<Record<Mode, readonly Call[]>> = {
  meta: [
    { name: 'search_tools', args: { query: 'give the message back' }, answer: 'echo' },
    { name: 'get_tool_details', args: { server: 'odd', tool: 'no_root_type' }, answer: 'no_root_type' },
    {
      name: 'execute_tool',
      args: { server: 'healthy', tool: 'echo', arguments: { message: GREETING } },
      answer: GREETING,
    },
    {
      name: 'execute_tool',
      args: { server: 'odd', tool: 'no_root_type', arguments: { word: 'any' } },
      answer: 'no_root_type ran',
    },
  ],
  passthrough: [
    { name: 'healthy__echo', args: { message: GREETING }, answer: GREETING },
    { name: 'odd__no_root_type', args: { word: 'any' }, answer: 'no_root_type ran' },
    { name: 'odd__root_one_of', args: { word: 'any' }, answer: 'root_one_of ran' },
  ],
};
