import type { Registration } from '../approvals/index.js';
import { resolveConfig, type LoadedConfig, type Self } from '../config/index.js';
import { messageOf, type Problem } from '../kernel/errors.js';
import { hashJson } from '../kernel/hash.js';
import type { JsonObject } from '../kernel/json.js';
import type { Config } from '../model/config.js';
import type { Server } from '../model/server.js';

/** A server that is not configured. No variable and no token of the environment may reach it. */
export function makeRegistered(
  id: string,
  entry: JsonObject,
  { limits, rateLimit, retryPolicy, enabled, http }: Config,
  self?: Self,
): Server {
  const { port, publicUrl } = http;
  const config = { enabled, limits, rateLimit, retryPolicy, http: { port, publicUrl }, servers: { [id]: entry } };
  return resolveConfig(config, { source: 'registered', env: {}, self }).servers[0]!;
}

/** Adds the registered servers; a configured server of the same id wins. */
export function withRegistered(loaded: LoadedConfig, registered: readonly Registration[], self?: Self): LoadedConfig {
  if (registered.length === 0) return loaded;
  const taken = new Set(loaded.servers.map(({ id }) => id));
  const servers: Server[] = [];
  const warnings: Problem[] = [];
  for (const { id, entry, origin } of registered) {
    if (taken.has(id)) continue;
    try {
      servers.push({ ...makeRegistered(id, entry, loaded.config, self), origin });
    } catch (thrown) {
      warnings.push({ path: `registered server ${id}`, message: messageOf(thrown) });
    }
  }
  return {
    ...loaded,
    servers: [...loaded.servers, ...servers],
    warnings: [...loaded.warnings, ...warnings],
    hash: hashJson([loaded.hash, registered.map(({ id, entry }) => [id, entry])]),
  };
}
