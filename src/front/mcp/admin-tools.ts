import type { Gateway, ProposedServer } from '../../gateway/index.js';
import { toToolscoutError, ToolscoutError } from '../../kernel/errors.js';
import type { JsonObject, JsonValue } from '../../kernel/json.js';
import { refusal } from './meta-tools.js';

const string = { type: 'string' };

/** Tools for administrators only; nobody else sees or runs them (SEC-9). */
export const ADMIN_TOOLS: readonly JsonObject[] = [
  {
    name: 'ccos_introspect_remote_api',
    title: 'Introspect a remote API',
    description: 'Ask an MCP server at an https URL which tools it has. Calls none of them and keeps nothing.',
    inputSchema: { type: 'object', properties: { url: string }, required: ['url'] },
    annotations: { readOnlyHint: true, openWorldHint: true },
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
  if (typeof value !== 'string' || value === '') throw wrong(name, 'a text');
  return value;
}

function proposalOf(values: JsonObject): ProposedServer {
  const optional = (name: string): JsonObject =>
    values[name] === undefined || values[name] === null ? {} : { [name]: textOf(values, name) };
  const { args } = values;
  const isList = Array.isArray(args) && args.every((each) => typeof each === 'string');
  if (args !== undefined && !isList) throw wrong('args', 'a list of texts');
  return {
    id: textOf(values, 'id'),
    ...optional('url'),
    ...optional('command'),
    ...optional('title'),
    ...(isList ? { args: args as string[] } : {}),
  };
}

async function run(gateway: Gateway, name: string, values: JsonObject, by: string): Promise<JsonValue> {
  if (name === 'ccos_introspect_remote_api') {
    return (await gateway.introspectRemoteApi({ url: textOf(values, 'url') }, { by })) as unknown as JsonObject;
  }
  const { ref, state, target, risk, hash } = await gateway.registerServer(proposalOf(values), { by });
  const next = `Ask the user to look at it and to decide: toolscout pending, toolscout approve ${ref} --hash ${hash.slice(0, 12)}`;
  return { server: ref, state, target, risk: risk.level, hash, next };
}

/** Answers a call of an administrator's tool. Failures are answers, never exceptions (META-3). */
export async function callAdminTool(
  gateway: Gateway,
  name: string,
  values: JsonObject,
  by: string,
): Promise<JsonObject> {
  try {
    return { content: [{ type: 'text', text: JSON.stringify(await run(gateway, name, values, by)) }] };
  } catch (thrown) {
    return refusal(toToolscoutError(thrown));
  }
}
