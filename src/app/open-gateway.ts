import { tmpdir } from 'node:os';
import { createApprovals, createPromotion, createRegistrations, originOf, readDoubt } from '../approvals/index.js';
import { pushAudit } from './audit-push.js';
import { openLock } from './lock.js';
import { createAudit, type Audit } from '../audit/index.js';
import {
  createSourceMemory,
  isOwnAddress,
  keepApproved,
  loadConfig,
  pendingNotice,
  readEnvironment,
  resolveWithSources,
  userConfigStem,
  type ImportSources,
  type LoadedConfig,
} from '../config/index.js';
import {
  createChildKeeper,
  createPool,
  createSignIns,
  missingCommand,
  openUpstream,
  runRaw,
  type ConnectionKey,
  type Tap,
} from '../connect/index.js';
import { demoConfig, isDemoInstalled } from './demo.js';
import { createToolCache } from '../discover/index.js';
import { fileNameOf } from '../export/file-name.js';
import { createGateway, examineStore, type Finding, type Gateway } from '../gateway/index.js';
import { joinReplicas } from '../catalog/replicas.js';
import { createEraMemory } from '../catalog/era-memory.js';
import { openAskingMemory } from '../catalog/asking-memory.js';
import { systemClock } from '../kernel/clock.js';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import { silentLog, type Log, type LogLevel } from '../kernel/log.js';
import { canonicalJson } from '../kernel/json.js';
import { sha256 } from '../kernel/hash.js';
import { createLineage, VIA_VARIABLE } from '../protocol/lineage.js';
import { createSecretMask } from '../kernel/secrets.js';
import type { Config, ConfigInput } from '../model/config.js';
import type { Server } from '../model/server.js';
import { EVERY_CAPABILITY } from '../model/host.js';
import type { Store } from '../model/store.js';
import type { Upstream } from '../model/upstream.js';
import { judgeConfig } from './judge-config.js';
import { createRedaction } from '../redact/index.js';
import { createKnowledgeSource, type KnowledgeSource } from '../search/index.js';
import { createUnsavedFlag, openSqliteStore, type UnsavedFlag } from '../store/index.js';
import { openStore } from './open-store.js';
import { createLabelFile } from './label-file.js';
import { changesOf } from './config-changes.js';
import { openRegistryClient, openServerRegistry } from './registries.js';
import { makeRegistered, withRegistered } from './registered-servers.js';
import { placeOf } from './client-environment.js';
import { homeOf, stateDirectoryOf } from './state-place.js';
import { openProcessLog } from './process-log.js';
import { createRevokedKeys } from './revoked-keys.js';
import { VERSION } from '../kernel/version.js';
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
  /** Told in plain words what a person must know even where nothing is logged: that a damaged store was replaced. */
  readonly onNotice?: (notice: string, about: 'config' | 'store') => void;
  /** Learn servers never seen before at once, in the background (CONN-2); true by default. */
  readonly learnAtStart?: boolean;
  /** Read lists that are too old again before they are used, for as long as a search waits; for a process that ends soon. */
  readonly refreshFirst?: boolean;
  /** With `approval: lock`: use the servers as if there were no lock, to write it again (SEC-10). */
  readonly locking?: boolean;
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
  const cwd = options.cwd ?? process.cwd();
  // Nothing is kept then, but the demo's memory still needs a place to write to.
  const stateDir = options.stateDir === 'memory' ? tmpdir() : options.stateDir;
  return { cwd, home: homeOf(env), env, stateDir: stateDirectoryOf({ cwd, env, stateDir }) };
}

/** Reads the configuration that these options mean; the same again for every reload. */
export function configReader(options: ToolscoutOptions): () => Promise<LoadedConfig> {
  const read = plainReader(options);
  return async () => judgeConfig(await read());
}

/** The importers are loaded only when a config has sources. */
const importSources: ImportSources = async (sources, options) =>
  (await import('../clients/import-sources.js')).importSources(sources, options);

function plainReader(options: ToolscoutOptions): () => Promise<LoadedConfig> {
  const { config, demo } = options;
  const { cwd, home, env, stateDir } = surroundings(options);
  const demonstration = (): ConfigInput => demoConfig({ directory: cwd, stateDirectory: stateDir });
  const place = placeOf({ home, env, project: cwd });
  const memory = createSourceMemory(systemClock);
  if (typeof config === 'object') {
    return () => resolveWithSources(config, { source: 'library', env, directory: cwd, place, importSources, memory });
  }
  if (demo)
    return () =>
      resolveWithSources(demonstration(), {
        source: 'demo',
        env,
        directory: cwd,
        place,
        importSources,
        application: false,
      });
  return () =>
    loadConfig({
      file: config,
      cwd,
      home,
      env,
      place,
      importSources,
      memory,
      xdgConfigHome: readEnvironment(env).configHome,
      stateDirectory: options.stateDir === 'memory' ? undefined : stateDir,
      fallback: () =>
        isDemoInstalled() ? { config: demonstration(), source: 'demo' } : { config: {}, source: 'defaults' },
    });
}

/**
 * Looks at the store alone, for when the configuration cannot be read.
 *
 * @throws ToolscoutError `STORE_ERROR` when it cannot be opened.
 */
export async function checkStore(options: Pick<ToolscoutOptions, 'stateDir' | 'env'>): Promise<Finding[]> {
  const kind = options.stateDir === 'memory' ? 'memory' : 'sqlite';
  const store = await openStore(kind, {
    directory: surroundings(options).stateDir,
    env: {},
    mask: createSecretMask(),
    clock: systemClock,
    log: silentLog,
  });
  try {
    return await examineStore({ store, clock: systemClock, hide: (text) => text, doubt: await readDoubt(store) });
  } finally {
    await store.close();
  }
}

/**
 * Records an administrative act that needs no gateway. The store is opened before `act` runs, so that an act that cannot be recorded is
 * not done.
 *
 * @throws ToolscoutError `STORE_ERROR` when the store cannot be opened.
 */
export async function recordAct(
  directory: string,
  record: Parameters<Audit['recordNow']>[0],
  act?: () => Promise<void>,
): Promise<void> {
  const log = silentLog;
  const store = await openSqliteStore({ directory, clock: systemClock, log });
  const audit = createAudit({ store, clock: systemClock, log, redact: (value) => value });
  try {
    await act?.();
    await audit.recordNow(record);
  } finally {
    await audit.close();
    await store.close();
  }
}

/**
 * Forgets every list, since one of them is older than a quarantine that could not be stored: the servers are asked again
 * before they are used (A40). Answers whether that was possible.
 */
async function forgetLists(store: Store, flag: UnsavedFlag, log: Log): Promise<boolean> {
  try {
    await store.clear('tools');
    flag.lower();
    return true;
  } catch (thrown) {
    log.warn('cache.distrusted', { reason: messageOf(thrown) });
    return false;
  }
}

/** Opens the whole gateway, for our own fronts; programs get `createToolscout`. Gateways of one process may share `knowledge`. Close it when done. */
export async function openGateway(options: ToolscoutOptions = {}, knowledge?: KnowledgeSource): Promise<Gateway> {
  const { cwd, env, home, stateDir } = surroundings(options);
  const clock = systemClock;
  const mask = createSecretMask();
  const redaction = createRedaction({ hide: (text) => mask.hide(text) });
  const log = openProcessLog(process, options.logLevel ?? 'silent', { mask, redact: redaction.logged });

  const readWritten = configReader(options);
  const written = await readWritten();
  if (written.pending) options.onNotice?.(pendingNotice(written.pending), 'config');
  const kind = options.stateDir === 'memory' ? 'memory' : written.config.store;
  const notify = (notice: string): void => options.onNotice?.(notice, 'store');
  const store = await openStore(kind, { directory: stateDir, env, mask, clock, log, notify });
  const flag = kind === 'memory' ? undefined : createUnsavedFlag(stateDir, log);
  const areListsTrusted = !flag?.isRaised() || (await forgetLists(store, flag, log));
  const registrations = createRegistrations({ store });
  const { self } = placeOf({ home, env });
  const lock = openLock({ cwd, home, env, hide: (text) => mask.hide(text), config: written.path });
  const revoked = kind === 'memory' || kind === 'sqlite' ? undefined : createRevokedKeys({ store, clock, log });
  const complete = async (next: LoadedConfig): Promise<LoadedConfig> => {
    const admitted = revoked ? await revoked.apply(next) : next;
    return lock.apply(withRegistered(admitted, await registrations.list(), { self, env, cwd }), options.locking);
  };
  const read = async (): Promise<LoadedConfig> => complete(await readWritten());
  const loaded = await complete(written);
  const lineage = createLineage({
    clock,
    configuration: written.path && sha256(JSON.stringify([self?.hostname, written.path])).slice(0, 16),
    inherited: readEnvironment(env).via,
  });
  const baseEnv = { ...env, [VIA_VARIABLE]: lineage.variable() };
  const approvals = createApprovals({ store, clock, log, flag, lock: lock.gate });
  // The introduction to hosts names every usable server, so the approvals must be read by then.
  if (loaded.servers.some((server) => originOf(server) !== 'user')) await approvals.load();

  /** The config as it is now: what a reload may change is asked for when it is needed (CFG-6). */
  const inForce = (): Config => gateway.internal.loaded().config;
  const children = createChildKeeper({ clock, log });
  const verdicts = createEraMemory(store, log);
  const signIns = createSignIns({ store, clock, log, mask });
  const openServer = (server: Server, signal: AbortSignal, key?: ConnectionKey, tap?: Tap): Promise<Upstream> =>
    openUpstream(server, {
      ...(tap && { tap }),
      clock,
      log,
      children,
      verdicts,
      signIns,
      signal,
      key,
      screen: (id) => redaction.screen(id),
      baseEnv,
      clientInfo: { name: 'toolscout', version: VERSION },
      lineage,
      onStderr: (id, chunk) => pool.appendStderr(id, chunk),
      onNoise: (id) => pool.noteNoise(id),
      onQuestion: () => pool.noteQuestion(server),
      hideForms: (text) => String(redaction.stored(text)),
    });
  // Only a database is shared by processes that do not share a machine.
  const replicas = /^postgres/i.test(kind) ? joinReplicas({ store, clock, log }) : undefined;
  const asking = await openAskingMemory(store, log);
  const pool = createPool({
    clock,
    log,
    asking,
    ...(replicas && { portions: replicas }),
    hide: (text) => mask.hideEncoded(text),
    get healthIntervalMs() {
      return inForce().limits.healthIntervalMs;
    },
    get breaker() {
      const { breakerFailures: failures, breakerResetMs: resetMs } = inForce().limits;
      return { failures, resetMs };
    },
    open: async (server, signal, key) => {
      // Asked where everything must come through, whatever led here: a held server is never started.
      const hold = approvals.hold(server, inForce().approval);
      if (!hold) return openServer(server, signal, key);
      const message = `Server "${server.id}" is not started: ${hold.reason}.`;
      throw new ToolscoutError('APPROVAL_REQUIRED', message, { remedy: hold.remedy, delivered: false });
    },
  });

  const gateway: Gateway = createGateway({
    loaded,
    loadConfig: revoked ? revoked.reader(read, () => gateway.internal.loaded()) : read,
    store,
    ...(replicas && { replicas }),
    clock,
    log,
    mask,
    redaction,
    random: Math.random,
    pool,
    lineage,
    signIns,
    cache: createToolCache({
      store,
      clock,
      log,
      get ttlMs() {
        return inForce().cache.ttlMs;
      },
      get kept() {
        return areListsTrusted && inForce().cache.enabled;
      },
      // Servers list more to a client that can do more, so a list belongs to what was declared.
      capabilities: canonicalJson(EVERY_CAPABILITY),
    }),
    loadEncoder: async (name) => {
      const { loadEncoder } = await import('./load-encoder.js');
      return loadEncoder(name, loaded.path ?? `${cwd}/`);
    },
    knowledge: knowledge ?? createKnowledgeSource((reason) => log.warn('search.knowledge', { reason })),
    audit: createAudit({ store, clock, log, redact: redaction.stored }),
    approvals,
    lock: lock.deps,
    promotion: createPromotion({
      clock,
      log,
      pending: () => inForce().exportDirectory,
      folderOf: fileNameOf,
    }),
    proposing: {
      registrations,
      makeServer: (id, entry) => makeRegistered(id, entry, gateway.internal.loaded(), { self, env, cwd }),
      open: (server, signal) => openServer(server, signal),
      async lookup(host) {
        const { lookup } = await import('node:dns/promises');
        return (await lookup(host, { all: true })).map(({ address }) => address);
      },
    },
    openRegistry: (registry) => openRegistryClient(registry, { clock, log, store, mask, cwd, env }),
    openServerRegistry: (sources) =>
      openServerRegistry(sources, {
        clock,
        log,
        store,
        mask,
        cwd,
        env,
        isOwn: (url) => self !== undefined && isOwnAddress(url, self, inForce().http),
      }),
    async writeServer(id, entry, path) {
      const { writeServer } = await import('../config/edit/write-server.js');
      const newPath = `${userConfigStem({ home, xdgConfigHome: readEnvironment(env).configHome })}.json`;
      return keepApproved({ path: path ?? newPath, stateDirectory: stateDir, now: clock.now }, () =>
        writeServer(id, entry, { path, newPath, self, http: inForce().http }),
      );
    },
    ...(options.stateDir !== 'memory' && { labels: createLabelFile(stateDir) }),
    ...changesOf(options, { cwd, env, home, stateDir, http: () => inForce().http }),
    missingCommand: async ({ transport }) => (transport.type === 'stdio' ? missingCommand(transport, env) : undefined),
    openSession: (server, signal, { tap } = {}) => openServer(server, signal, undefined, tap),
    rememberPlain: (server) => verdicts.remember(server, { kind: 'plain', decidedAt: clock.now() }),
    rawRun: (server, raw) => runRaw(server, { clock, children, baseEnv }, raw),
    fetch,
    learnAtStart: options.learnAtStart ?? true,
    refreshFirst: options.refreshFirst,
    watchSkills: options.watch,
    async closing(close, how) {
      watcher?.close();
      unfollow?.();
      await push?.close();
      try {
        await close();
      } finally {
        await children.closeAll(how);
      }
    },
  });

  const push =
    (options.learnAtStart ?? true)
      ? pushAudit(gateway, { store, clock, log, hide: (text) => mask.hideEncoded(text) })
      : undefined;
  const watcher = options.watch ? watchFiles({ gateway, read, clock, log }) : undefined;
  const keep = (thrown: unknown): void => log.debug('config.kept', { reason: messageOf(thrown) });
  const unfollow = revoked?.follow(() => gateway.reload(), keep);

  const { tracesUrl: url, traceHeaders: headers, serviceName: service } = readEnvironment(env);
  if (url === undefined) return gateway;
  const [{ createTraceExporter }, { traceGateway }] = await Promise.all([
    import('./trace-exporter.js'),
    import('./traces.js'),
  ]);
  mask.add(Object.values(headers));
  return traceGateway(gateway, createTraceExporter({ url, headers, service, fetch, clock, log }));
}
