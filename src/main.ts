import { homedir, tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { createAudit, redactArguments } from './audit/index.js';
import { loadConfig, readEnvironment, resolveWithSources, writeServer, type LoadedConfig } from './config/index.js';
import { createChildKeeper, createLimiter, createPool, createSignIns, openUpstream, runRaw } from './connect/index.js';
import { demoConfig, isDemoInstalled } from './demo.js';
import { createToolCache } from './discover/index.js';
import { createGateway, type Gateway } from './gateway/index.js';
import { createVerdictMemory } from './gateway/verdicts.js';
import { systemClock, type Clock } from './kernel/clock.js';
import { ToolscoutError, type Problem } from './kernel/errors.js';
import { createLog, silentLog, type Log, type LogLevel } from './kernel/log.js';
import { canonicalJson, type JsonValue } from './kernel/json.js';
import { createSecretMask, type SecretMask } from './kernel/secrets.js';
import type { Config, ConfigInput } from './model/config.js';
import { EVERY_CAPABILITY } from './model/host.js';
import type { Store } from './model/store.js';
import { compileRules } from './normalize/index.js';
import { createVectorSource } from './search/index.js';
import { createMemoryStore, openSqliteStore, stateDirectory } from './store/index.js';
import { openRegistryClient, openServerRegistry } from './registries.js';
import { placeOf } from './place.js';
import { VERSION } from './version.js';
import { watchFiles } from './watch-files.js';

/** How toolscout is opened. */
export interface ToolscoutOptions {
  /** A configuration, or the path of a config file; by default one is looked for (CFG-1). */
  readonly config?: ConfigInput | string;
  /** Use the demo servers instead of a config. */
  readonly demo?: boolean;
  /** Where state is kept (STORE-2); `memory` keeps nothing. */
  readonly stateDir?: string;
  /** Say what happens, one JSON line an event, on stderr; `silent` by default. */
  readonly logLevel?: LogLevel;
  /** Learn servers never seen before at once, in the background (CONN-2); true by default. */
  readonly learnAtStart?: boolean;
  /** Watch the config file and reload when it changes (CFG-6). */
  readonly watch?: boolean;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** The environment toolscout was started in, as far as it matters. */
interface Surroundings {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stateDir: string;
}

function surroundings(options: ToolscoutOptions): Surroundings {
  const env = options.env ?? process.env;
  const home = env['HOME'] ?? homedir();
  const cwd = options.cwd ?? process.cwd();
  return {
    cwd,
    home,
    env,
    stateDir: resolve(
      cwd,
      stateDirectory({
        platform: process.platform,
        home,
        env,
        // Nothing is kept then, but the demo's memory still needs a place to write to.
        override: options.stateDir === 'memory' ? tmpdir() : options.stateDir,
      }),
    ),
  };
}

/** Fields that look as if they did something, said to do nothing yet where somebody relies on them. */
function idleFields({ approval, redaction }: Config): Problem[] {
  const idle = {
    approval: approval === 'manual',
    redaction: redaction.length > 0,
  };
  return Object.entries(idle)
    .filter(([, relied]) => relied)
    .map(([path]) => ({ path, message: 'is accepted, but this version of toolscout does not act on it' }));
}

/** Adds what only those rooms can tell that do the work: rules that can never decide (PAT-4), fields without effect. */
function withWarnings(loaded: LoadedConfig): LoadedConfig {
  const { config, warnings } = loaded;
  return { ...loaded, warnings: [...warnings, ...compileRules(config.toolRules).warnings, ...idleFields(config)] };
}

/**
 * Servers of a project's file were perhaps not written by this user: they are pending, and pending never starts
 * (SEC-9).
 */
function holdBack(loaded: LoadedConfig): LoadedConfig {
  const held = 'is pending, because a file of the project names it; copy it to "servers" to trust it';
  const servers = loaded.servers.map((server) =>
    server.scope === 'project' ? { ...server, problem: [held, server.problem].filter(Boolean).join('; ') } : server,
  );
  return { ...loaded, servers };
}

/** Reads the configuration that these options mean; the same again for every reload. */
export function configReader(options: ToolscoutOptions): () => Promise<LoadedConfig> {
  const read = plainReader(options);
  return async () => holdBack(withWarnings(await read()));
}

function plainReader(options: ToolscoutOptions): () => Promise<LoadedConfig> {
  const { config, demo } = options;
  const { cwd, home, env, stateDir } = surroundings(options);
  const demonstration = (): ConfigInput => demoConfig({ directory: cwd, stateDirectory: stateDir });
  const place = placeOf({ home, env, project: cwd });
  if (typeof config === 'object') {
    return () => resolveWithSources(config, { source: 'library', env, directory: cwd, place });
  }
  if (demo) return () => resolveWithSources(demonstration(), { source: 'demo', env, directory: cwd, place });
  return () =>
    loadConfig({
      file: config,
      cwd,
      home,
      env,
      place,
      xdgConfigHome: readEnvironment(env).configHome,
      fallback: isDemoInstalled() ? { config: demonstration(), source: 'demo' } : { config: {}, source: 'defaults' },
    });
}

async function openStore(kind: string, directory: string, clock: Clock, log: Log): Promise<Store> {
  if (kind === 'memory') return createMemoryStore({ clock });
  if (kind === 'sqlite') return openSqliteStore({ directory, clock, log });
  throw new ToolscoutError('CONFIGURATION_ERROR', 'store: expected "sqlite" or "memory".', {
    problems: [{ path: 'store', message: 'expected "sqlite" or "memory"' }],
  });
}

/** A value without the secrets in use: they are hidden in its JSON, whose escapes the mask knows. */
function hideSecrets(value: JsonValue, mask: SecretMask): JsonValue {
  return JSON.parse(mask.hide(JSON.stringify(value))) as JsonValue;
}

/** Opens toolscout: the whole gateway as one object with its verbs. Close it when done. */
export async function createToolscout(options: ToolscoutOptions = {}): Promise<Gateway> {
  const { cwd, env, stateDir } = surroundings(options);
  const clock = systemClock;
  const mask = createSecretMask();
  const log =
    options.logLevel === undefined || options.logLevel === 'silent'
      ? silentLog
      : createLog({
          level: options.logLevel,
          now: clock.now,
          mask: (text) => mask.hide(text),
          write: (line) => process.stderr.write(line),
        });

  const read = configReader(options);
  const loaded = await read();
  const { limits, cache: caching } = loaded.config;
  const store = await openStore(options.stateDir === 'memory' ? 'memory' : loaded.config.store, stateDir, clock, log);

  const children = createChildKeeper({ clock, log });
  const limiter = createLimiter({ clock });
  const verdicts = createVerdictMemory(store, log);
  const signIns = createSignIns({ store, clock, log, mask });
  const pool = createPool({
    clock,
    log,
    limiter,
    hide: (text) => mask.hide(text),
    healthIntervalMs: limits.healthIntervalMs,
    breaker: { failures: limits.breakerFailures, resetMs: limits.breakerResetMs },
    open: (server, signal, lane) =>
      openUpstream(server, {
        clock,
        log,
        children,
        verdicts,
        signIns,
        signal,
        lane,
        baseEnv: env,
        clientInfo: { name: 'toolscout', version: VERSION },
        onStderr: (id, chunk) => pool.appendStderr(id, chunk),
        onNoise: (id) => pool.noteNoise(id),
      }),
  });

  const gateway = createGateway({
    loaded,
    loadConfig: read,
    store,
    clock,
    log,
    mask,
    random: Math.random,
    pool,
    limiter,
    signIns,
    cache: createToolCache({
      store: caching.enabled ? store : createMemoryStore({ clock }),
      clock,
      log,
      ttlMs: caching.ttl * 1000,
      // Servers list more to a client that can do more, so a list belongs to what was declared.
      capabilities: canonicalJson(EVERY_CAPABILITY),
    }),
    vectors: createVectorSource((reason) => log.warn('search.vectors', { reason })),
    audit: createAudit({ store, clock, log, redact: (value) => hideSecrets(redactArguments(value), mask) }),
    openRegistry: (registry) => openRegistryClient(registry, { clock, log, store, mask, cwd, env }),
    openServerRegistry: (sources) => openServerRegistry(sources, { clock, log, store, mask, cwd, env }),
    writeServer: (id, entry, path) => writeServer(id, entry, { path, cwd }),
    rawRun: (server, raw) => runRaw(server, { clock, children, baseEnv: env }, raw),
    fetch,
    learnAtStart: options.learnAtStart ?? true,
  });

  const watcher = options.watch ? watchFiles({ gateway, read, clock, log }) : undefined;

  const shutDown = async (how: Parameters<Gateway['close']>[0]): Promise<void> => {
    watcher?.close();
    try {
      await gateway.close(how);
    } finally {
      await children.closeAll();
    }
  };
  let closed: Promise<void> | undefined;
  return { ...gateway, close: (how) => (closed ??= shutDown(how)) };
}
