import { isAbsolute, resolve } from 'node:path';
import { hashJson } from '../../kernel/hash.js';
import { isObject, type JsonValue } from '../../kernel/json.js';
import { otherHostName } from '../../net/host-names.js';
import { printable } from '../../kernel/text.js';
import {
  overrideRateLimit,
  RateLimitConfig,
  type AuthConfig,
  type Config,
  type ServerEntry,
} from '../../model/config.js';
import type { SandboxConfig } from '../../model/sandbox-config.js';
import type {
  HttpTransport,
  Server,
  ServerScope,
  ShownTransport,
  StdioTransport,
  Transport,
} from '../../model/server.js';
import { headerComplaint, hostComplaint, urlComplaint } from '../check/check-servers.js';
import { authComplaints } from '../check/check-auth.js';
import { decodeComponent, hideInArguments, hideInUrl, secretsOfHeader } from '../secrets/credentials.js';
import { readVariable, tokenVariable, type Variables } from '../environment.js';
import { expand, hideDefaults, isReference } from './expand.js';
import { sandboxProblem, sandboxWords } from './sandbox.js';
import { OWN_NAME, ownLaunchProblem, type Self } from './own-entry.js';
import { toDictionary } from '../check/plain-data.js';
import { quoteArgument, reviewOf } from '../review/review.js';

/** What all servers of one config have in common, and what is learned while they are made. */
export interface Workshop {
  readonly config: Config;
  readonly source: string;
  readonly env: Variables;
  /** The variables of the sandbox, where they are not those of the servers. */
  readonly sandboxEnv?: Variables;
  /** Where a relative `cwd` starts. */
  readonly directory?: string;
  /** How toolscout itself is started and reached. */
  readonly self?: Self;
  /** Whose file it was imported from, if it was. */
  readonly scope?: ServerScope;
  /** Collects every value that must never be shown. */
  readonly secrets: Set<string>;
  /** Collects the names of the variables that were looked up. */
  readonly used: Set<string>;
}

/** What was written for one server: checked, and raw. */
export interface WrittenServer {
  readonly id: string;
  readonly entry: ServerEntry;
  readonly raw: ServerEntry;
}

/** Expands one text of a server; what it learns goes to the workshop and to `problems`. */
export function expandInto(shop: Pick<Workshop, 'env' | 'secrets' | 'used'>, text: string, problems: string[]): string {
  const expansion = expand(text, shop.env);
  for (const value of expansion.values) shop.secrets.add(value);
  for (const name of expansion.used) shop.used.add(name);
  problems.push(...expansion.problems);
  return expansion.text;
}

/** Words of a command that are credentials are known as such. */
export function noteSecretsIn(words: readonly string[], { secrets }: Pick<Workshop, 'secrets'>): void {
  for (const hidden of hideInArguments(words)) for (const secret of hidden.secrets) secrets.add(secret);
}

function createStdio(written: WrittenServer, shop: Workshop, problems: string[]): StdioTransport {
  const { entry } = written;
  const fill = (text: string): string => expandInto(shop, text, problems);
  const command = fill(entry.command ?? '');
  const args = (entry.args ?? []).map(fill);
  const env = toDictionary(Object.fromEntries(Object.entries(entry.env ?? {}).map(([k, v]) => [k, fill(v)])));
  const cwd = entry.cwd === undefined ? undefined : fill(entry.cwd);
  // A variable that is not set stays a reference, which is not a secret.
  for (const value of Object.values(env)) if (!isReference(value)) shop.secrets.add(value);
  noteSecretsIn(args, shop);
  if (command.trim() === '') problems.push('has an empty command');
  if ([command, cwd ?? '', ...args, ...Object.values(env)].some((text) => text.includes('\0'))) {
    problems.push('has a NUL character in its command, arguments, env or cwd');
  }
  const isRelative = cwd !== undefined && shop.directory !== undefined;
  const folder = isRelative ? resolve(shop.directory!, cwd) : cwd;
  const project = shop.scope === 'project' && cwd !== undefined ? shop.directory : undefined;
  const around = { command, cwd: folder ?? shop.directory ?? '.', variables: Object.keys(env), project };
  const wanted = sandboxOf(entry, shop);
  const inSandbox = { ...shop, env: shop.sandboxEnv ?? shop.env };
  const sandbox = sandboxWords(wanted, around, (text) => expandInto(inSandbox, text, problems));
  noteSecretsIn(sandbox, shop);
  const escape = sandboxProblem(wanted, around);
  if (escape !== undefined) problems.push(escape);
  return { type: 'stdio', command, args, env, cwd: folder, ...(sandbox.length > 0 && { sandbox }) };
}

/** Only a config of the user says what a server runs in: what others bring could leave the sandbox, or name a program of its own. */
function sandboxOf({ sandbox }: ServerEntry, { scope, config }: Workshop): SandboxConfig {
  return scope === undefined ? (sandbox ?? config.sandbox) : config.sandbox;
}

/** User and password of a URL, which `fetch` refuses to take there, as the header they stand for. */
function moveUserIntoHeader(url: string, headers: Record<string, string>, shop: Workshop): string {
  const parsed = new URL(url);
  if (parsed.username === '' && parsed.password === '') return url;
  const pair = [parsed.username, parsed.password].map((part) => decodeComponent(part)).join(':');
  if (!hasAuthorization(headers)) headers.Authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  shop.secrets.add(Buffer.from(pair).toString('base64'));
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}

function hasAuthorization(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}

/**
 * The variables whose token a server may get (CONN-6). A server of another client does not get the token for all
 * servers, and a server of a project gets none, whatever its id is.
 */
function tokenVariables(id: string, scope: ServerScope | undefined): string[] {
  if (scope === 'project') return [];
  return scope === 'user' ? [tokenVariable(id)] : [tokenVariable(id), 'MCP_AUTH_TOKEN'];
}

/** A server without a credential of its own gets the token of the environment. */
function addToken(id: string, headers: Record<string, string>, shop: Workshop, problems: string[]): void {
  if (hasAuthorization(headers)) return;
  for (const name of tokenVariables(id, shop.scope)) {
    shop.used.add(name);
    const token = readVariable(shop.env, name);
    if (token === undefined) continue;
    shop.secrets.add(token);
    if (headerComplaint(token) !== undefined) problems.push(`cannot use ${name}: it ${headerComplaint(token)}`);
    else headers.Authorization = `Bearer ${token}`;
    return;
  }
}

/** What is written under `auth`, with its variables filled in; the secret is never shown. */
function createAuth(auth: AuthConfig, shop: Workshop, problems: string[]): AuthConfig {
  const fill = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : expandInto(shop, text, problems);
  const before = problems.length;
  const filled: AuthConfig = {
    ...auth,
    clientId: fill(auth.clientId),
    clientSecret: fill(auth.clientSecret),
    clientMetadataUrl: fill(auth.clientMetadataUrl),
    issuer: fill(auth.issuer),
    scopes: auth.scopes?.map((scope) => expandInto(shop, scope, problems)),
  };
  if (filled.clientSecret !== undefined) shop.secrets.add(filled.clientSecret);
  if (problems.length === before)
    problems.push(...authComplaints(filled).map(({ message }) => `has an auth that ${message}`));
  return filled;
}

/** Headers for all of the user's own servers; what a server has itself stays, and no imported one gets them. */
function addAuthHeaders(headers: Record<string, string>, shop: Workshop): void {
  if (shop.scope !== undefined) return;
  const taken = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  for (const [name, value] of Object.entries(shop.config.authHeaders)) {
    if (!taken.has(name.toLowerCase()) && headerComplaint(value) === undefined) headers[name] = value;
  }
}

function createHttp(written: WrittenServer, shop: Workshop, problems: string[]): HttpTransport {
  const { id, entry } = written;
  const headers = toDictionary<string>({});
  for (const [name, value] of Object.entries(entry.headers ?? {})) {
    const filled = expandInto(shop, value, problems);
    const wrong = headerComplaint(filled);
    if (wrong !== undefined) problems.push(`has a header ${name} that ${wrong}`);
    for (const secret of secretsOfHeader(filled)) if (!isReference(secret)) shop.secrets.add(secret);
    headers[name] = filled;
  }
  const before = problems.length;
  let url = expandInto(shop, entry.url ?? '', problems);
  const wrong = urlComplaint(url) ?? hostComplaint(url);
  for (const secret of hideInUrl(url).secrets) shop.secrets.add(secret);
  // A variable that is missing from the URL has been named already.
  if (wrong !== undefined && problems.length === before) problems.push(`has a url that ${wrong}`);
  if (wrong === undefined) url = moveUserIntoHeader(url, headers, shop);
  addAuthHeaders(headers, shop);
  addToken(id, headers, shop, problems);
  const auth = entry.auth && createAuth(entry.auth, shop, problems);
  return { type: entry.type === 'sse' ? 'sse' : 'http', url, headers, ...(auth && { auth }) };
}

/** What may be shown of an entry: as it was written, credentials masked, of env and headers only the names. */
export function showEntry(
  entry: ServerEntry,
  type: Transport['type'] = entry.command === undefined ? (entry.type === 'sse' ? 'sse' : 'http') : 'stdio',
): ShownTransport {
  if (type !== 'stdio') {
    const other = otherHostName(entry.url ?? '');
    const url = hideInUrl(hideDefaults(entry.url ?? '')).shown;
    const target = printable(other === undefined ? url : `${url} (host ${other})`);
    return { type, target, secrets: Object.keys(entry.headers ?? {}) };
  }
  const args = hideInArguments((entry.args ?? []).map(hideDefaults)).map((hidden) => hidden.shown);
  const target = [hideDefaults(entry.command ?? ''), ...args].map(quoteArgument).join(' ');
  return { type, target, secrets: Object.keys(entry.env ?? {}) };
}

/** The exact command that runs begins with the sandbox (S25). */
function showSandbox(shown: ShownTransport, transport: Transport): ShownTransport {
  if (transport.type !== 'stdio' || !transport.sandbox) return shown;
  const words = hideInArguments(transport.sandbox).map((hidden) => quoteArgument(hidden.shown));
  return { ...shown, target: [...words, shown.target].join(' ') };
}

/** Only what was written overrides: the shape fills absent fields of `parsed` with its own defaults. */
function onlyWritten<Settings extends object>(parsed: Settings, raw: unknown): Partial<Settings> {
  const written = Object.entries(parsed).filter(([key]) => isObject(raw) && Object.hasOwn(raw, key));
  return Object.fromEntries(written) as Partial<Settings>;
}

/** Without any setting a remote server has the default limit, and a local one has none (CONN-7). */
function rateLimitOf({ entry, raw }: WrittenServer, general: Config['rateLimit']): Server['rateLimit'] {
  const base = general === 'remote' ? entry.command === undefined && RateLimitConfig.parse({}) : general;
  const { rateLimit } = entry;
  return overrideRateLimit(base, rateLimit && onlyWritten(rateLimit, raw.rateLimit));
}

function summarize(problems: readonly string[]): string | undefined {
  return problems.length === 0 ? undefined : [...new Set(problems)].join('; ');
}

/** toolscout never serves itself through itself. */
function problemOfOwn(transport: Transport, { self, config, source }: Workshop): string | undefined {
  const { port, publicUrl } = config.http;
  return (
    self && ownLaunchProblem(transport, self, { port, publicUrl, config: isAbsolute(source) ? source : undefined })
  );
}

/** Makes one server out of its entry. What it cannot be used for yet stands in `problem` (CFG-4). */
export function createServer(written: WrittenServer, shop: Workshop): Server {
  const { id, entry, raw } = written;
  const { limits, rateLimit, retryPolicy } = shop.config;
  const problems: string[] = [];
  const transport =
    entry.command === undefined ? createHttp(written, shop, problems) : createStdio(written, shop, problems);
  const own = problems.length === 0 ? problemOfOwn(transport, shop) : undefined;
  if (own !== undefined) problems.push(own);
  if (id === OWN_NAME) problems.push('has the id "toolscout", which toolscout keeps for its own tools: rename it');
  return {
    id,
    title: entry.title,
    ...(entry.description !== undefined && { description: entry.description }),
    source: shop.source,
    scope: shop.scope,
    transport,
    shown: showSandbox(showEntry(entry, transport.type), transport),
    ...(shop.scope === 'project' && { review: reviewOf(entry, transport) }),
    digest: hashJson(transport as unknown as JsonValue),
    enabled: shop.config.enabled && (entry.enabled ?? true),
    problem: summarize(problems),
    tags: [...new Set(entry.tags)],
    ...(entry.capabilities && { capabilities: [...new Set(entry.capabilities)] }),
    ...(entry.eager && { eager: true }),
    ...(entry.autoApprove === undefined ? {} : { autoApproved: entry.autoApprove }),
    timeoutMs: entry.timeoutMs ?? limits.callTimeoutMs,
    totalTimeoutMs: entry.totalTimeoutMs ?? limits.callTotalMs,
    toolTimeoutsMs: toDictionary(entry.toolTimeoutsMs ?? {}),
    connectTimeoutMs: entry.connectTimeoutMs ?? limits.connectTimeoutMs,
    idleTimeoutMs: entry.idleTimeoutMs ?? (entry.eager ? 0 : limits.idleTimeoutMs),
    ...(entry.answers && { answers: entry.answers }),
    ...(entry.screenResults && { screenResults: entry.screenResults }),
    rateLimit: rateLimitOf(written, rateLimit),
    retry: { ...retryPolicy, ...onlyWritten(entry.retry ?? {}, raw.retry) },
  };
}
