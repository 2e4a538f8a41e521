import type { Gateway } from '../gateway/index.js';
import type { Config } from '../model/config.js';

/** Of authentication only who may do what: neither keys nor their hashes. */
function shownHttp({ auth, ...http }: Config['http']): object {
  if (auth === undefined) return http;
  const keys = auth.keys.map(({ name, scopes, servers }) => ({ name, scopes, ...(servers ? { servers } : {}) }));
  return { ...http, auth: { keys, ...(auth.oauth ? { oauth: auth.oauth } : {}) } };
}

/** What is in force, as it may be shown: no value of a variable, a header or a key is in it. */
export function showConfig({ config, servers, path, source, warnings }: ReturnType<Gateway['config']>): object {
  const { toolRules, cache, limits, http, maxParallelDiscoveries, approval, rateLimit, retryPolicy } = config;
  return {
    source: path ?? source,
    servers: servers.map(({ id, shown, enabled, problem, tags }) => ({ id, ...shown, enabled, problem, tags })),
    toolRules,
    cache,
    limits,
    http: shownHttp(http),
    maxParallelDiscoveries,
    approval,
    rateLimit,
    retryPolicy,
    warnings,
  };
}
