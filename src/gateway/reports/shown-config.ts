import { hideDefaults, hideInUrl, type LoadedConfig } from '../../config/index.js';
import { isValuePattern } from '../../kernel/patterns/value-pattern.js';
import type { Problem } from '../../kernel/errors.js';
import { createSecretMask, MASK } from '../../kernel/secrets.js';
import type {
  Config,
  HttpAuth,
  RateLimitConfig,
  RedactionConfig,
  RetryConfig,
  ServerEntry,
} from '../../model/config.js';
import { mapSinkSecrets } from '../../model/audit-export.js';
import type { Server, ShownTransport } from '../../model/server.js';
import type { ServerView } from '../../catalog/views.js';

/** A server of the config as it may be shown: how it is treated, and of its credentials only the names. */
export interface ShownServer extends ShownTransport {
  readonly id: string;
  readonly title?: string;
  readonly description?: string;
  readonly enabled: boolean;
  /** Why it cannot be used although it is configured. */
  readonly problem?: string;
  readonly tags: readonly string[];
  readonly capabilities?: readonly string[];
  readonly cwd?: string;
  /** Names of the fields of `auth`. */
  readonly auth?: readonly string[];
  readonly eager: boolean;
  readonly autoApprove?: readonly string[];
  readonly timeoutMs: number;
  readonly totalTimeoutMs: number;
  readonly toolTimeoutsMs: Readonly<Record<string, number>>;
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly screenResults?: Config['screenResults'];
  readonly rateLimit: RateLimitConfig | false;
  readonly retry: RetryConfig;
}

/** What is shown of `http`: of authentication only who may do what. */
export interface ShownHttp extends Omit<Config['http'], 'auth'> {
  readonly auth?: {
    readonly keys: ReadonlyArray<Pick<HttpAuth['keys'][number], 'name' | 'scopes' | 'servers'>>;
    readonly oauth?: HttpAuth['oauth'];
  };
}

/** The configuration in force as it may be shown (CFG-4). */
export interface ShownConfig extends Omit<
  Config,
  'authHeaders' | 'ai' | 'confirm' | 'http' | 'introspectionInputs' | 'redaction' | 'servers' | 'envFile'
> {
  /** Where it came from: a path, `demo`, `library`. */
  readonly source: string;
  readonly envFile?: string;
  readonly servers: readonly ShownServer[];
  /** Names of the headers. */
  readonly authHeaders: readonly string[];
  /** Names of the tools that have inputs. */
  readonly introspectionInputs: readonly string[];
  readonly ai: Omit<Config['ai'], 'apiKey'> & { readonly apiKeySet: boolean };
  readonly confirm: Omit<Config['confirm'], 'secret'> & { readonly secretSet: boolean };
  readonly redaction: ReadonlyArray<Omit<RedactionConfig, 'match'> & { readonly match: readonly string[] }>;
  readonly http: ShownHttp;
  readonly warnings: readonly Problem[];
}

/** Of authentication only who may do what: neither keys nor their hashes. */
function showHttp({ auth, publicUrl, ...http }: Config['http']): ShownHttp {
  const shown = { ...http, ...(publicUrl !== undefined && { publicUrl: shownUrl(publicUrl) }) };
  if (auth === undefined) return shown;
  const { oauth } = auth;
  return {
    ...shown,
    auth: {
      keys: auth.keys.map(({ name, scopes, servers }) => ({ name, scopes, ...(servers && { servers }) })),
      ...(oauth && {
        oauth: {
          ...oauth,
          issuer: shownUrl(oauth.issuer),
          ...(oauth.jwksUri !== undefined && { jwksUri: shownUrl(oauth.jwksUri) }),
        },
      }),
    },
  };
}

function showConfirm({ secret, webhook, ...confirm }: Config['confirm']): ShownConfig['confirm'] {
  return {
    ...confirm,
    ...(webhook !== undefined && { webhook: shownUrl(webhook) }),
    secretSet: secret !== undefined,
  };
}

/** Of a sink neither its secret nor what its address may hold. */
function showAudit(audit: Config['audit']): Config['audit'] {
  const sinks = Object.entries(audit.export).map(([name, sink]) => [
    name,
    { ...mapSinkSecrets(sink, () => MASK), url: shownUrl(sink.url) },
  ]);
  return { export: Object.fromEntries(sinks) as Config['audit']['export'] };
}

function shownUrl(url: string): string {
  return hideInUrl(url).shown;
}

/** A pattern on values may contain the secret value itself. */
function showRedaction({ match, ...rule }: RedactionConfig): ShownConfig['redaction'][number] {
  return { ...rule, match: [match].flat().map((entry) => (isValuePattern(entry) ? '/…/' : entry)) };
}

/** How a server is treated, by the names of the config, with the values that hold for it. */
function showServer(server: Server, entry: ServerEntry | undefined): ShownServer {
  const { id, title, description, shown, enabled, problem, tags, capabilities, eager, autoApproved } = server;
  return {
    id,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...shown,
    ...(entry?.cwd !== undefined && { cwd: hideDefaults(entry.cwd) }),
    ...(entry?.auth && { auth: Object.keys(entry.auth) }),
    enabled,
    ...(problem !== undefined && { problem }),
    tags,
    ...(capabilities && { capabilities }),
    eager: eager ?? false,
    ...(autoApproved && { autoApprove: autoApproved }),
    timeoutMs: server.timeoutMs,
    totalTimeoutMs: server.totalTimeoutMs,
    toolTimeoutsMs: server.toolTimeoutsMs,
    connectTimeoutMs: server.connectTimeoutMs,
    idleTimeoutMs: server.idleTimeoutMs,
    ...(server.answers && { answers: server.answers }),
    ...(server.screenResults && { screenResults: server.screenResults }),
    rateLimit: server.rateLimit,
    retry: server.retry,
  };
}

/** A server that is held is neither enabled nor usable, whatever the config says. */
function asHeld(server: Server, views: ReadonlyArray<Pick<ServerView, 'id' | 'knowledge' | 'problem'>>): Server {
  const { knowledge, problem } = views.find(({ id }) => id === server.id) ?? {};
  if (knowledge !== 'off' || !server.enabled || server.problem !== undefined) return server;
  return { ...server, enabled: false, ...(problem !== undefined && { problem }) };
}

/** The same with every secret value replaced, at every depth; names of fields stay. */
function hideSecrets<T>(value: T, secrets: readonly string[]): T {
  const mask = createSecretMask();
  mask.add(secrets);
  const hide = (each: unknown): unknown => {
    if (typeof each === 'string') return mask.hide(each);
    if (Array.isArray(each)) return each.map(hide);
    if (typeof each !== 'object' || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([name, held]) => [name, hide(held)]));
  };
  return hide(value) as T;
}

/** Names with a mask for each value. */
function hideAll(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(values).map((name) => [name, MASK]));
}

/**
 * What is in force, every field of it, as it may be shown: no value of a variable, a header or a key is in it (CFG-4).
 * `views` say which servers wait for an approval.
 */
export function showConfig(
  { config, servers, path, source, secretsFile, secrets, warnings }: LoadedConfig,
  views: ReadonlyArray<Pick<ServerView, 'id' | 'knowledge' | 'problem'>> = [],
): ShownConfig {
  // Taken apart is what may hold a secret; everything else is shown as it is.
  const {
    authHeaders,
    ai,
    confirm,
    audit,
    http,
    introspectionInputs,
    redaction,
    registry,
    sandbox,
    store,
    servers: entries,
    ...plain
  } = config;
  const { apiKey, ...model } = ai;
  const shown = servers.map((server) =>
    showServer(asHeld(server, views), Object.hasOwn(entries, server.id) ? entries[server.id] : undefined),
  );
  return {
    source: path ?? source,
    ...plain,
    // Only where it is; what it holds is never shown.
    envFile: secretsFile,
    // People write what they like into a title, a description or an argument.
    servers: hideSecrets(shown, secrets),
    authHeaders: Object.keys(authHeaders),
    introspectionInputs: Object.keys(introspectionInputs),
    ai: { ...model, baseUrl: shownUrl(ai.baseUrl), apiKeySet: apiKey !== undefined },
    confirm: showConfirm(confirm),
    registry: { ...registry, url: shownUrl(registry.url) },
    redaction: redaction.map((rule) => showRedaction(rule)),
    sandbox: hideSecrets(sandbox, secrets),
    http: showHttp(http),
    audit: showAudit(audit),
    store: shownUrl(store),
    warnings: hideSecrets(warnings, secrets),
  };
}

/** The same in the form of a config, for comparison with the file: secrets are masked. */
export function maskConfig(loaded: LoadedConfig): Config {
  const { config, secrets } = loaded;
  const { ai, authHeaders, introspectionInputs, servers } = config;
  const { audit, confirm, http, redaction, registry } = showConfig(loaded);
  return {
    ...config,
    servers: hideSecrets(servers, secrets),
    authHeaders: hideAll(authHeaders),
    introspectionInputs: Object.fromEntries(Object.keys(introspectionInputs).map((tool) => [tool, {}])),
    ai: { ...ai, baseUrl: shownUrl(ai.baseUrl), ...(ai.apiKey !== undefined && { apiKey: MASK }) },
    confirm: {
      ...config.confirm,
      ...(confirm.webhook !== undefined && { webhook: confirm.webhook }),
      ...(config.confirm.secret !== undefined && { secret: MASK }),
    },
    registry,
    audit,
    store: shownUrl(config.store),
    redaction: redaction.map(({ match, ...rule }) => ({ ...rule, match: [...match] })),
    http: { ...http, auth: http.auth && { ...http.auth, keys: [...http.auth.keys] } },
  };
}
