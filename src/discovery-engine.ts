import type { ReloadReport, ServerView } from './gateway/index.js';
import type { Gateway } from './gateway/index.js';
import { ToolscoutError } from './kernel/errors.js';
import type { JsonObject } from './kernel/json.js';
import { createToolscout, type ToolscoutOptions } from './main.js';
import type { CallResult } from './model/call.js';
import type { Config } from './model/config.js';
import type { Hit, SearchOptions } from './model/hit.js';
import type { Tool } from './model/tool.js';

/** One tool as the engine shows it: flat, and without what only toolscout itself needs. */
export interface ToolMetadata {
  readonly server: string;
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: Tool['parameters'];
  readonly enabled: boolean;
  readonly tags: readonly string[];
}

function metadataOf({ server, name, summary, description, parameters, status, tags }: Tool): ToolMetadata {
  return { server, name, summary, description, parameters, enabled: status === 'enabled', tags };
}

/** Codes that mean: there is no such thing here. */
const ABSENT = new Set(['SERVER_NOT_FOUND', 'TOOL_NOT_FOUND']);

/**
 * Discovery as one class: servers, search, details and execution. A thin dress over the gateway, for
 * those who want an object to construct; everything it does, {@link createToolscout} does too.
 */
export class DiscoveryEngine {
  readonly #open: () => Promise<Gateway>;
  #gateway: Promise<Gateway> | undefined;

  /** Over a gateway that is open already, or one that is opened when it is first needed. */
  constructor(over: Gateway | ToolscoutOptions = {}) {
    this.#open = 'executeTool' in over ? async () => over : () => createToolscout(over);
  }

  /** The gateway underneath. */
  gateway(): Promise<Gateway> {
    return (this.#gateway ??= this.#open());
  }

  /** Every configured server, and what is known of it. */
  async listServers(): Promise<ServerView[]> {
    return (await this.gateway()).listServers();
  }

  /** The tools that fit a need in plain words, best first. */
  async searchTools(query: string, options?: SearchOptions): Promise<readonly Hit[]> {
    return (await (await this.gateway()).searchTools(query, options)).hits;
  }

  /** The tools of one server. */
  async listTools(server: string, includeDisabled = false): Promise<ToolMetadata[]> {
    return (await (await this.gateway()).listTools(server, { includeDisabled })).map(metadataOf);
  }

  /** One tool, or `null` when there is none of that name. */
  async getToolDetails(server: string, tool: string): Promise<ToolMetadata | null> {
    try {
      return metadataOf((await (await this.gateway()).toolDetails(server, tool)).tool);
    } catch (thrown) {
      if (thrown instanceof ToolscoutError && ABSENT.has(thrown.code)) return null;
      throw thrown;
    }
  }

  /** Runs a tool; a failure is part of the answer. */
  async executeTool(server: string, tool: string, args: JsonObject): Promise<CallResult> {
    return (await this.gateway()).executeTool(server, tool, args);
  }

  /** Reads the configuration again; an invalid one leaves the old state serving. */
  async reload(): Promise<ReloadReport> {
    return (await this.gateway()).reload();
  }

  /** The configuration in force; entries of `servers` stand in it as they were written. */
  async getConfig(): Promise<Config> {
    return (await this.gateway()).config().config;
  }

  /** Closes what was opened. */
  async close(): Promise<void> {
    if (this.#gateway) await (await this.#gateway).close();
  }
}
