import { toolToManifest } from './export/index.js';
import type { CapabilityFindings, Gateway, RegistryDiscovery, RegistryFindings } from './gateway/index.js';
import { ToolscoutError, toToolscoutError } from './kernel/errors.js';
import type { JsonObject } from './kernel/json.js';
import { createToolscout, type ToolscoutOptions } from './main.js';
import type { Manifest } from './model/manifest.js';
import type { Tool } from './model/tool.js';

/** How a discovery is made; what is left out is as the configuration has it (DISC-2). */
export interface DiscoveryOptions {
  /** A list that is known and not old is good enough. */
  readonly useCache?: boolean;
  /** Put the manifests of enabled tools into the marketplace. */
  readonly registerInMarketplace?: boolean;
  /** Write the tools as RTFS files. */
  readonly exportToRtfs?: boolean;
  readonly exportDirectory?: string;
}

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
 * registry and the cache. A thin dress over the gateway.
 */
export class DiscoveryService {
  readonly #open: () => Promise<Gateway>;
  #gateway: Promise<Gateway> | undefined;

  /** Over a gateway that is open already, or one that is opened when it is first needed. */
  constructor(over: Gateway | ToolscoutOptions = {}) {
    this.#open = 'executeTool' in over ? async () => over : () => createToolscout({ learnAtStart: false, ...over });
  }

  /** The gateway underneath. */
  gateway(): Promise<Gateway> {
    return (this.#gateway ??= this.#open());
  }

  /** Asks one server for its tools (DISC-1). */
  async discoverTools(server: string, options: DiscoveryOptions = {}): Promise<readonly Tool[]> {
    const { useCache } = await this.#chosen(options);
    return this.#take(server, options, useCache);
  }

  /** What is left out of the options is as the configuration has it. */
  async #chosen(options: DiscoveryOptions): Promise<DiscoveryOptions> {
    return { ...(await this.gateway()).config().config, ...withoutAbsent(options) };
  }

  async #take(
    server: string,
    options: DiscoveryOptions,
    useCache: boolean | 'stale' | undefined,
  ): Promise<readonly Tool[]> {
    const gateway = await this.gateway();
    const { registerInMarketplace, exportDirectory } = await this.#chosen(options);
    const tools = await gateway.discoverTools(server, { useCache });
    if (registerInMarketplace) await this.#register(gateway, server, tools);
    // A list that was just learned is exported anyway when the configuration says so.
    if (options.exportToRtfs) {
      await gateway.exportTools({ format: 'rtfs', directory: exportDirectory, servers: [server] });
    }
    return tools;
  }

  /** Asks many servers, at most `maxParallelDiscoveries` at once; one that fails does not delay the others (DISC-3). */
  async discoverAll(servers: readonly string[], options: DiscoveryOptions = {}): Promise<DiscoveredServer[]> {
    const gateway = await this.gateway();
    const outcomes = await gateway.discover(servers, { useCache: options.useCache });
    const failed = new Map(outcomes.flatMap((one) => (one.ok ? [] : [[one.server, one.error] as const])));
    return Promise.all(
      servers.map(async (server): Promise<DiscoveredServer> => {
        const error = failed.get(server);
        if (error) return { server, ok: false, error };
        try {
          // It was asked just now, or what is known of it was good enough.
          return { server, ok: true, tools: await this.#take(server, options, 'stale') };
        } catch (thrown) {
          return { server, ok: false, error: toToolscoutError(thrown) };
        }
      }),
    );
  }

  /** Asks one server for its resources and resource templates. */
  async discoverResources(server: string): Promise<{ resources: JsonObject[]; templates: JsonObject[] }> {
    return (await this.gateway()).discoverResources(server);
  }

  /** Asks one server for its prompts. */
  async discoverPrompts(server: string): Promise<JsonObject[]> {
    return (await this.gateway()).discoverPrompts(server);
  }

  /** Searches the registry, and learns those of the found servers that are configured. */
  async discoverFromRegistry(query: string): Promise<RegistryDiscovery> {
    return (await this.gateway()).discoverFromRegistry(query);
  }

  /** Searches the registry; an answer of the last hour is good enough unless `useCache` is false. */
  async searchRegistryForCapability(query: string, useCache = true): Promise<RegistryFindings> {
    return (await this.gateway()).searchRegistry(query, { fresh: !useCache });
  }

  /** Who offers a capability: configured servers first, then the registry. */
  async findServersForCapability(name: string): Promise<CapabilityFindings> {
    return (await this.gateway()).findServersForCapability(name);
  }

  /** Puts a manifest into the marketplace. */
  async registerCapability(manifest: Manifest): Promise<void> {
    await (await this.gateway()).registerCapability(manifest);
  }

  /** The manifest of a tool (SCH-7). */
  async toolToManifest(tool: Tool): Promise<Manifest> {
    return manifestOf(await this.gateway(), tool);
  }

  /** Learns servers, so that later questions find them known (DISC-5). */
  async warmCacheForServers(servers: readonly string[]): Promise<WarmStatistics> {
    return warm(await this.gateway(), servers);
  }

  /** Learns every configured server that can be used. */
  async warmCacheForAllConfiguredServers(): Promise<WarmStatistics> {
    return warm(await this.gateway(), undefined);
  }

  /** Forgets what is remembered of one server, or of all. */
  async clearCache(server?: string): Promise<number> {
    return (await this.gateway()).clearCache(server);
  }

  /** Closes what was opened. */
  async close(): Promise<void> {
    if (this.#gateway) await (await this.#gateway).close();
  }

  async #register(gateway: Gateway, server: string, tools: readonly Tool[]): Promise<void> {
    const offered = tools.filter((tool) => tool.server === server && tool.status === 'enabled');
    for (const tool of offered) await gateway.registerCapability(manifestOf(gateway, tool));
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
    const found = await gateway.findServersForCapability(capability);
    const local = found.local.map(({ server, tools }) => ({
      from: 'configured' as const,
      server,
      tools,
      reason: `The configured server "${server}" offers it with ${tools.join(', ')}.`,
    }));
    const words = capability.toLowerCase().split(/[^a-z0-9]+/);
    const marketplace = (await gateway.marketplace())
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
  readonly #server: string;
  readonly #service: DiscoveryService;

  /** Over a service that others use too, or one of its own. */
  constructor(server: string, service: DiscoveryService = new DiscoveryService()) {
    this.#server = server;
    this.#service = service;
  }

  /** The manifests of the server's tools that are offered. */
  async discover(options: DiscoveryOptions = { useCache: true }): Promise<Manifest[]> {
    const tools = await this.#service.discoverTools(this.#server, options);
    const offered = tools.filter(({ status }) => status === 'enabled');
    return Promise.all(offered.map((tool) => this.#service.toolToManifest(tool)));
  }
}

async function warm(gateway: Gateway, servers: readonly string[] | undefined): Promise<WarmStatistics> {
  const outcomes = await gateway.discover(servers);
  const failed = outcomes.filter((outcome) => !outcome.ok);
  return {
    successful: outcomes.length - failed.length,
    failed: failed.length,
    cachedTools: outcomes.reduce((sum, outcome) => sum + (outcome.ok ? outcome.tools : 0), 0),
    errors: failed.map(({ server, error }) => ({ server, error: error.message })),
  };
}

function manifestOf(gateway: Gateway, tool: Tool): Manifest {
  const server = gateway.config().servers.find(({ id }) => id === tool.server);
  if (!server) throw new ToolscoutError('SERVER_NOT_FOUND', `There is no server "${tool.server}".`);
  return toolToManifest(tool, server);
}

function withoutAbsent<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;
}
