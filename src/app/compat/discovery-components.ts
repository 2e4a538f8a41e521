import { DiscoveryEngine, type ToolMetadata } from './discovery-engine.js';
import type { CallEvent } from '../../execute/index.js';
import type { JsonObject } from '../../kernel/json.js';
import { compilePatterns } from '../../kernel/patterns/pattern.js';
import type { CallResult } from '../../model/call.js';
import type { RuleConfig, ServerEntry } from '../../model/config.js';
import type { Hit, SearchOptions } from '../../model/hit.js';
import type { Tool } from '../../model/tool.js';
import { compileRules, inferCategories, inferDomains, type Rules } from '../../normalize/index.js';
import { createIndex, type ToolIndex } from '../../search/index.js';

/** Matches names of tools against patterns as rules do (PAT-1, PAT-2). */
export class PatternMatcher {
  /**
   * Whether a name matches a list of patterns; none matches an empty list.
   *
   * @throws ToolscoutError `CONFIGURATION_ERROR` when a pattern is not valid.
   */
  match(toolName: string, patterns: readonly string[]): boolean {
    return patterns.length > 0 && compilePatterns(patterns).matches('', toolName);
  }

  /**
   * Whether a rule is about a tool of a server (PAT-3).
   *
   * @throws ToolscoutError `CONFIGURATION_ERROR` when a pattern is not valid.
   */
  matchWithServer(toolName: string, serverName: string, rule: RuleConfig): boolean {
    return compileRules([{ ...rule, enabled: true }]).decide(serverName, toolName).decision.enabled;
  }
}

/** Tools in memory, and what rules make of them (PAT-4). */
export class ToolMetadataManager {
  readonly #tools = new Map<string, Map<string, ToolMetadata>>();
  #rules: Rules | undefined;

  /** Stores a tool; one with the same server and name is replaced. Rules that were applied hold for it too. */
  addTool(tool: ToolMetadata): void {
    const own = this.#tools.get(tool.server) ?? new Map<string, ToolMetadata>();
    this.#tools.set(tool.server, own.set(tool.name, tool));
  }

  /**
   * Applies rules to all tools, in place of those that were applied before.
   *
   * @throws ToolscoutError `CONFIGURATION_ERROR` when a pattern is not valid.
   */
  applyRules(rules: readonly RuleConfig[]): void {
    this.#rules = rules.length > 0 ? compileRules(rules) : undefined;
  }

  /** The tools of one server, in the order in which they were added. */
  getToolsByServer(server: string, includeDisabled = false): ToolMetadata[] {
    const tools = [...(this.#tools.get(server)?.values() ?? [])].map((tool) => this.#ruled(tool));
    return tools.filter(({ enabled }) => enabled || includeDisabled);
  }

  /** One tool, also one that is disabled; `null` when the server has no tool of that name. */
  getTool(server: string, tool: string): ToolMetadata | null {
    const found = this.#tools.get(server)?.get(tool);
    return found ? this.#ruled(found) : null;
  }

  /** The tools of all servers. */
  getAllTools(includeDisabled = false): ToolMetadata[] {
    return [...this.#tools.keys()].flatMap((server) => this.getToolsByServer(server, includeDisabled));
  }

  /** How many tools a server has. */
  getToolCount(server: string): number {
    return this.#tools.get(server)?.size ?? 0;
  }

  /** How many of them are enabled. */
  getEnabledCount(server: string): number {
    return this.getToolsByServer(server).length;
  }

  #ruled(tool: ToolMetadata): ToolMetadata {
    if (!this.#rules) return tool;
    const { decision, tags } = this.#rules.decide(tool.server, tool.name);
    return { ...tool, enabled: decision.enabled, tags: [...new Set([...tool.tags, ...tags])] };
  }
}

/** A tool in the form of the index; fields that are not searched stay empty. */
function indexed(tool: ToolMetadata): Tool {
  const { server, name, summary, description = summary, parameters = [], tags, enabled } = tool;
  return {
    server,
    name,
    summary,
    description,
    parameters,
    tags,
    domains: inferDomains(server, name),
    categories: inferCategories(name),
    status: enabled ? 'enabled' : 'disabled',
    decision: { enabled, reason: 'as it was given' },
    provenance: 'protocol',
    hash: '',
    definition: { name, description },
  };
}

/** The ranking of toolscout over tools in memory, by words alone: no file is read and nothing is remembered (FIND-1). */
export class SearchEngine {
  #index: ToolIndex = createIndex();

  /** Indexes these tools, in place of those that were indexed before. */
  index(tools: readonly ToolMetadata[]): void {
    this.#index = createIndex();
    for (const server of new Set(tools.map((tool) => tool.server))) {
      this.#index.replace(server, tools.filter((tool) => tool.server === server).map(indexed));
    }
  }

  /** The tools that fit a need in plain words, best first; ten unless `limit` says otherwise. */
  search(query: string, options: Pick<SearchOptions, 'server' | 'limit' | 'includeDisabled' | 'tags'> = {}): Hit[] {
    return this.#index.search(query, options).map(({ tool: { server, name, summary, tags }, relevance }) => ({
      server,
      tool: name,
      summary,
      relevance,
      tags,
    }));
  }
}

/** Execution alone: the calls and connections of a {@link DiscoveryEngine}, under all of its rules. */
export class ToolExecutionProxy {
  readonly #engine: DiscoveryEngine;

  /** Over an engine, or over what an engine is constructed with; without either it has no servers until `connect` adds them. */
  constructor(over: DiscoveryEngine | ConstructorParameters<typeof DiscoveryEngine>[0] = { servers: {} }) {
    this.#engine = over instanceof DiscoveryEngine ? over : new DiscoveryEngine(over);
  }

  /** Runs a tool; a failure is part of the answer. */
  execute(server: string, tool: string, args: JsonObject): Promise<CallResult> {
    return this.#engine.executeTool(server, tool, args);
  }

  /** Runs a tool and gives its progress as it comes, then its result. */
  executeStream(server: string, tool: string, args: JsonObject): AsyncGenerator<CallEvent> {
    return this.#engine.executeStream(server, tool, args);
  }

  /** Connects to a server now; see {@link DiscoveryEngine.connect}. */
  connect(server: string, entry?: ServerEntry): Promise<void> {
    return this.#engine.connect(server, entry);
  }

  /** Closes the connections to a server after their calls; the next call connects again. */
  disconnect(server: string): Promise<void> {
    return this.#engine.disconnect(server);
  }

  /** Whether there is a connection to a server. */
  isConnected(server: string): Promise<boolean> {
    return this.#engine.isConnected(server);
  }

  /** Closes the engine, and with it what it opened. */
  close(): Promise<void> {
    return this.#engine.close();
  }
}
