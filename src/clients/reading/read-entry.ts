import { isAbsolute, join, resolve } from 'node:path';
import { ToolscoutError } from '../../kernel/errors.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import { ServerEntry } from '../../model/config.js';
import type { ImportedServer, Prompt } from '../../model/source.js';
import { checkServers } from '../../config/check/check-servers.js';
import { joinPath, ROOT } from '../../config/read/path.js';
import { EntryReader } from './entry-reader.js';
import { field, objectField } from './fields.js';
import { isVariableName, translate, type Notation, type TextContext } from '../../config/resolve/variables.js';

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
  /** Fields that the importer of the client reads by itself. */
  readonly known?: readonly string[];
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

/** A name that is a path already: an importer may lay fields flat. */
const DOTTED = /^[\w$-]+(\.[\w$-]+)*$/;

const MAX_TIMEOUT_MS = 86_400_000;

/** Seconds or milliseconds as whole milliseconds; what makes no sense is left out and noted. */
export function toMilliseconds(value: unknown, unit: 's' | 'ms', name: string, notes: string[]): number | undefined {
  if (value === undefined) return undefined;
  const number = typeof value === 'string' && /^\d{1,12}(\.\d{1,6})?$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number) || number <= 0) {
    notes.push(`its ${name} is no positive number and is left out`);
    return undefined;
  }
  return Math.min(Math.max(1, Math.round(unit === 's' ? number * 1000 : number)), MAX_TIMEOUT_MS);
}

function readType(raw: EntryReader, hasCommand: boolean, dialect: Dialect): 'stdio' | 'http' | 'sse' {
  const written = raw.text('type', 'transportType', 'transport');
  const known = written === undefined ? undefined : TYPES.get(written.toLowerCase());
  if (written !== undefined && known === undefined && !hasCommand) {
    if (/^(ws|websocket)s?$/i.test(written)) throw badEntry('uses WebSocket, which is not supported');
    throw badEntry('has a transport that is not known; expected stdio, http or sse');
  }
  if (hasCommand) return 'stdio';
  return known === undefined || known === 'stdio' ? (dialect.urlType ?? 'http') : known;
}

/** Clients write numbers and booleans where the environment of a process has only text. */
function asText(value: unknown, name: string): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value === null || value === undefined) return undefined;
  throw badEntry(`has a value in ${name} that is no text`);
}

/** How values are taken over: texts are translated, what is left out is noted. */
interface Taking {
  readonly fill: (text: string) => string;
  readonly notes: string[];
}

function readMap(value: unknown, name: string, { fill, notes }: Taking): Record<string, string> | undefined {
  if (value === undefined) return undefined;
  if (!isObject(value)) throw badEntry(`has ${name} that is not an object`);
  const map: Record<string, string> = {};
  for (const [key, each] of Object.entries(value)) {
    if (key === '__proto__') throw badEntry(`has a reserved name in ${name}`);
    const text = asText(each, name);
    if (text !== undefined) map[key] = fill(text);
    else notes.push(`${joinPath(name, key)} has no value and is left out`);
  }
  return Object.keys(map).length === 0 ? undefined : map;
}

/** Names of variables that the client passes on, as references to them: their values are never read here. */
function references(raw: EntryReader, field: string, into: Record<string, string>, notes: string[]): void {
  const names = raw.field(field);
  if (names !== undefined && !Array.isArray(names)) notes.push(`${field} is no list and is left out`);
  for (const [at, item] of (Array.isArray(names) ? names : []).entries()) {
    const name: unknown = isObject(item) ? item['name'] : item;
    if (!isVariableName(name)) notes.push(`${joinPath(field, at)} names no variable and is left out`);
    else if (!Object.hasOwn(into, name)) into[name] = `\${${name}}`;
  }
}

function readHeaders(raw: EntryReader, taking: Taking): Record<string, string> | undefined {
  const { notes } = taking;
  const options = raw.object('requestOptions', 'requestInit') ?? {};
  for (const name of Object.keys(options)) {
    if (name !== 'headers') notes.push(`${joinPath('requestOptions', name)} is not used`);
  }
  const headers = {
    ...readMap(field(options, 'headers'), 'headers', taking),
    ...readMap(raw.field('headers', 'http_headers'), 'headers', taking),
  };
  for (const [name, variable] of Object.entries(raw.object('env_http_headers') ?? {})) {
    if (name !== '__proto__' && isVariableName(variable)) headers[name] = `\${${variable}}`;
    else notes.push(`${joinPath('env_http_headers', name)} names no variable and is left out`);
  }
  const bearer = raw.field('bearer_token_env_var');
  if (isVariableName(bearer)) headers['Authorization'] = `Bearer \${${bearer}}`;
  else if (bearer !== undefined) notes.push('bearer_token_env_var names no variable and is left out');
  return Object.keys(headers).length === 0 ? undefined : headers;
}

function readEnv(raw: EntryReader, taking: Taking): Record<string, string> | undefined {
  const env = { ...readMap(raw.field('env', 'envs', 'environment'), 'env', taking) };
  references(raw, 'env_vars', env, taking.notes);
  references(raw, 'env_keys', env, taking.notes);
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
  const { path, ...rest } = command;
  return { ...rest, ...raw, command: path ?? command['command'] };
}

/** Some clients put the transport into an object of its own. */
function unfoldTransport(raw: JsonObject): JsonObject {
  const transport = objectField(raw, 'transport');
  if (!transport) return raw;
  const { transport: _, ...rest } = raw;
  return { ...rest, ...transport };
}

function launchOf(raw: EntryReader, dialect: Dialect, context: TextContext, taking: Taking) {
  const { fill, notes } = taking;
  const command = raw.text('command', 'cmd');
  const url = command === undefined ? raw.text('httpUrl', 'url', 'serverUrl', 'uri', 'base_url') : undefined;
  if (command === undefined && url === undefined) throw badEntry('has neither a command nor a URL');
  const type = readType(raw, command !== undefined, dialect);
  if (command === undefined) {
    return { type: type === 'sse' ? ('sse' as const) : undefined, url: fill(url!), headers: readHeaders(raw, taking) };
  }
  const args = raw.field('args');
  if (args !== undefined && !Array.isArray(args)) throw badEntry('has args that are no list');
  const texts = (args ?? []).map((arg) => asText(arg, 'args')).filter((arg) => arg !== undefined);
  if (texts.length < (args?.length ?? 0)) notes.push('args holds items without a value; they are left out');
  const cwd = raw.text('cwd', 'workingDirectory');
  return {
    command: fill(command),
    args: texts.length === 0 ? undefined : texts.map(fill),
    env: readEnv(raw, taking),
    cwd: cwd === undefined ? undefined : absolutePath(fill(cwd), context),
  };
}

function isEnabled(raw: EntryReader): boolean {
  const switches = [raw.field('disabled') !== true, raw.field('enabled') !== false, raw.field('isActive') !== false];
  return switches.every(Boolean);
}

function noteUnsupported(raw: EntryReader, notes: string[]): void {
  if (raw.field('headersHelper') !== undefined) notes.push('its headersHelper is not run; add headers by hand');
  if (raw.field('oauth') !== undefined || raw.field('auth') !== undefined) {
    notes.push('its OAuth settings are not imported');
  }
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
  if (!isObject(written)) throw badEntry('is not an object');
  const raw = new EntryReader(unfoldTransport(unfoldCommand(dialect.shape?.(written) ?? written)));
  // What a server is called is read where its table is.
  raw.mark('id', 'name', ...(dialect.known ?? []));
  const prompts = new Map<string, Prompt>();
  const notes: string[] = [];
  const taking: Taking = { fill: (text) => translate(text, context, prompts), notes };
  noteUnsupported(raw, notes);
  const unit = dialect.timeoutUnit ?? 'ms';
  const timeoutMs =
    toMilliseconds(raw.field('tool_timeout_sec'), 's', 'tool_timeout_sec', notes) ??
    toMilliseconds(raw.field('timeout'), unit, 'timeout', notes);
  const connectTimeoutMs =
    toMilliseconds(raw.field('startup_timeout_sec'), 's', 'startup_timeout_sec', notes) ??
    toMilliseconds(raw.field('startup_timeout_ms', 'initTimeout'), 'ms', 'startup timeout', notes);
  const tags = raw.list(notes, 'tags');
  const eager = raw.field('eager');
  if (eager !== undefined && typeof eager !== 'boolean') notes.push('eager is neither true nor false and is left out');
  const entry = withoutAbsent({
    ...launchOf(raw, dialect, context, taking),
    enabled: isEnabled(raw) ? undefined : false,
    title: raw.text('title', 'display_name', 'displayName'),
    description: raw.text('description'),
    eager: eager === true ? true : undefined,
    tags: tags.length > 0 ? tags : undefined,
    timeoutMs,
    connectTimeoutMs,
  });
  const parsed = ServerEntry.safeParse(entry);
  const [problem] = parsed.success ? checkServers({ server: entry }, 'servers').problems : [];
  if (!parsed.success) throw badEntry('has fields that make no server');
  if (problem) throw badEntry(`${problem.path.replace(/^servers\.server\.?/, '') || 'it'} ${problem.message}`);
  const envFile = raw.text('envFile');
  const only = raw.list(notes, 'includeTools', 'enabled_tools', 'enabledTools', 'available_tools');
  const lists = {
    autoApproved: raw.list(notes, 'autoApprove', 'alwaysAllow'),
    disabledTools: raw.list(notes, 'excludeTools', 'disabledTools', 'disabled_tools'),
    enabledTools: only.length > 0 ? only : undefined,
    capabilities: raw.list(notes, 'capabilities'),
  };
  for (const name of raw.unused()) notes.push(`${DOTTED.test(name) ? name : joinPath(ROOT, name)} is not used`);
  return {
    entry: parsed.data,
    envFile: envFile === undefined ? undefined : absolutePath(taking.fill(envFile), context),
    ...lists,
    prompts: [...prompts.values()],
    notes,
  };
}
