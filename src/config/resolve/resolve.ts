import { basename, dirname, isAbsolute, resolve } from 'node:path';
import { ToolscoutError, type Problem } from '../../kernel/errors.js';
import { sha256 } from '../../kernel/hash.js';
import { canonicalJson, isObject, type JsonValue } from '../../kernel/json.js';
import { printable } from '../../kernel/text.js';
import { Config, READ_ONCE, type ServerEntry } from '../../model/config.js';
import type { Server, ServerScope } from '../../model/server.js';
import type { Prompt } from '../../model/source.js';
import { createServer, expandInto, noteSecretsIn, type Workshop } from './create-server.js';
import { decodeComponent, hideInUrl, secretsOfHeader } from '../secrets/credentials.js';
import { readEnvironment, type Environment, type Variables } from '../environment.js';
import type { Self } from './own-entry.js';
import { joinPath, problemAt, ROOT } from '../read/path.js';
import { toDictionary } from '../check/plain-data.js';
import { NO_SOURCES, type ImportedSources } from './imported-sources.js';
import { entryOf, rulesFor } from './merge-sources.js';
import type { PendingConfig } from '../review/trust.js';
import { isStore, passwordsOfStore, STORE_EXPECTED } from '../check/check-store.js';
import { checkConfig } from '../check/validate.js';
import { expandAudit } from './expand-audit.js';

/** A config that holds: every field has a value, every server is made. */
export interface LoadedConfig {
  /** Entries of `servers` are in it as written: never show it. */
  readonly config: Config;
  readonly servers: Server[];
  /** The file it was read from, if it was read from one. */
  readonly path?: string;
  /** Where it came from, for people: a path, `demo`, `library`. */
  readonly source: string;
  /** Changes when a field changes, or an environment variable that a field uses. */
  readonly hash: string;
  /** Files of clients that servers are imported from, whether they are there or not. */
  readonly sourceFiles: readonly string[];
  /** Files of `sourceFiles` that cannot be read now; what they held before stays in force, for the reason given. */
  readonly keptSources: readonly Problem[];
  /** What deserves a look but stops nothing. */
  readonly warnings: Problem[];
  /** Every value that must never be shown. */
  readonly secrets: string[];
  /** The file with secrets whose variables it uses, whether it is there or not. */
  readonly secretsFile?: string;
  /** A config of the current folder that is not used, because the user neither named nor approved it. */
  readonly pending?: PendingConfig;
}

/** Where a raw config comes from and what surrounds it. */
export interface ResolveOptions {
  readonly source: string;
  readonly env: Variables;
  /** The variables of the sandbox, where the servers are given none. */
  readonly sandboxEnv?: Variables;
  /** Where a relative `cwd` of a server starts: the directory of the config file. */
  readonly directory?: string;
  /** The servers of its `sources`, which the caller has read. */
  readonly imported?: ImportedSources;
  /** Whose servers they are, when they are not the user's own. */
  readonly scope?: ServerScope;
  /** How toolscout itself is started and reached: it is never a server of its own. */
  readonly self?: Self;
}

/** Shorter values are too common to be hidden without destroying ordinary text. */
export const MIN_SECRET = 6;

/** The error that lists all problems of a config, one a line. */
export function configurationError(source: string, problems: readonly Problem[]): ToolscoutError {
  const lines = problems.map((problem) => `${problem.path}: ${problem.message}`);
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  return new ToolscoutError('CONFIGURATION_ERROR', [`The config (${source}) has ${count}:`, ...lines].join('\n'), {
    problems,
    ...(isAbsolute(source) && { file: source }),
  });
}

/** The environment gives the lifetime of the cache when the config does not. */
function withCacheTtl(fields: Record<string, unknown>, environment: Environment): Record<string, unknown> {
  const { cacheTtlMs: ttlMs } = environment;
  const { cache } = fields;
  if (ttlMs === undefined || (isObject(cache) && cache.ttlMs !== undefined)) return fields;
  return { ...fields, cache: isObject(cache) ? { ...cache, ttlMs } : { enabled: cache ?? true, ttlMs } };
}

/** The environment says where state is kept when the config does not. */
function withStore(fields: Record<string, unknown>, { store }: Environment): Record<string, unknown> {
  return store === undefined || fields.store !== undefined ? fields : { ...fields, store };
}

/** The address of a database expands too. One that cannot is a problem of its own: another store must not be used in its place. */
function expandStore(shop: Omit<Workshop, 'config'>, store: string): string {
  const problems: string[] = [];
  const filled = expandInto(shop, store, problems);
  for (const password of passwordsOfStore(filled)) {
    for (const form of [password, decodeComponent(password)]) shop.secrets.add(form);
  }
  const found = problems.map((problem) => problemAt('store', problem));
  if (found.length === 0 && !isStore(filled)) found.push(problemAt('store', STORE_EXPECTED));
  if (found.length > 0) throw configurationError(shop.source, found);
  return filled;
}

/** Headers for every discovery expand like those of a server; one that cannot is left out, never sent empty. */
function expandAuthHeaders(shop: Omit<Workshop, 'config'>, headers: Config['authHeaders'], warnings: Problem[]) {
  const expanded = toDictionary<string>({});
  for (const [name, value] of Object.entries(headers)) {
    const problems: string[] = [];
    const filled = expandInto(shop, value, problems);
    for (const secret of secretsOfHeader(filled)) shop.secrets.add(secret);
    if (problems.length === 0) expanded[name] = filled;
    else warnings.push(problemAt(joinPath('authHeaders', name), `${problems.join('; ')}; this header is left out`));
  }
  return expanded;
}

/** The key of a model expands too; without it prediction is off rather than tried with an empty key. */
function expandAi(shop: Omit<Workshop, 'config'>, ai: Config['ai'], warnings: Problem[]): Config['ai'] {
  if (ai.apiKey === undefined) return ai;
  const problems: string[] = [];
  const apiKey = expandInto(shop, ai.apiKey, problems);
  shop.secrets.add(apiKey);
  if (problems.length === 0) return { ...ai, apiKey };
  warnings.push(problemAt('ai.apiKey', `${problems.join('; ')}; prediction is off`));
  return { ...ai, enabled: false, apiKey: undefined };
}

/** Shorter keys can be guessed. */
const MIN_KEY = 16;

/** Keys become their hashes at once: nothing that is held later can show them. One that cannot be read opens nothing. */
function expandHttp(shop: Omit<Workshop, 'config'>, http: Config['http'], warnings: Problem[]): Config['http'] {
  if (http.auth === undefined) return http;
  const keys = http.auth.keys.flatMap(({ key, hash, ...rest }, index) => {
    if (key === undefined) return [{ ...rest, hash: hash?.toLowerCase().replace('sha256:', '') }];
    const problems: string[] = [];
    const filled = expandInto(shop, key, problems);
    shop.secrets.add(filled);
    if (problems.length === 0 && filled.length < MIN_KEY) problems.push(`has fewer than ${MIN_KEY} characters`);
    if (problems.length === 0) return [{ ...rest, hash: sha256(filled) }];
    warnings.push(problemAt(`http.auth.keys[${index}].key`, `${problems.join('; ')}; this key is not used`));
    return [];
  });
  return { ...http, auth: { ...http.auth, keys } };
}

/** The secret of the webhook expands too; without it only a person is asked. */
function expandConfirm(
  shop: Omit<Workshop, 'config'>,
  confirm: Config['confirm'],
  warnings: Problem[],
): Config['confirm'] {
  if (confirm.secret === undefined) return confirm;
  const problems: string[] = [];
  const secret = expandInto(shop, confirm.secret, problems);
  shop.secrets.add(secret);
  if (problems.length === 0 && secret.length < MIN_KEY) problems.push(`has fewer than ${MIN_KEY} characters`);
  if (problems.length === 0) return { ...confirm, secret };
  warnings.push(problemAt('confirm.secret', `${problems.join('; ')}; the webhook is not asked`));
  return { ...confirm, secret: undefined };
}

function hashOf(fields: Record<string, unknown>, bench: Bench, imported: ImportedSources): string {
  const { used, env } = bench;
  const variables = [...used].toSorted().map((name) => [name, Object.hasOwn(env, name) ? (env[name] ?? null) : null]);
  const servers = imported.servers as unknown as JsonValue;
  return sha256(canonicalJson([fields as JsonValue, variables, ...(imported.servers.length > 0 ? [servers] : [])]));
}

type Bench = Omit<Workshop, 'config'>;

/** A variable that stands for something a client would have asked for is named as what it is. */
function withPrompts(server: Server, prompts: readonly Prompt[]): Server {
  let problem = server.problem;
  for (const { variable, text } of prompts) {
    problem = problem?.replace(`variable ${variable},`, () => `variable ${variable} (${printable(text)}),`);
  }
  return { ...server, problem };
}

/** Makes the servers of other clients; they expand and fail exactly as our own do (CFG-4). */
function createImported(imported: ImportedSources, bench: Bench, config: Config, warnings: Problem[]): Server[] {
  return imported.servers.map(({ server: found, problem }) => {
    const { id, file, scope, prompts, client } = found;
    const entry = entryOf(found);
    const shop = { ...bench, config, source: file, scope, directory: dirname(file) };
    const made = withPrompts(createServer({ id, entry, raw: entry }, shop), prompts);
    const problems = [made.problem, problem].filter((each) => each !== undefined);
    const server = problems.length === 0 ? made : { ...made, problem: problems.join('; ') };
    if (server.problem !== undefined) warnings.push(problemAt(joinPath('sources', client, id), server.problem));
    return server;
  });
}

/**
 * Turns a raw config into a loaded one.
 *
 * @throws ToolscoutError `CONFIGURATION_ERROR` whose `problems` are all there are (CFG-3).
 */
export function resolveConfig(raw: unknown, options: ResolveOptions): LoadedConfig {
  const { source, env, sandboxEnv, directory, scope } = options;
  const checked = checkConfig(raw, basename(source).startsWith('anygpt.config.'));
  if (checked.problems.length > 0) throw configurationError(source, checked.problems);

  const environment = readEnvironment(env);
  const parsed = Config.parse(withStore(withCacheTtl(checked.fields, environment), environment), READ_ONCE);
  const warnings = [...checked.warnings, ...environment.problems];
  const secrets = new Set<string>();
  const used = new Set<string>(['CCOS_MCP_CACHE_TTL', 'TOOLSCOUT_STORE']);
  const bench = { source, env, sandboxEnv, directory, scope, secrets, used, self: options.self };
  // Registered servers run in it too, and are made elsewhere.
  if (parsed.sandbox !== false) {
    noteSecretsIn(
      parsed.sandbox.command.map((word) => expandInto(bench, word, [])),
      bench,
    );
  }
  const imported = options.imported ?? NO_SOURCES;
  const config: Config = {
    ...parsed,
    servers: toDictionary(parsed.servers),
    // Rules of the config come first, so that they decide where both say something.
    toolRules: [...parsed.toolRules, ...imported.servers.flatMap(({ server }) => rulesFor(server))],
    authHeaders: expandAuthHeaders(bench, parsed.authHeaders, warnings),
    ai: expandAi(bench, parsed.ai, warnings),
    http: expandHttp(bench, parsed.http, warnings),
    confirm: expandConfirm(bench, parsed.confirm, warnings),
    audit: expandAudit(parsed.audit, (text, problems) => expandInto(bench, text, problems), { secrets, warnings }),
    store: expandStore(bench, parsed.store),
    exportDirectory: resolve(directory ?? '', parsed.exportDirectory),
    skills: { directories: parsed.skills.directories.map((path) => resolve(directory ?? '', path)) },
  };

  const sinks = Object.values(config.audit.export);
  for (const url of [
    config.ai.baseUrl,
    config.confirm.webhook,
    config.registry.url,
    ...sinks.map((sink) => sink.url),
  ]) {
    for (const secret of hideInUrl(url ?? '').secrets) secrets.add(secret);
  }

  const written = (checked.fields.servers ?? {}) as Record<string, ServerEntry>;
  const servers = Object.entries(config.servers).map(([id, entry]) =>
    createServer({ id, entry, raw: written[id] ?? entry }, { ...bench, config }),
  );
  for (const server of servers) {
    if (server.problem !== undefined) warnings.push(problemAt(joinPath(ROOT, 'servers', server.id), server.problem));
  }
  warnings.push(...imported.warnings);
  servers.push(...createImported(imported, bench, config, warnings));
  return {
    config,
    servers,
    source,
    hash: hashOf(checked.fields, bench, imported),
    sourceFiles: imported.files,
    keptSources: imported.kept,
    warnings,
    secrets: [...secrets].filter((secret) => secret.length >= MIN_SECRET),
  };
}
