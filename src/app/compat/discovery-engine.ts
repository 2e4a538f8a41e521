import { ConfigurationLoader, type DiscoveryConfig } from './configuration-loader.js';
import type { CallEvent } from '../../execute/index.js';
import { resolveConfig } from '../../config/index.js';
import { gatewayOf, maskConfig, type Toolscout, type ReloadReport, type ServerView } from '../../gateway/index.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { JsonObject } from '../../kernel/json.js';
import { createToolscout } from '../create-toolscout.js';
import type { ToolscoutOptions } from '../open-gateway.js';
import type { CallResult } from '../../model/call.js';
import type { Config, ConfigInput, ServerEntry } from '../../model/config.js';
import type { Hit, SearchOptions } from '../../model/hit.js';
import type { ConnectionState, ShownTransport } from '../../model/server.js';
import type { Tool } from '../../model/tool.js';
import { examplesOf, type ToolExample } from '../../normalize/index.js';

/** One tool as the engine shows it: flat, and without what only toolscout itself needs. */
export interface ToolMetadata {
  readonly server: string;
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: Tool['parameters'];
  /** What the server gives as examples; absent where it gives none. */
  readonly examples?: readonly ToolExample[];
  readonly enabled: boolean;
  readonly tags: readonly string[];
}

/** One server as the engine shows it. */
export interface ServerMetadata extends ServerView {
  readonly name: string;
  readonly description: string;
  /** All of its tools, and those that can be called. */
  readonly toolCount: number;
  readonly enabledCount: number;
  readonly status: ConnectionState;
  /** How it is reached, as it was written: of env and headers only the names. */
  readonly config: ShownTransport;
}

function metadataOf({ server, name, summary, description, parameters, status, tags, definition }: Tool): ToolMetadata {
  const examples = examplesOf(definition);
  const enabled = status === 'enabled';
  const flat = { server, name, summary, description, parameters, enabled, tags };
  return examples.length > 0 ? { ...flat, examples } : flat;
}

function serverOf(view: ServerView): ServerMetadata {
  const { id, title = '', description = title, tools, disabledTools, health, transport } = view;
  return {
    ...view,
    name: id,
    description,
    toolCount: tools + disabledTools,
    enabledCount: tools,
    status: health.state,
    config: transport,
  };
}

/** Codes that mean: there is no such thing here. */
const ABSENT = new Set(['SERVER_NOT_FOUND', 'TOOL_NOT_FOUND']);

/** What is absent is answered with `instead`. */
async function orElse<T, E>(task: Promise<T>, instead: E): Promise<T | E> {
  try {
    return await task;
  } catch (thrown) {
    if (thrown instanceof ToolscoutError && ABSENT.has(thrown.code)) return instead;
    throw thrown;
  }
}

const OPTIONS: readonly string[] = [
  'config',
  'demo',
  'stateDir',
  'logLevel',
  'onNotice',
  'learnAtStart',
  'watch',
  'cwd',
  'env',
] satisfies ReadonlyArray<keyof ToolscoutOptions>;

/** A config has none of the fields of the options; an object without any field is options. */
function isConfig(given: object): given is DiscoveryConfig {
  const keys = Object.keys(given);
  return keys.length > 0 && !keys.some((key) => OPTIONS.includes(key));
}

function invalid(problems: ReturnType<ConfigurationLoader['validate']>['errors']): ToolscoutError {
  const lines = problems.map(({ path, message }) => `${path}: ${message}`);
  return new ToolscoutError('CONFIGURATION_ERROR', ['The config is not valid:', ...lines].join('\n'), { problems });
}

/**
 * Discovery as one class: servers, search, details and execution. A thin wrapper around the gateway, for code that
 * constructs an object; {@link createToolscout} can do everything that it does.
 */
export class DiscoveryEngine {
  readonly #open: () => Promise<Toolscout>;
  /** The config it was constructed with; servers that are connected later are added to it. */
  readonly #own: { -readonly [K in keyof DiscoveryConfig]: DiscoveryConfig[K] } | undefined;
  #gateway: Promise<Toolscout> | undefined;
  #opened: Toolscout | undefined;

  /**
   * With a configuration; with options of {@link createToolscout}; or over a gateway that is open already. What is not open is
   * opened when it is first needed.
   *
   * @throws ToolscoutError `CONFIGURATION_ERROR` when a configuration is not valid.
   */
  constructor(over: DiscoveryConfig | ToolscoutOptions | Toolscout = {}) {
    if ('call' in over) {
      this.#opened = over;
      this.#open = async () => over;
      return;
    }
    if (!isConfig(over)) {
      this.#open = () => createToolscout(over as ToolscoutOptions);
      return;
    }
    const { errors } = new ConfigurationLoader().validate(over);
    if (errors.length > 0) throw invalid(errors);
    const { discovery, $schema: _, ...top } = over;
    const own = { ...top, ...discovery, servers: { ...top.servers, ...discovery?.servers } };
    this.#own = own;
    this.#open = () => createToolscout({ config: own as ConfigInput });
  }

  /** The gateway underneath. */
  gateway(): Promise<Toolscout> {
    return (this.#gateway ??= this.#open().then((gateway) => (this.#opened = gateway)));
  }

  /** Every configured server, and what is known of it. */
  async listServers(): Promise<ServerMetadata[]> {
    return (await (await this.gateway()).servers.list()).map(serverOf);
  }

  /** The tools that fit a need in plain words, best first; none when there is no such server. */
  async searchTools(query: string, options?: SearchOptions): Promise<readonly Hit[]> {
    const gateway = await this.gateway();
    const answer = await orElse(gateway.search(query, options), undefined);
    return answer?.hits ?? [];
  }

  /** The tools of one server; none when there is no such server. */
  async listTools(server: string, includeDisabled = false): Promise<ToolMetadata[]> {
    const gateway = await this.gateway();
    return (await orElse(gateway.tools.list(server, { includeDisabled }), [])).map(metadataOf);
  }

  /** The tools of all servers whose lists are known; nothing is started for it. */
  async getAllTools(includeDisabled = false): Promise<ToolMetadata[]> {
    const gateway = await this.gateway();
    const known = (await gateway.servers.list()).filter(
      ({ knowledge }) => knowledge === 'ready' || knowledge === 'stale',
    );
    const lists = await Promise.all(known.map(({ id }) => gateway.tools.list(id, { includeDisabled })));
    return lists.flat().map(metadataOf);
  }

  /** One tool, also one that is not enabled; `null` when the server has no tool of that name. */
  async getToolDetails(server: string, tool: string): Promise<ToolMetadata | null> {
    const tools = await this.listTools(server, true);
    return tools.find(({ name }) => name === tool || `${server}:${name}` === tool) ?? null;
  }

  /** Runs a tool; a failure is part of the answer. */
  async executeTool(server: string, tool: string, args: JsonObject): Promise<CallResult> {
    return (await this.gateway()).call(server, tool, args);
  }

  /** Runs a tool and gives its progress as it comes, then its result. */
  async *executeStream(server: string, tool: string, args: JsonObject): AsyncGenerator<CallEvent> {
    yield* (await this.gateway()).stream(server, tool, args);
  }

  /**
   * Connects to a server now. With an entry the server is added to the config that the engine was constructed with, or changed
   * there.
   *
   * @throws ToolscoutError `SERVER_CONNECTION_ERROR` when it cannot be reached.
   */
  async connect(server: string, entry?: ServerEntry): Promise<void> {
    const gateway = await this.gateway();
    if (entry) await this.#addServer(gateway, server, entry);
    await gateway.servers.connect(server);
  }

  async #addServer(gateway: Toolscout, server: string, entry: ServerEntry): Promise<void> {
    if (!this.#own) {
      const suggestion = 'Add the server to the config file, or construct the engine with a config object.';
      throw new ToolscoutError(
        'CONFIGURATION_ERROR',
        `Cannot add server "${server}": this engine reads its config from a file.`,
        {
          suggestion,
        },
      );
    }
    const before = this.#own.servers;
    this.#own.servers = { ...before, [server]: entry };
    try {
      await gateway.reload();
    } catch (thrown) {
      this.#own.servers = before;
      throw thrown;
    }
  }

  /** Closes the connections to a server after their calls; the next call connects again. */
  async disconnect(server: string): Promise<void> {
    await (await this.gateway()).servers.disconnect(server);
  }

  /** Whether there is a connection to a server. */
  async isConnected(server: string): Promise<boolean> {
    const views = await (await this.gateway()).servers.list();
    return views.find(({ id }) => id === server)?.health.state === 'connected';
  }

  /** Reads the configuration again; an invalid one leaves the old state serving. */
  async reload(): Promise<ReloadReport> {
    return (await this.gateway()).reload();
  }

  /**
   * The configuration in force; entries of `servers` stand in it as they were written, but secrets are masked.
   *
   * @throws ToolscoutError `CONFIGURATION_ERROR` when it is a file that has not been read yet.
   */
  getConfig(): Config {
    if (this.#opened) return maskConfig(gatewayOf(this.#opened).internal.loaded());
    if (this.#own) return maskConfig(resolveConfig(this.#own, { source: 'library', env: process.env }));
    throw new ToolscoutError('CONFIGURATION_ERROR', 'The config has not been read yet.', {
      suggestion: 'Wait for gateway() or any other method before getConfig().',
    });
  }

  /** Closes what was opened. */
  async close(): Promise<void> {
    if (this.#gateway) await (await this.#gateway).close();
  }
}
