import { dirname } from 'node:path';
import type { Registration } from '../approvals/index.js';
import { resolveConfig, type LoadedConfig, type Self } from '../config/index.js';
import { messageOf, type Problem } from '../kernel/errors.js';
import { hashJson } from '../kernel/hash.js';
import type { JsonObject } from '../kernel/json.js';
import type { Server } from '../model/server.js';

/** What surrounds registered servers: it is the user's, as their sandbox is. */
export interface AroundRegistered {
  readonly self?: Self;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The current folder. */
  readonly cwd: string;
}

/**
 * A server that is not configured. No variable and no token of the environment may reach it; a local one runs in the sandbox of the config,
 * and says nothing about it itself (A49).
 */
export function makeRegistered(
  id: string,
  { sandbox: _own, ...entry }: JsonObject,
  { config: all, path }: Pick<LoadedConfig, 'config' | 'path'>,
  { self, env, cwd }: AroundRegistered,
): Server {
  const { limits, rateLimit, retryPolicy, enabled, sandbox } = all;
  const { port, publicUrl } = all.http;
  const config = {
    enabled,
    limits,
    rateLimit,
    retryPolicy,
    sandbox,
    http: { port, publicUrl },
    servers: { [id]: entry },
  };
  const directory = path === undefined ? cwd : dirname(path);
  return resolveConfig(config, { source: 'registered', env: {}, sandboxEnv: env, directory, self }).servers[0]!;
}

/** Adds the registered servers; a configured server of the same id wins. */
export function withRegistered(
  loaded: LoadedConfig,
  registered: readonly Registration[],
  around: AroundRegistered,
): LoadedConfig {
  if (registered.length === 0) return loaded;
  const taken = new Set(loaded.servers.map(({ id }) => id));
  const servers: Server[] = [];
  const warnings: Problem[] = [];
  for (const { id, entry, origin } of registered) {
    if (taken.has(id)) continue;
    try {
      servers.push({ ...makeRegistered(id, entry, loaded, around), origin });
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
