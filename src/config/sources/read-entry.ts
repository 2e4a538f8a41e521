import { isAbsolute, join, resolve } from 'node:path';
import { ToolscoutError } from '../../kernel/errors.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import { ServerEntry } from '../../model/config.js';
import type { ImportedServer, Prompt } from '../../model/source.js';
import { checkServers } from '../check-servers.js';
import { field, objectField, textField, textList } from './fields.js';
import { isVariableName, translate, type Notation, type TextContext } from './variables.js';

/** What is particular about the entries of one client. */
export interface Dialect {
  /** Further ways in which it writes variables. */
  readonly notations?: readonly Notation[];
  /** What its `timeout` counts. */
  readonly timeoutUnit?: 's' | 'ms';
  /** What a URL without a type means to it; Streamable HTTP by default. */
  readonly urlType?: 'http' | 'sse';
  /** The fields of an entry, where they are not laid out as most clients do it. */
  readonly shape?: (raw: JsonObject) => JsonObject;
}

/** What an entry says, apart from where it was found. */
export type ReadEntry = Pick<
  ImportedServer,
  'entry' | 'envFile' | 'autoApproved' | 'disabledTools' | 'enabledTools' | 'capabilities' | 'prompts' | 'notes'
>;

/** Why an entry cannot be used; it never quotes values. */
function badEntry(message: string): ToolscoutError {
  return new ToolscoutError('CONFIGURATION_ERROR', message);
}

const TYPES: ReadonlyMap<string, 'stdio' | 'http' | 'sse'> = new Map([
  ['stdio', 'stdio'],
  ['local', 'stdio'],
  ['command', 'stdio'],
  ['custom', 'stdio'],
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['streamablehttp', 'http'],
  ['streamable_http', 'http'],
  ['httpurl', 'http'],
  ['remote', 'http'],
  ['sse', 'sse'],
  ['serverurl', 'sse'],
]);

const LONGEST_TIMEOUT_MS = 86_400_000;

/** Seconds or milliseconds as whole milliseconds; what makes no sense is left out and noted. */
export function toMilliseconds(value: unknown, unit: 's' | 'ms', name: string, notes: string[]): number | undefined {
  if (value === undefined) return undefined;
  const number = typeof value === 'string' && /^\d{1,12}(\.\d{1,6})?$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number) || number <= 0) {
    notes.push(`its ${name} is no positive number and is left out`);
    return undefined;
  }
  return Math.min(Math.max(1, Math.round(unit === 's' ? number * 1000 : number)), LONGEST_TIMEOUT_MS);
}

function readType(raw: JsonObject, hasCommand: boolean, dialect: Dialect): 'stdio' | 'http' | 'sse' {
  const written = textField(raw, 'type', 'transportType', 'transport');
  const known = written === undefined ? undefined : TYPES.get(written.toLowerCase());
  if (written !== undefined && known === undefined && !hasCommand) {
    if (/^(ws|websocket)s?$/i.test(written)) throw badEntry('uses WebSocket, which is not supported');
    throw badEntry('has a transport that is not known; expected stdio, http or sse');
  }
  if (hasCommand) return 'stdio';
  return known === undefined || known === 'stdio' ? (dialect.urlType ?? 'http') : known;
}

/** Clients write numbers and switches where the protocol of processes knows only text. */
function asText(value: unknown, name: string): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value === null || value === undefined) return undefined;
  throw badEntry(`has a value in ${name} that is no text`);
}

function readMap(value: unknown, name: string, fill: (text: string) => string): Record<string, string> | undefined {
  if (value === undefined) return undefined;
  if (!isObject(value)) throw badEntry(`has ${name} that is no object`);
  const map: Record<string, string> = {};
  for (const [key, each] of Object.entries(value)) {
    if (key === '__proto__') throw badEntry(`has a reserved name in ${name}`);
    const text = asText(each, name);
    if (text !== undefined) map[key] = fill(text);
  }
  return Object.keys(map).length === 0 ? undefined : map;
}

/** Names of variables that the client passes on, as references to them: their values are never read here. */
function references(names: unknown, into: Record<string, string>): void {
  for (const item of Array.isArray(names) ? names : []) {
    const name: unknown = isObject(item) ? item['name'] : item;
    if (isVariableName(name) && !Object.hasOwn(into, name)) into[name] = `\${${name}}`;
  }
}

function readHeaders(raw: JsonObject, fill: (text: string) => string): Record<string, string> | undefined {
  const options = objectField(raw, 'requestOptions', 'requestInit') ?? {};
  const headers = {
    ...readMap(field(options, 'headers'), 'headers', fill),
    ...readMap(field(raw, 'headers', 'http_headers'), 'headers', fill),
  };
  for (const [name, variable] of Object.entries(objectField(raw, 'env_http_headers') ?? {})) {
    if (name !== '__proto__' && isVariableName(variable)) headers[name] = `\${${variable}}`;
  }
  const bearer = field(raw, 'bearer_token_env_var');
  if (isVariableName(bearer)) headers['Authorization'] = `Bearer \${${bearer}}`;
  return Object.keys(headers).length === 0 ? undefined : headers;
}

function readEnv(raw: JsonObject, fill: (text: string) => string): Record<string, string> | undefined {
  const env = { ...readMap(field(raw, 'env', 'envs', 'environment'), 'env', fill) };
  references(field(raw, 'env_vars'), env);
  references(field(raw, 'env_keys'), env);
  return Object.keys(env).length === 0 ? undefined : env;
}

function absolutePath(path: string, context: TextContext): string {
  if (path === '~' || path.startsWith('~/')) return join(context.home, path.slice(1));
  return isAbsolute(path) || path.startsWith('${') ? path : resolve(context.project ?? context.home, path);
}

/** `command` may be a text, a list with its arguments, or an object with `path`, `args` and `env`. */
function unfoldCommand(raw: JsonObject): JsonObject {
  const command = field(raw, 'command', 'cmd');
  if (Array.isArray(command)) return { ...raw, command: command[0], args: command.slice(1) };
  if (!isObject(command)) return raw;
  return { ...command, ...raw, command: command['path'] ?? command['command'] };
}

/** Some clients put the transport into an object of its own. */
function unfoldTransport(raw: JsonObject): JsonObject {
  const transport = objectField(raw, 'transport');
  if (!transport) return raw;
  const { transport: _, ...rest } = raw;
  return { ...rest, ...transport };
}

function launchOf(raw: JsonObject, dialect: Dialect, context: TextContext, fill: (text: string) => string) {
  const command = textField(raw, 'command', 'cmd');
  const url = textField(raw, 'httpUrl', 'url', 'serverUrl', 'uri', 'base_url');
  if (command === undefined && url === undefined) throw badEntry('has neither a command nor a URL');
  const type = readType(raw, command !== undefined, dialect);
  if (command === undefined) {
    return { type: type === 'sse' ? ('sse' as const) : undefined, url: fill(url!), headers: readHeaders(raw, fill) };
  }
  const args = field(raw, 'args');
  if (args !== undefined && !Array.isArray(args)) throw badEntry('has args that are no list');
  const texts = (args ?? []).map((arg) => asText(arg, 'args')).filter((arg) => arg !== undefined);
  const cwd = textField(raw, 'cwd', 'workingDirectory');
  return {
    command: fill(command),
    args: texts.length === 0 ? undefined : texts.map(fill),
    env: readEnv(raw, fill),
    cwd: cwd === undefined ? undefined : absolutePath(fill(cwd), context),
  };
}

function isEnabled(raw: JsonObject): boolean {
  return field(raw, 'disabled') !== true && field(raw, 'enabled') !== false && field(raw, 'isActive') !== false;
}

function notesOn(raw: JsonObject): string[] {
  const notes: string[] = [];
  if (field(raw, 'headersHelper') !== undefined) notes.push('its headersHelper is not run; add headers by hand');
  if (field(raw, 'oauth', 'auth') !== undefined) notes.push('its OAuth settings are not taken over');
  return notes;
}

function withoutAbsent<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}

/**
 * One server of a client in our own terms.
 *
 * @throws ToolscoutError `CONFIGURATION_ERROR` that says what is wrong, without its values.
 */
export function readEntry(written: unknown, dialect: Dialect, context: TextContext): ReadEntry {
  if (!isObject(written)) throw badEntry('is no object');
  const raw = unfoldTransport(unfoldCommand(dialect.shape?.(written) ?? written));
  const prompts = new Map<string, Prompt>();
  const fill = (text: string): string => translate(text, context, prompts);
  const notes = notesOn(raw);
  const unit = dialect.timeoutUnit ?? 'ms';
  const timeout =
    toMilliseconds(field(raw, 'tool_timeout_sec'), 's', 'tool_timeout_sec', notes) ??
    toMilliseconds(field(raw, 'timeout'), unit, 'timeout', notes);
  const connectTimeout =
    toMilliseconds(field(raw, 'startup_timeout_sec'), 's', 'startup_timeout_sec', notes) ??
    toMilliseconds(field(raw, 'startup_timeout_ms', 'initTimeout'), 'ms', 'startup timeout', notes);
  const entry = withoutAbsent({
    ...launchOf(raw, dialect, context, fill),
    enabled: isEnabled(raw) ? undefined : false,
    title: textField(raw, 'title', 'display_name', 'displayName'),
    eager: field(raw, 'eager') === true ? true : undefined,
    tags: textList(field(raw, 'tags')).length > 0 ? textList(field(raw, 'tags')) : undefined,
    timeout,
    connectTimeout,
  });
  const parsed = ServerEntry.safeParse(entry);
  const [problem] = parsed.success ? checkServers({ server: entry }, 'servers').problems : [];
  if (!parsed.success) throw badEntry('has fields that make no server');
  if (problem) throw badEntry(`${problem.path.replace(/^servers\.server\.?/, '') || 'it'} ${problem.message}`);
  const envFile = textField(raw, 'envFile');
  const only = field(raw, 'includeTools', 'enabled_tools', 'enabledTools', 'available_tools');
  return {
    entry: parsed.data,
    envFile: envFile === undefined ? undefined : absolutePath(fill(envFile), context),
    autoApproved: textList(field(raw, 'autoApprove', 'alwaysAllow')),
    disabledTools: textList(field(raw, 'excludeTools', 'disabledTools', 'disabled_tools')),
    enabledTools: Array.isArray(only) && textList(only).length > 0 ? textList(only) : undefined,
    capabilities: textList(field(raw, 'capabilities')),
    prompts: [...prompts.values()],
    notes,
  };
}
