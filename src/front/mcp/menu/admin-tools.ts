import type { Gateway, IntrospectionTarget, ProposedServer } from '../../../gateway/index.js';
import { shellWord } from '../../../kernel/remedy.js';
import { toToolscoutError, ToolscoutError } from '../../../kernel/errors.js';
import type { JsonObject, JsonValue } from '../../../kernel/json.js';
import type { Approval } from '../../../model/approval.js';
import { refusal, traced } from './meta-tools.js';

const string = { type: 'string' };

/** Tools for administrators only (SEC-9). */
export const ADMIN_TOOLS: readonly JsonObject[] = [
  {
    name: 'ccos_introspect_remote_api',
    title: 'Introspect a remote API',
    description:
      'Ask an MCP server which tools it has, by https url or by the id of a registered server. Calls no tool; creates an approval request with files for the user to review.',
    inputSchema: { type: 'object', properties: { url: string, id: string, server: string } },
    annotations: { destructiveHint: false, openWorldHint: true },
  },
  {
    name: 'ccos_register_server',
    title: 'Register a server',
    description: 'Propose a server by url, or by command and args. It is not used until the user approves it.',
    inputSchema: {
      type: 'object',
      properties: { id: string, url: string, command: string, args: { type: 'array', items: string }, title: string },
      required: ['id'],
    },
    annotations: { destructiveHint: false, openWorldHint: false },
  },
  {
    name: 'ccos_unregister_server',
    title: 'Remove a registered server',
    description: 'Remove a server that was registered, with the trust in it. Servers of the config are not touched.',
    inputSchema: { type: 'object', properties: { id: string }, required: ['id'] },
    annotations: { destructiveHint: true, openWorldHint: false },
  },
];

/** Whether a name is that of an administrator's tool. */
export function isAdminTool(name: unknown): boolean {
  return ADMIN_TOOLS.some((tool) => tool['name'] === name);
}

function wrong(name: string, expected: string): ToolscoutError {
  return new ToolscoutError('INVALID_REQUEST', `"${name}" must be ${expected}.`);
}

function textOf(values: JsonObject, name: string): string {
  const value = values[name];
  if (typeof value !== 'string' || value === '') throw wrong(name, 'a string');
  return value;
}

function proposalOf(values: JsonObject): ProposedServer {
  const optional = (name: string): JsonObject =>
    values[name] === undefined || values[name] === null ? {} : { [name]: textOf(values, name) };
  const { args } = values;
  const isList = Array.isArray(args) && args.every((each) => typeof each === 'string');
  if (args !== undefined && !isList) throw wrong('args', 'a list of strings');
  return {
    id: textOf(values, 'id'),
    ...optional('url'),
    ...optional('command'),
    ...optional('title'),
    ...(isList ? { args: args as string[] } : {}),
  };
}

/** What is introspected: a registered server, or a URL. */
function targetOf(values: JsonObject): IntrospectionTarget {
  const has = (key: string): boolean => values[key] !== undefined && values[key] !== null;
  if (has('server') === has('url')) throw new ToolscoutError('INVALID_REQUEST', 'Give either "url" or "server".');
  if (has('server')) return { server: textOf(values, 'server') };
  return { url: textOf(values, 'url'), ...(has('id') && { id: textOf(values, 'id') }) };
}

/** An approval request in the form for an agent. */
function requestOf({ ref, state, target, risk, hash }: Approval): JsonObject {
  const next = `Ask the user to look at it and to decide: toolscout pending, then toolscout approve ${shellWord(ref)} --hash ${hash.slice(0, 12)}`;
  return { server: ref, state, target, risk: risk.level, hash, next };
}

/** The caller, and its request. */
interface Asker {
  readonly by: string;
  readonly traceId?: string;
}

async function run(gateway: Gateway, name: string, values: JsonObject, who: Asker): Promise<JsonValue> {
  if (name === 'ccos_introspect_remote_api') {
    const { approval, ...found } = await gateway.servers.introspect(targetOf(values), who);
    return { ...found, ...requestOf(approval) } as unknown as JsonObject;
  }
  if (name === 'ccos_unregister_server') {
    const id = textOf(values, 'id');
    await gateway.servers.unregister(id, who);
    return { server: id, removed: true };
  }
  return requestOf(await gateway.servers.register(proposalOf(values), who));
}

/** Answers a call of an administrator's tool. Failures are answers, never exceptions (META-3). */
export async function callAdminTool(
  gateway: Gateway,
  name: string,
  values: JsonObject,
  who: Asker,
): Promise<JsonObject> {
  try {
    return { content: [{ type: 'text', text: JSON.stringify(await run(gateway, name, values, who)) }] };
  } catch (thrown) {
    return traced(refusal(toToolscoutError(thrown)), who);
  }
}
