import type { CallOptions, AskOptions } from './contract/options.js';
import type { LoadedConfig } from '../config/index.js';
import type { CacheStats } from '../discover/index.js';
import type { CallEvent } from '../execute/index.js';
import type { ToolSignature } from '../export/index.js';
import type { JsonObject } from '../kernel/json.js';
import type { Lineage } from '../protocol/lineage.js';
import type { Approval, ApprovalDiff, ApprovalFilter } from '../model/approval.js';
import type { AuditFilter, AuditRecord } from '../model/audit-record.js';
import type { CallResult } from '../model/call.js';
import type { ServerEntry } from '../model/config.js';
import type { SearchAnswer, SearchOptions } from '../model/hit.js';
import type { Manifest } from '../model/manifest.js';
import type { Host } from '../model/host.js';
import type { AgentBriefingEvent } from '../model/skill.js';
import type { StoreDoubt } from '../model/store.js';
import type { Viewer } from '../model/viewer.js';
import type { Tool } from '../model/tool.js';
import type { Registry, RegistrySearchOptions } from '../registry/index.js';
import type { LabelledQuery } from '../search/index.js';
import type { RulingOptions, RulingReport } from './contract/approvals.js';
import type { DiscoveryOptions, DiscoveryTarget } from './contract/discovery-options.js';
import type { DoctorOptions, DoctorReport } from './reports/doctor.js';
import type { EvaluationReport, RecordedServer } from './reports/evaluation.js';
import type {
  CapabilityFindings,
  RegistryDiscovery,
  RegistryFindings,
  RegistryPlan,
  RegistryPlanOptions,
} from './contract/registry.js';
import type { ExportOptions, ExportReport } from './contract/exports.js';
import type { DiscoveryOutcome, DiscoveryProgress } from '../catalog/learning/learner.js';
import type { Candidate, IntrospectionTarget, ProposedServer } from './contract/proposals.js';
import type { RawReport } from './contract/raw-report.js';
import type { ReloadReport } from './reload.js';
import type { CatalogEvent } from '../catalog/events.js';
import type { ServerFacts } from '../catalog/catalog.js';
import type { SignInOptions, SignInStatus } from './contract/sign-in.js';
import type { SkillHandle, SkillView } from './contract/skills.js';
import type { StoreStatus } from './reports/store-status.js';
import type { ServerView } from '../catalog/views.js';
import type { Why } from './reports/why.js';

/** Something that happened in the gateway, for logs, hosts and pages that follow along. */
export type GatewayEvent =
  | CatalogEvent
  | { readonly type: 'reloaded'; readonly report: ReloadReport }
  | { readonly type: 'reload-failed'; readonly reason: string }
  /** A file of `sources` cannot be read now: its servers stay as they were last read (CFG-6). */
  | { readonly type: 'source-kept'; readonly file: string; readonly reason: string }
  /** A server says it offers something else than before (NEG-1). */
  | { readonly type: 'probed'; readonly server: string; readonly capabilities: readonly string[] }
  | { readonly type: 'briefing'; readonly briefing: AgentBriefingEvent }
  /** Skills were added or removed; these are all. */
  | { readonly type: 'skills'; readonly skills: readonly string[] };

/** The verbs of toolscout; every front is written against these and nothing else. */
export interface Gateway {
  /** The same verbs as this viewer has them: other servers are not there, in lists, searches, calls, events and messages (S12). */
  as(viewer: Viewer): Gateway;
  /** Resolves when everything the store knows has been indexed. */
  ready(): Promise<void>;
  /** The line that names what is behind toolscout (META-8). */
  coverage(): string;
  listServers(options?: AskOptions): Promise<ServerView[]>;
  searchTools(query: string, options?: SearchOptions): Promise<SearchAnswer>;
  listTools(
    server: string,
    options?: AskOptions & {
      readonly includeDisabled?: boolean;
      /** Also tools that a fallback found and that cannot be called (DISC-6). */
      readonly includeFallback?: boolean;
    },
  ): Promise<Tool[]>;
  /** Every tool that may be run now, of all servers, in a fixed order. */
  offeredTools(): Promise<Tool[]>;
  /** The definition of a tool as its server gave it; `undefined` when it is not known. */
  definitionOf(server: string, tool: string): JsonObject | undefined;
  /** A tool, and its definition without what an agent does not need. */
  toolDetails(
    server: string,
    tool: string,
    options?: AskOptions,
  ): Promise<{ readonly tool: Tool; readonly lean: JsonObject }>;
  /** A tool as `{tool_name, description, parameters, returns}` (NEG-8). */
  toolSignature(server: string, tool: string, options?: AskOptions): Promise<ToolSignature>;
  executeTool(server: string, tool: string, args: JsonObject, options?: CallOptions): Promise<CallResult>;
  executeStream(server: string, tool: string, args: JsonObject, options?: CallOptions): AsyncIterable<CallEvent>;
  why(server: string, tool: string): Promise<Why>;
  /** Every skill of the configured folders: what it asks for, what it got, what is missing and why (NEG-3). */
  listSkills(): Promise<SkillView[]>;
  /** The same for one skill, by its id or by the path of a `skill.md`; the servers it is bound to are looked at first. */
  checkSkill(idOrPath: string): Promise<SkillView>;
  /** Learns the servers that nobody has asked yet, then negotiates for one skill. */
  bindSkill(id: string): Promise<SkillView>;
  /** What a skill calls through; everything outside of its bindings is `FORBIDDEN` (NEG-5). */
  skill(id: string): Promise<SkillHandle>;
  /**
   * A skill as a viewer, for {@link as}: it sees what its bindings cover and nothing else (NEG-5). A skill that does not exist sees
   * nothing, and its calls are refused and recorded.
   */
  skillViewer(id: string): Promise<Viewer>;
  /** What a server said of itself, and its resources, templates and prompts; it is learned when it never was. */
  serverFacts(server: string): Promise<ServerFacts>;
  /** The same for every usable server that is known already, by id. */
  knownFacts(): Promise<ReadonlyMap<string, ServerFacts>>;
  /** Asks a server something that is no tool call; the answer is the server's own object. */
  relay(server: string, method: string, params: JsonObject, options?: CallOptions): Promise<JsonObject>;
  /** Has a server announce changes of a resource until the answer is called; `onUpdate` gets the announcement. */
  subscribe(
    server: string,
    uri: string,
    options: { readonly host?: Host; readonly onUpdate: (params: JsonObject) => void },
  ): Promise<() => void>;
  /** Passes on what a host says to the servers it is connected to. */
  tellServers(host: Host, method: string, params?: JsonObject): void;
  /** Has the servers a host is connected to log from its level on. */
  setLogLevel(host: Host): Promise<void>;
  /** A host has gone: connections that were made for it alone end. */
  releaseHost(host: Pick<Host, 'id'>): void;
  /** Learns servers anew, all usable ones by default (DISC-3). */
  discover(
    servers?: readonly DiscoveryTarget[],
    options?: AskOptions &
      DiscoveryOptions & {
        readonly onProgress?: (progress: DiscoveryProgress) => void;
        /** Leaves out servers whose list is known, however old. */
        readonly onlyUnknown?: boolean;
      },
  ): Promise<DiscoveryOutcome[]>;
  /**
   * Asks one server for its tools now (DISC-1). With `authHeaders`, or when the server is described and not configured, it
   * is asked in a session of its own, and nothing of it is put into the catalog.
   */
  discoverTools(server: DiscoveryTarget, options?: AskOptions & DiscoveryOptions): Promise<Tool[]>;
  /** Asks one server for its resources and resource templates, as the server lists them. */
  discoverResources(
    server: DiscoveryTarget,
    options?: DiscoveryOptions,
  ): Promise<{ readonly resources: JsonObject[]; readonly templates: JsonObject[] }>;
  /** Asks one server for its prompts, as the server lists them. */
  discoverPrompts(server: DiscoveryTarget, options?: DiscoveryOptions): Promise<JsonObject[]>;
  /** The snapshot of all servers and their health (REG-1); `undefined` where toolscout was opened without one. Start it yourself. */
  registry(): Promise<Registry | undefined>;
  /** Searches the registry for servers; none of them is started (REG-9). */
  searchRegistry(query: string, options?: RegistrySearchOptions): Promise<RegistryFindings>;
  /**
   * Searches the registry and asks what it found for tools: servers that are configured are learned; the others are
   * registered, which makes them pending, and those at a public https URL are introspected (SEC-9).
   */
  discoverFromRegistry(query: string, options?: DiscoveryOptions): Promise<RegistryDiscovery>;
  /**
   * Who offers a capability: configured servers, declared or by their tools, and only when there is none what the registry
   * has. Servers that were never learned are learned first, for at most `searchWaitMs`.
   */
  findServersForCapability(capability: string): Promise<CapabilityFindings>;
  /** One server of the registry, and how it would stand in the config. Changes nothing. */
  planRegistryServer(name: string, options?: RegistryPlanOptions): Promise<RegistryPlan>;
  /** Writes a server to the config file. Show its exact command and ask before (S25). */
  addServer(id: string, entry: ServerEntry): Promise<{ readonly path: string }>;
  /** Writes what is known of tools as RTFS, Markdown, JSON or TypeScript (SCH-8). */
  exportTools(options: ExportOptions): Promise<ExportReport>;
  /** Discovers one server as {@link discover} does, and answers everything that was said as well (DISC-7). */
  discoverRaw(server: string): Promise<RawReport>;
  /** Connects to a server now and keeps the connection for calls; it closes when idle, as any other (CONN-3). */
  connect(server: string): Promise<void>;
  /** Closes the connections to a server after their calls; the next call connects again. */
  disconnect(server: string): Promise<void>;
  /** Waits until no server is being learned, at most `patienceMs`. */
  settle(patienceMs: number): Promise<void>;
  /** Reads the configuration again and swaps it in; an invalid one leaves the old state serving (CFG-6). */
  reload(options?: { readonly by?: string; readonly traceId?: string }): Promise<ReloadReport>;
  clearCache(server?: string): Promise<number>;
  /** Forgets which queries led to which tools, of everybody; answers of how many principals. */
  forgetUsage(): Promise<number>;
  cacheStats(): CacheStats;
  /** Where the store is, whether it can be written, and whether it must be accepted (A48). */
  storeStatus(): Promise<StoreStatus>;
  /** Accepts a store that vanished, was replaced, went back in time or was damaged; answers what was in doubt. */
  acceptStore(options?: { readonly by?: string; readonly reason?: string }): Promise<StoreDoubt | undefined>;
  audit(filter?: AuditFilter): Promise<AuditRecord[]>;
  followAudit(filter: AuditFilter, onRecord: (record: AuditRecord) => void): () => void;
  /** Checks config, store and every server; `onFinding` gets each finding as soon as there is one. */
  doctor(options?: DoctorOptions): Promise<DoctorReport>;
  /** Measures how well tools are found for labelled queries, among the offered ones or among recorded ones (FIND-2). */
  evaluate(
    queries: readonly LabelledQuery[],
    options?: { readonly tools?: readonly RecordedServer[] },
  ): Promise<EvaluationReport>;
  /** What waits for approval, was decided or expired, for the servers of this configuration (SEC-9). */
  listApprovals(filter?: ApprovalFilter): Promise<Approval[]>;
  /** Trusts a server or `server:tool` exactly as it is asked for; offered at once, durable when it resolves. */
  approve(ref: string, options?: RulingOptions): Promise<RulingReport>;
  /** Rejects what is asked for, or takes back the trust in it. */
  reject(ref: string, options?: RulingOptions): Promise<RulingReport>;
  /** What a request would change: of one tool, or of everything of a server that waits. */
  diffApproval(ref: string, options?: Pick<ApprovalFilter, 'shownTo'>): Promise<ApprovalDiff[]>;
  /**
   * Asks a URL, or a registered server that is not approved, for its tools (A36): no tool is called and nothing is
   * trusted. Registers it, asks for its approval and writes the RTFS files to review.
   */
  introspectRemoteApi(
    target: IntrospectionTarget,
    options?: { readonly allowPrivate?: boolean; readonly by?: string; readonly traceId?: string },
  ): Promise<Candidate>;
  /** Proposes a server; it is pending and starts nothing until it is approved. Answers the request. */
  registerServer(
    proposal: ProposedServer,
    options?: { readonly by?: string; readonly traceId?: string; readonly origin?: 'registry' | 'introspected' },
  ): Promise<Approval>;
  /** Removes a registered server, its exported files, its manifests and the trust in it. */
  unregisterServer(id: string, options?: { readonly by?: string; readonly traceId?: string }): Promise<void>;
  /** Every approved manifest. */
  marketplace(): Promise<Manifest[]>;
  /** The manifest of a tool, with what was inferred of its output (SCH-7). */
  toolManifest(tool: Tool): Promise<Manifest>;
  /** Puts the manifest of a tool that is offered into the marketplace (SCH-7). */
  registerCapability(manifest: Manifest): Promise<void>;
  /** Signs in to a remote server that asks for it, and keeps what it was given (CONN-6). */
  signIn(server: string, options: SignInOptions): Promise<SignInStatus>;
  /** Forgets a sign-in, and has it revoked where that is offered. */
  signOut(server: string): Promise<{ readonly removed: boolean; readonly revoked: boolean }>;
  signInStatus(server: string): Promise<SignInStatus>;
  /** Who this toolscout is to others that are connected to it. */
  lineage(): Lineage;
  /** The configuration in force. */
  config(): LoadedConfig;
  onEvent(listener: (event: GatewayEvent) => void): () => void;
  /**
   * Stops taking work, lets running calls finish for `drainMs`, then closes every server. It resolves after `graceMs` even when a
   * server has not ended yet; the watchdog then ends it.
   */
  close(options?: { readonly drainMs?: number; readonly graceMs?: number }): Promise<void>;
}
