import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAudit } from '../../src/audit/index.js';
import { resolveConfig } from '../../src/config/index.js';
import { createPool } from '../../src/connect/index.js';
import { createToolCache } from '../../src/discover/index.js';
import { createGateway, type Gateway, type ServerFacts } from '../../src/gateway/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import { ToolscoutError } from '../../src/kernel/errors.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { silentLog } from '../../src/kernel/log.js';
import { createSecretMask } from '../../src/kernel/secrets.js';
import type { ConfigInput } from '../../src/model/config.js';
import { createRedaction } from '../../src/redact/index.js';
import { createMemoryStore } from '../../src/store/index.js';

/** The recorded list of one real server. */
export interface RecordedServer {
  readonly id: string;
  readonly tools: readonly JsonObject[];
  /** What else it has, and said of itself. */
  readonly facts?: ServerFacts;
}

/** Every recorded server of a folder of `{meta, tools}` files. */
export function readRecordedServers(folder: string): RecordedServer[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .toSorted()
    .map((file) => {
      const { tools } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { tools: JsonObject[] };
      return { id: file.slice(0, -5), tools };
    });
}

/** A real gateway whose store already knows these lists and whose pool refuses to start anything. */
export async function openOfflineGateway(
  servers: readonly RecordedServer[],
  config: ConfigInput = {},
): Promise<{ gateway: Gateway; starts: () => number }> {
  const clock = systemClock;
  const log = silentLog;
  const entries = servers.map(({ id }) => [id, { command: 'never-started', args: [id] }] as const);
  const loaded = resolveConfig({ ...config, servers: Object.fromEntries(entries) }, { source: 'library', env: {} });
  const store = createMemoryStore({ clock });
  const cache = createToolCache({ store, clock, log, ttlMs: 86_400_000 });
  for (const server of loaded.servers) {
    const recorded = servers.find(({ id }) => id === server.id);
    await cache.write(server, { items: [...(recorded?.tools ?? [])], bad: [] }, recorded?.facts ?? {});
  }
  const redaction = createRedaction();
  let starts = 0;
  const pool = createPool({
    clock,
    log,
    healthIntervalMs: 0,
    breaker: { failures: 5, resetMs: 1000 },
    open: async () => {
      starts += 1;
      throw new ToolscoutError('SERVER_CONNECTION_ERROR', 'This gateway is offline.', { delivered: false });
    },
  });
  const gateway = createGateway({
    loaded,
    loadConfig: async () => loaded,
    store,
    clock,
    log,
    mask: createSecretMask(),
    redaction,
    random: Math.random,
    pool,
    cache,
    audit: createAudit({ store, clock, log, redact: redaction.stored }),
    learnAtStart: true,
  });
  return { gateway, starts: () => starts };
}
