import { toolToManifest, type ExportedServer } from '../../export/index.js';
import {
  idOfTarget,
  type CapabilityFindings,
  type DiscoveryOptions,
  type DiscoveryTarget,
  type Toolscout,
  type RegistryDiscovery,
  type RegistryFindings,
  type ServerConfig,
} from '../../gateway/index.js';
import { toToolscoutError, type ToolscoutError } from '../../kernel/errors.js';
import type { JsonObject } from '../../kernel/json.js';
import { createToolscout } from '../create-toolscout.js';
import type { ToolscoutOptions } from '../open-gateway.js';
import type { Manifest } from '../../model/manifest.js';
import type { Tool } from '../../model/tool.js';

/** What became of warming (DISC-5). */
export interface WarmStatistics {
  readonly successful: number;
  readonly failed: number;
  readonly cachedTools: number;
  readonly errors: ReadonlyArray<{ readonly server: string; readonly error: string }>;
}

/** The tools of one server among several, or why they are not known. */
export type DiscoveredServer = { readonly server: string } & (
  | { readonly ok: true; readonly tools: readonly Tool[] }
  | { readonly ok: false; readonly error: ToolscoutError }
);

/**
 * Discovery as one service that several callers share: asking servers, manifests, the marketplace, the
 * registry and the cache. A thin wrapper around the gateway.
 */
export class DiscoveryService {
  readonly #open: () => Promise<Toolscout>;
  #gateway: Promise<Toolscout> | undefined;

  /** Over a gateway that is open already, or one that is opened when it is first needed. */
  constructor(over: Toolscout | ToolscoutOptions = {}) {
    this.#open = 'call' in over ? async () => over : () => createToolscout({ learnAtStart: false, ...over });
  }

  /** The gateway underneath. */
  gateway(): Promise<Toolscout> {
    return (this.#gateway ??= this.#open());
  }

  /** Asks one server for its tools (DISC-1): one of the configuration by its id, or one that is described. */
  async discoverTools(server: DiscoveryTarget, options: DiscoveryOptions = {}): Promise<readonly Tool[]> {
    return (await this.gateway()).servers.discoverTools(server, await this.#chosen(options));
  }

  /** What is left out of the options is as the configuration has it. */
  async #chosen(options: DiscoveryOptions): Promise<DiscoveryOptions> {
    const { useCache, registerInMarketplace } = await (await this.gateway()).config.show();
    return { useCache, registerInMarketplace, ...withoutAbsent(options) };
  }

  /** Asks many servers, at most `maxParallelDiscoveries` at once; one that fails does not fail the others (DISC-3). */
  async discoverAll(servers: readonly DiscoveryTarget[], options: DiscoveryOptions = {}): Promise<DiscoveredServer[]> {
    const gateway = await this.gateway();
    const chosen = await this.#chosen(options);
    const outcomes = await gateway.servers.discover(servers, chosen);
    const failed = new Map(outcomes.flatMap((one) => (one.ok ? [] : [[one.server, one.error] as const])));
    return Promise.all(
      servers.map(async (target): Promise<DiscoveredServer> => {
        const server = idOfTarget(target);
        const error = failed.get(server);
        if (error) return { server, ok: false, error };
        try {
          // It was asked just now, or what is known of it was good enough.
          return {
            server,
            ok: true,
            tools: await gateway.servers.discoverTools(target, { ...chosen, useCache: 'stale' }),
          };
        } catch (thrown) {
          return { server, ok: false, error: toToolscoutError(thrown) };
        }
      }),
    );
  }

  /** Asks one server for its resources and resource templates. */
  async discoverResources(
    server: DiscoveryTarget,
    options: DiscoveryOptions = {},
  ): Promise<{ resources: JsonObject[]; templates: JsonObject[] }> {
    return (await this.gateway()).servers.discoverResources(server, options);
  }

  /** Asks one server for its prompts. */
  async discoverPrompts(server: DiscoveryTarget, options: DiscoveryOptions = {}): Promise<JsonObject[]> {
    return (await this.gateway()).servers.discoverPrompts(server, options);
  }

  /** Searches the registry, asks what it found for tools, and registers what is new; that is pending. */
  async discoverFromRegistry(query: string, options: DiscoveryOptions = {}): Promise<RegistryDiscovery> {
    return (await this.gateway()).registry.discover(query, options);
  }

  /** Searches the registry; an answer of the last hour is good enough unless `useCache` is false. */
  async searchRegistryForCapability(query: string, useCache = true): Promise<RegistryFindings> {
    return (await this.gateway()).registry.search(query, { fresh: !useCache });
  }

  /** Who offers a capability: configured servers first, then the registry. */
  async findServersForCapability(name: string): Promise<CapabilityFindings> {
    return (await this.gateway()).registry.serversFor(name);
  }

  /** Puts a manifest into the marketplace. */
  async registerCapability(manifest: Manifest): Promise<void> {
    await (await this.gateway()).exports.register(manifest);
  }

  /** The manifest of a tool (SCH-7). */
  async toolToManifest(tool: Tool): Promise<Manifest> {
    return (await this.gateway()).exports.manifest(tool);
  }

  /** Learns servers, so that later questions find them known (DISC-5). */
  async warmCacheForServers(
    servers: readonly DiscoveryTarget[],
    options: DiscoveryOptions = {},
  ): Promise<WarmStatistics> {
    const outcomes = await this.discoverAll(servers, options);
    return {
      successful: outcomes.filter(({ ok }) => ok).length,
      failed: outcomes.filter(({ ok }) => !ok).length,
      cachedTools: outcomes.reduce((sum, outcome) => sum + (outcome.ok ? outcome.tools.length : 0), 0),
      errors: outcomes.flatMap((one) => (one.ok ? [] : [{ server: one.server, error: one.error.message }])),
    };
  }

  /** Learns every configured server that can be used. */
  async warmCacheForAllConfiguredServers(options: DiscoveryOptions = {}): Promise<WarmStatistics> {
    const views = await (await this.gateway()).servers.list();
    const usable = views.filter(({ knowledge }) => knowledge !== 'off').map(({ id }) => id);
    return this.warmCacheForServers(usable, options);
  }

  /** Forgets what is remembered of one server, or of all. */
  async clearCache(server?: string): Promise<number> {
    return (await this.gateway()).tools.clearCache(server);
  }

  /** Closes what was opened. */
  async close(): Promise<void> {
    if (this.#gateway) await (await this.#gateway).close();
  }
}

/** Resolves a capability that turns out to be missing at run time; it registers nothing by itself (DISC-10). */
export class RuntimeMcpDiscovery {
  readonly #service: DiscoveryService;

  /** Over a service that others use too, or one of its own. */
  constructor(service: DiscoveryService = new DiscoveryService()) {
    this.#service = service;
  }

  /** Candidates with the reason for each: configured servers, then the marketplace, then the registry. */
  async resolve(capability: string): Promise<CapabilityCandidate[]> {
    const gateway = await this.#service.gateway();
    const found = await gateway.registry.serversFor(capability);
    const local = found.local.map(({ server, tools }) => ({
      from: 'configured' as const,
      server,
      tools,
      reason:
        tools.length > 0
          ? `The configured server "${server}" offers it with ${tools.join(', ')}.`
          : `The configured server "${server}" declares it.`,
    }));
    const words = capability.toLowerCase().split(/[^a-z0-9]+/);
    const marketplace = (await gateway.exports.marketplace())
      .filter(({ id }) => words.every((word) => id.toLowerCase().includes(word)))
      .filter(({ id }) => !local.some(({ server }) => id.startsWith(`mcp.${server}.`)))
      .map(({ id, provider }) => ({
        from: 'marketplace' as const,
        server: id.slice('mcp.'.length, -(provider.toolName.length + 1)),
        tools: [provider.toolName],
        reason: `The marketplace has ${id}.`,
      }));
    const registry = (found.registry?.servers ?? []).map(({ name, description, launch }) => ({
      from: 'registry' as const,
      server: name,
      tools: [],
      reason: launch.ok ? `The registry has it: ${description}` : `The registry has it, but ${launch.reason}`,
    }));
    return [...local, ...marketplace, ...registry];
  }
}

/** A server that may offer what is missing. */
export interface CapabilityCandidate {
  readonly from: 'configured' | 'marketplace' | 'registry';
  readonly server: string;
  readonly tools: readonly string[];
  readonly reason: string;
}

/** One server as a provider of manifests (DISC-10). */
export class McpDiscoveryProvider {
  readonly #server: DiscoveryTarget;
  readonly #service: DiscoveryService;

  /** Over a service that others use too, or one of its own. */
  constructor(server: DiscoveryTarget, service: DiscoveryService = new DiscoveryService()) {
    this.#server = server;
    this.#service = service;
  }

  /** The manifests of the server's tools that are offered. */
  async discover(options: DiscoveryOptions = { useCache: true }): Promise<Manifest[]> {
    const tools = await this.#service.discoverTools(this.#server, options);
    const offered = tools.filter(({ status }) => status === 'enabled');
    if (typeof this.#server === 'string') return Promise.all(offered.map((tool) => this.#service.toolToManifest(tool)));
    const server = describedServer(this.#server);
    return offered.map((tool) => toolToManifest(tool, server));
  }
}

/** A described server as far as an export shows it. */
function describedServer(config: ServerConfig): ExportedServer {
  const { url, command = '', args = [], type } = config;
  const quoted = (word: string): string => (/[\s"]/.test(word) || word === '' ? JSON.stringify(word) : word);
  return {
    id: idOfTarget(config),
    shown:
      url === undefined
        ? { type: 'stdio', target: [command, ...args].map(quoted).join(' '), secrets: [] }
        : { type: type === 'sse' ? 'sse' : 'http', target: url, secrets: [] },
  };
}

function withoutAbsent<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;
}
