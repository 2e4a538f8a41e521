import { hideDefaults, hideInUrl, type LoadedConfig } from '../../config/index.js';
import { isValuePattern } from '../../kernel/patterns/value-pattern.js';
import type { Config } from '../../model/config.js';
import type { Server } from '../../model/server.js';
import type { ServerView } from '../../catalog/views.js';

/** Of authentication only who may do what: neither keys nor their hashes. */
function showHttp({ auth, publicUrl, ...http }: Config['http']) {
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

function shownUrl(url: string): string {
  return hideInUrl(url).shown;
}

/** A pattern on values may spell out the value that nobody is to see. */
function showRedaction({ match, ...rule }: Config['redaction'][number]) {
  return { ...rule, match: [match].flat().map((entry) => (isValuePattern(entry) ? '/…/' : entry)) };
}

/** How a server is treated, by the names of the config, with the values that hold for it. */
function showServer(server: Server, entry: Config['servers'][string] | undefined) {
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
    timeout: server.timeoutMs,
    totalTimeout: server.totalTimeoutMs,
    toolTimeouts: server.toolTimeoutsMs,
    connectTimeout: server.connectTimeoutMs,
    idleTimeout: server.idleTimeoutMs,
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

/**
 * What is in force, every field of it, as it may be shown: no value of a variable, a header or a key is in it (CFG-4).
 * `views` say which servers wait for an approval.
 */
export function showConfig(
  { config, servers, path, source, secretsFile, warnings }: LoadedConfig,
  views: ReadonlyArray<Pick<ServerView, 'id' | 'knowledge' | 'problem'>> = [],
) {
  // Taken apart is what may hold a secret; everything else is shown as it is.
  const { authHeaders, ai, http, introspectionInputs, redaction, registry, servers: entries, ...plain } = config;
  const { apiKey, ...model } = ai;
  return {
    source: path ?? source,
    ...plain,
    // Only where it is; what it holds is never shown.
    envFile: secretsFile,
    servers: servers.map((server) =>
      showServer(asHeld(server, views), Object.hasOwn(entries, server.id) ? entries[server.id] : undefined),
    ),
    authHeaders: Object.keys(authHeaders),
    introspectionInputs: Object.keys(introspectionInputs),
    ai: { ...model, baseUrl: shownUrl(ai.baseUrl), apiKeySet: apiKey !== undefined },
    registry: { ...registry, url: shownUrl(registry.url) },
    redaction: redaction.map((rule) => showRedaction(rule)),
    http: showHttp(http),
    warnings,
  };
}
