import { resolve } from 'node:path';
import { createInventoryFile, readEnvironment } from '../config/index.js';
import type { RegistrySources } from '../gateway/index.js';
import type { Clock } from '../kernel/clock.js';
import { LIMITS } from '../kernel/limits.js';
import type { Log } from '../kernel/log.js';
import type { SecretMask } from '../kernel/secrets.js';
import { OFFICIAL_REGISTRY, type Config } from '../model/config.js';
import type { Store } from '../model/store.js';
import type { Registry, RegistryClient } from '../registry/index.js';

/** What both registries are opened with. */
export interface RegistryTools {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Store;
  readonly mask: SecretMask;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What the registry of our own servers needs besides. */
export interface ServerRegistryTools extends RegistryTools {
  /** Whether a URL is that of toolscout itself. */
  readonly isOwn: (url: string) => boolean;
}

/** Servers that are checked at once. */
const PARALLEL_PROBES = 24;

/** A server that has not answered by then lets the next one go first. */
const LEND_AFTER_MS = 100;

/** A client of the registry that the config names, loaded only for a search there (REG-9). */
export async function openRegistryClient(registry: Config['registry'], tools: RegistryTools): Promise<RegistryClient> {
  const { createRegistryClient, createSafeFetch } = await import('../registry/index.js');
  const { clock, log, store, env } = tools;
  const { url, ttlMs, timeoutMs, maxPages } = registry;
  const userAgent = readEnvironment(env).discoveryUserAgent;
  return createRegistryClient({
    fetch: createSafeFetch({ clock, userAgent, timeoutMs, maxBytes: LIMITS.bodyBytes }),
    cache: store,
    clock,
    log,
    url,
    ttlMs,
    timeoutMs,
    maxPages,
    own: url !== OFFICIAL_REGISTRY,
  });
}

/** The registry of our own servers and of those that the inventory file lists (REG-1…6). */
export async function openServerRegistry(sources: RegistrySources, tools: ServerRegistryTools): Promise<Registry> {
  const { createInventory, createProbe, createRegistry, createSafeFetch } = await import('../registry/index.js');
  const { clock, log, mask, cwd, env } = tools;
  const settings = readEnvironment(env);
  const mayFill = settings.isToolsYamlNamed || settings.registryAllowedHosts !== undefined;
  const file = createInventoryFile(resolve(cwd, settings.toolsYamlPath), env, mayFill);
  const timeoutMs = settings.discoveryTimeoutMs;
  const fetch = createSafeFetch({
    clock,
    userAgent: settings.discoveryUserAgent,
    timeoutMs,
    maxBytes: LIMITS.toolBytes,
    allowedHosts: settings.registryAllowedHosts,
  });
  return createRegistry({
    clock,
    log,
    random: Math.random,
    probe: createProbe({ fetch, clock, timeoutMs }),
    policy: {
      refreshMs: settings.registryRefreshMs,
      staleMaxMs: settings.registryStaleMaxMs,
    },
    parallel: PARALLEL_PROBES,
    lendAfterMs: LEND_AFTER_MS,
    enabled: settings.registryEnabled,
    localState: sources.localState,
    async readInventory() {
      const { value, missing, isAbsent = false } = await file.read();
      const expand = (text: string): ReturnType<typeof file.expand> => {
        const filled = file.expand(text);
        mask.add(filled.values);
        return filled;
      };
      const inventory = createInventory(value, sources.servers(), expand, tools.isOwn);
      return { ...inventory, missing, isUnasked: isAbsent && !settings.isToolsYamlNamed };
    },
  });
}
