import type {
  ActOptions,
  AskOptions,
  DetailsOptions,
  CallOptions,
  HostCallOptions,
  MenuOptions,
  ReloadOptions,
  HostScriptOptions,
  ListToolsOptions,
  ScriptOptions,
  ToolDetails,
} from './contract/options.js';
import type { LoadedConfig } from '../config/index.js';
import type { CacheStats } from '../discover/index.js';
import type { CallEvent } from '../execute/index.js';
import type { ToolSignature } from '../export/index.js';
import type { JsonObject } from '../kernel/json.js';
import type { Lineage } from '../protocol/lineage.js';
import type { Approval, ApprovalDiff, ApprovalFilter } from '../model/approval.js';
import type { AuditVerification, ChainHead } from '../model/audit-chain.js';
import type { AuditExport, AuditExportQuery } from '../model/audit-export.js';
import type { AuditFilter, AuditRecord, TokenCount } from '../model/audit-record.js';
import type { Stats, StatsQuery } from '../model/stats.js';
import type { Budget, CallResult } from '../model/call.js';
import type { ServerEntry } from '../model/config.js';
import type { SearchAnswer, SearchOptions } from '../model/hit.js';
import type { Manifest } from '../model/manifest.js';
import type { Host } from '../model/host.js';
import type { ScriptResult } from '../model/script.js';
import type { AgentBriefingEvent } from '../model/skill.js';
import type { StoreDoubt } from '../model/store.js';
import type { Viewer } from '../model/viewer.js';
import type { Tool } from '../model/tool.js';
import type { Registry, RegistrySearchOptions } from '../registry/index.js';
import type { LabelledQuery } from '../search/index.js';
import type { PendingCall, PendingCallFilter } from '../model/pending-call.js';
import type { RulingOptions, RulingReport } from './contract/approvals.js';
import type { CallRulingOptions } from './contract/pending-calls.js';
import type { DiscoverOptions, DiscoveryOptions, DiscoveryTarget } from './contract/discovery-options.js';
import type { DoctorOptions, DoctorReport } from './reports/doctor.js';
import type { EvaluationReport, RecordedServer } from './contract/evaluation.js';
import type {
  CapabilityFindings,
  RegistryDiscovery,
  RegistryFindings,
  RegistryPlan,
  RegistryPlanOptions,
} from './contract/registry.js';
import type { ExportOptions, ExportReport } from './contract/exports.js';
import type { LockVerbs } from './contract/lock.js';
import type { DiscoveryOutcome } from '../catalog/learning/learner.js';
import type { Candidate, IntrospectionTarget, ProposedServer } from './contract/proposals.js';
import type { RawReport } from './contract/raw-report.js';
import type { OverloadStatus } from './admission.js';
import type { ReloadReport } from './reload.js';
import type { StateUse } from './request-states.js';
import type { CatalogEvent } from '../catalog/events.js';
import type { ServerFacts } from '../catalog/catalog.js';
import type { SignInOptions, SignInStatus } from './contract/sign-in.js';
import type { SkillHandle, SkillView } from './contract/skills.js';
import type { Traffic } from './traffic.js';
import type { SessionVerbs } from './contract/sessions.js';
import type { StudioVerbs } from './contract/studio.js';
import type { ScanReport } from './reports/scan.js';
import type { ShownConfig } from './reports/shown-config.js';
import type { StoreStatus } from './reports/store-status.js';
import type { ServerView } from '../catalog/views.js';
import type { Why } from './reports/why.js';

/** Something that happened in toolscout, for logs, hosts and pages that follow along. */
export type ToolscoutEvent =
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

/** Servers: what is known of them, how they are asked, and how they come and go. */
export interface ServerVerbs {
  /** Every configured or registered server, by id, and what is known of it. */
  list(options?: AskOptions): Promise<ServerView[]>;
  /** What a server said of itself, and its resources, templates and prompts; it is learned when it never was. */
  facts(server: string): Promise<ServerFacts>;
  /** Connects to a server now and keeps the connection for calls; it closes when idle, as any other (CONN-3). */
  connect(server: string): Promise<void>;
  /** Closes the connections to a server after their calls; the next call connects again. */
  disconnect(server: string): Promise<void>;
  /** Learns servers again, all usable ones by default (DISC-3). */
  discover(servers?: readonly DiscoveryTarget[], options?: DiscoverOptions): Promise<DiscoveryOutcome[]>;
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
  /** Discovers one server as {@link discover} does, and answers everything that was said as well (DISC-7). */
  discoverRaw(server: string): Promise<RawReport>;
  /** Writes a server to the config file. Show its exact command and ask before (S25). */
  add(id: string, entry: ServerEntry): Promise<{ readonly path: string }>;
  /** Proposes a server; it is pending and starts nothing until it is approved. Answers the request. */
  register(
    proposal: ProposedServer,
    options?: ActOptions & { readonly origin?: 'registry' | 'introspected' },
  ): Promise<Approval>;
  /** Removes a registered server, its exported files, its manifests and the trust in it. */
  unregister(id: string, options?: ActOptions): Promise<void>;
  /**
   * Asks a URL, or a registered server that is not approved, for its tools (A36): no tool is called and nothing is
   * trusted. Registers it, asks for its approval and writes the RTFS files to review.
   */
  introspect(
    target: IntrospectionTarget,
    options?: ActOptions & { readonly allowPrivate?: boolean },
  ): Promise<Candidate>;
  /** Signs in to a remote server that asks for it, and keeps what it was given (CONN-6). */
  signIn(server: string, options: SignInOptions): Promise<SignInStatus>;
  /** Forgets a sign-in, and has it revoked where that is offered. */
  signOut(server: string): Promise<{ readonly removed: boolean; readonly revoked: boolean }>;
  /** Whether there is a sign-in to a server, and for how long. */
  signInStatus(server: string): Promise<SignInStatus>;
}

/** Tools, and what is kept of them. */
export interface ToolVerbs {
  /** The tools of one server; it is learned when it never was. */
  list(server: string, options?: ListToolsOptions): Promise<Tool[]>;
  /** Every tool that may be run now, of all servers, in a fixed order. */
  offered(): Promise<Tool[]>;
  /** The definition of a tool as its server gave it; `undefined` when it is not known. */
  definition(server: string, tool: string): JsonObject | undefined;
  /** A tool as `{tool_name, description, parameters, returns}` (NEG-8). */
  signature(server: string, tool: string, options?: AskOptions): Promise<ToolSignature>;
  /** The TypeScript declaration of a tool as a script calls it (CODE-2); `brief` on one line, without descriptions; `answer` only what it gives. */
  declaration(
    server: string,
    tool: string,
    options?: AskOptions & { readonly brief?: boolean; readonly answer?: boolean },
  ): Promise<string>;
  /** How often lists came out of the cache. */
  cacheStats(): CacheStats;
  /** Forgets the lists of one server, or of all; answers how many. */
  clearCache(server?: string): Promise<number>;
  /** Deletes which queries led to which tools, for all principals; returns their number. */
  forgetUsage(): Promise<number>;
}

/** Who decides what is trusted (SEC-9). A reference is a server or `server:tool`. */
export interface ApprovalVerbs {
  /** What waits for approval, was decided or expired, for the servers of this configuration. */
  list(filter?: ApprovalFilter): Promise<Approval[]>;
  /** What a request would change: of one tool, or of everything of a server that waits. */
  diff(ref: string, options?: Pick<ApprovalFilter, 'shownTo'>): Promise<ApprovalDiff[]>;
  /** Trusts a server or `server:tool` exactly as it is asked for; offered at once, durable when it resolves. */
  approve(ref: string, options?: RulingOptions): Promise<RulingReport>;
  /** Rejects what is asked for, or takes back the trust in it. */
  reject(ref: string, options?: RulingOptions): Promise<RulingReport>;
  /** Calls that wait for a person's confirmation, were decided or expired, oldest first (SEC-11). */
  calls(filter?: PendingCallFilter): Promise<PendingCall[]>;
  /**
   * Confirms one pending call: its caller may make it once, with exactly these arguments, until it expires. With the scope `tool` the
   * caller may, from that call on, call the tool for 30 days, with any arguments.
   */
  approveCall(id: string, options?: CallRulingOptions): Promise<PendingCall>;
  /** Says no to a call that waits. */
  rejectCall(id: string, options?: CallRulingOptions): Promise<PendingCall>;
}

/** Skills: what each asks for and what it got. */
export interface SkillVerbs {
  /** Every skill of the configured folders: what it asks for, what it got, what is missing and why (NEG-3). */
  list(): Promise<SkillView[]>;
  /** What a skill calls through; everything outside of its bindings is `FORBIDDEN` (NEG-5). */
  get(id: string): Promise<SkillHandle>;
  /** How one skill stands, by its id or by the path of a `skill.md`; the servers it is bound to are looked at first. */
  check(idOrPath: string): Promise<SkillView>;
  /** Learns the servers that were not asked yet, then negotiates for one skill. */
  bind(id: string): Promise<SkillView>;
  /**
   * A skill as a viewer, for {@link Toolscout.as}: it sees what its bindings cover and nothing else (NEG-5). A skill that does not
   * exist sees nothing, and its calls are refused and recorded.
   */
  viewer(id: string): Promise<Viewer>;
}

/** The registry of servers: the health of our own, and the public one with servers that are not configured. */
export interface RegistryVerbs {
  /** The snapshot of all servers and their health (REG-1); `undefined` where toolscout was opened without one. Start it yourself. */
  get(): Promise<Registry | undefined>;
  /** Searches the registry for servers; none of them is started (REG-9). */
  search(query: string, options?: RegistrySearchOptions): Promise<RegistryFindings>;
  /**
   * Searches the registry and asks what it found for tools: servers that are configured are learned; the others are
   * registered, which makes them pending, and those at a public https URL are introspected (SEC-9).
   */
  discover(query: string, options?: DiscoveryOptions): Promise<RegistryDiscovery>;
  /**
   * Who offers a capability: configured servers, by declaration or by their tools; without any, servers of the
   * registry. Servers that were never learned are learned first, for at most `searchWaitMs`.
   */
  serversFor(capability: string): Promise<CapabilityFindings>;
  /** One server of the registry, and how it would stand in the config. Changes nothing. */
  plan(name: string, options?: RegistryPlanOptions): Promise<RegistryPlan>;
}

/** The audit log: who did what. */
export interface AuditVerbs {
  /** Records that fit, newest first. */
  list(filter?: AuditFilter): Promise<AuditRecord[]>;
  /** Calls the listener for every new matching record; call the returned function to stop. */
  follow(listener: (record: AuditRecord) => void, filter?: AuditFilter): () => void;
  /** Compares the log with its hash chain, and with heads that were kept elsewhere (SEC-12). */
  verify(options?: { readonly heads?: readonly ChainHead[] }): Promise<AuditVerification>;
  /** A portion of the log as lines for other programs, oldest first; `position` is where the next one begins (SEC-12). */
  export(query?: AuditExportQuery): Promise<AuditExport>;
  /** What was used, in tokens, by day unless said otherwise; and what loading every tool would have cost (ANS-7). */
  stats(query?: StatsQuery): Promise<Stats>;
}

/** The configuration, and the store. */
export interface ConfigVerbs {
  /** The configuration in force, every field of it; values of variables, headers, keys and other secrets are never in it (CFG-4). */
  show(): Promise<ShownConfig>;
  /** Where the store is, whether it can be written, and whether it must be accepted (A48). */
  storeStatus(): Promise<StoreStatus>;
  /** Accepts a store that vanished, was replaced, was restored from an older copy or was damaged; answers what was in doubt. */
  acceptStore(options?: { readonly by?: string; readonly reason?: string }): Promise<StoreDoubt | undefined>;
}

/** Tools in the formats of others. */
export interface ExportVerbs {
  /** Writes what is known of tools as RTFS, Markdown, JSON or TypeScript (SCH-8). */
  write(options: ExportOptions): Promise<ExportReport>;
  /** The manifest of a tool, with what was inferred of its output (SCH-7). */
  manifest(tool: Tool): Promise<Manifest>;
  /** Every approved manifest. */
  marketplace(): Promise<Manifest[]>;
  /** Puts the manifest of a tool that is offered into the marketplace (SCH-7). */
  register(manifest: Manifest): Promise<void>;
}

/** How well things are. */
export interface ReportVerbs {
  /** Checks config, store and every server; `onFinding` gets each finding as soon as there is one. */
  doctor(options?: DoctorOptions): Promise<DoctorReport>;
  /** Measures how well tools are found for labelled queries, among the offered ones or among recorded ones (FIND-2). */
  evaluate(
    queries: readonly LabelledQuery[],
    options?: { readonly tools?: readonly RecordedServer[] },
  ): Promise<EvaluationReport>;
  /** Looks for signs of an attack in all that servers said (A11), of those named or of all that are known; or in recorded tools. */
  scan(options?: {
    readonly servers?: readonly string[];
    readonly tools?: readonly RecordedServer[];
  }): Promise<ScanReport>;
}

/** toolscout as a program has it: what most need at the top, the rest by subject. */
export interface Toolscout {
  /** Finds tools for a need in plain words, best first. */
  search(query: string, options?: SearchOptions): Promise<SearchAnswer>;
  /** A tool, and its definition without what an agent does not need. */
  details(server: string, tool: string, options?: DetailsOptions): Promise<ToolDetails>;
  /** Runs a tool; a failure is part of the answer. */
  call(server: string, tool: string, args: JsonObject, options?: CallOptions): Promise<CallResult>;
  /** Runs a tool and gives its progress as it comes, then its result. */
  stream(server: string, tool: string, args: JsonObject, options?: CallOptions): AsyncIterable<CallEvent>;
  /** Runs a script: the body of an async function that calls tools as `tools.SERVER.TOOL(…)`; a failure is part of the answer (CODE-9). */
  run(script: string, options?: ScriptOptions): Promise<ScriptResult>;
  /** Why a tool is offered, or why it is not. */
  why(server: string, tool: string): Promise<Why>;
  /** The same verbs as this viewer has them: other servers are not there, in lists, searches, calls, events and messages (S12). */
  as(viewer: Viewer): Toolscout;
  /** Resolves when everything in the store is indexed. */
  ready(): Promise<void>;
  /** Reads the configuration again and swaps it in; an invalid one leaves the old state serving (CFG-6). */
  reload(options?: ActOptions): Promise<ReloadReport>;
  /** Calls the listener for every event that the viewer may see; call the returned function to stop. */
  onEvent(listener: (event: ToolscoutEvent) => void): () => void;
  /**
   * Stops taking work, lets running calls finish for `drainMs`, then closes every server. It resolves after `graceMs` even when a
   * server has not ended yet; the watchdog then ends it.
   */
  close(options?: { readonly drainMs?: number; readonly graceMs?: number }): Promise<void>;
  readonly servers: ServerVerbs;
  readonly tools: ToolVerbs;
  readonly approvals: ApprovalVerbs;
  readonly skills: SkillVerbs;
  readonly registry: RegistryVerbs;
  readonly audit: AuditVerbs;
  readonly config: ConfigVerbs;
  readonly exports: ExportVerbs;
  readonly reports: ReportVerbs;
  readonly lock: LockVerbs;
}

/** What hosts of the MCP fronts say besides calls. */
export interface HostVerbs {
  /** Asks a server something that is no tool call; the answer is the server's own object. */
  relay(server: string, method: string, params: JsonObject, options?: HostCallOptions): Promise<JsonObject>;
  /** Has a server announce changes of a resource until the answer is called; `onUpdate` gets the announcement. */
  subscribe(
    server: string,
    uri: string,
    options: { readonly host?: Host; readonly onUpdate: (params: JsonObject) => void },
  ): Promise<() => void>;
  /** Passes on what a host says to the servers it is connected to. */
  tell(host: Host, method: string, params?: JsonObject): void;
  /** Has the servers a host is connected to log from its level on. */
  setLogLevel(host: Host): Promise<void>;
  /** Records the list of tools that a host was given, for the bill (ANS-7). */
  noteMenu(tools: readonly JsonObject[], options?: MenuOptions): void;
  /** Records what toolscout itself answered a host, and no other record counts (ANS-7). */
  noteAnswer(
    tool: string,
    args: JsonObject,
    answer: JsonObject,
    options?: Pick<CallOptions, 'traceId' | 'hostName'>,
  ): void;
  /** A host has gone: connections that were made for it alone end. */
  release(host: Pick<Host, 'id'>): void;
}

/** Verbs for our own fronts and for the composition only. */
export interface InternalVerbs {
  /** The line that names what is behind toolscout (META-8). */
  coverage(): string;
  /** What every usable server that is known already said of itself, by id. */
  knownFacts(): Promise<ReadonlyMap<string, ServerFacts>>;
  /** Who this toolscout is to others that are connected to it. */
  lineage(): Lineage;
  /** The configuration in force with its secrets: never shown, see {@link ConfigVerbs.show}. */
  loaded(): LoadedConfig;
  /** How many tokens the answer of a tool may cost a host that is offered it by name; `undefined` when there is no bound (ANS-1). */
  budget(tool: Pick<Tool, 'server' | 'name' | 'definition'>, asked: Budget): number | undefined;
  /** A result of toolscout itself as an agent can afford it: what is too large is kept, and its preview returned (ANS-1). */
  afford(tool: string, result: JsonObject, readBy: 'execute_tool' | 'script'): Promise<JsonObject>;
  /** The tokens of everything that this process has recorded, by server (under the empty name what belongs to none), and of every tool that is offered (ANS-7). */
  tokens(): Promise<{ readonly recorded: ReadonlyMap<string, TokenCount>; readonly everyTool: number }>;
  /** What a host carries from one round of a request to the next, or a browser through a sign-in, sealed for this store (S8). */
  sealState(payload: JsonObject, binding: string, use?: StateUse): Promise<string>;
  /** What was sealed, once; `undefined` for anything forged, foreign, expired or used before. */
  openState(state: unknown, binding: string, use?: StateUse): Promise<JsonObject | undefined>;
  /** Notes that an answer of a server held these links, for every process and the next one (A52). */
  keepLinks(server: string, uris: readonly string[]): Promise<void>;
  /** The servers whose answers to this caller held a link. */
  linkGivers(uri: string): Promise<readonly string[]>;
  /** The messages between hosts, toolscout and servers, for the fronts that show them. */
  traffic(): Traffic;
  /** How much there is to do, and what was refused for that reason (R12). */
  overload(): OverloadStatus;
  /** Sets memory aside for a request of so many bytes; answers how it is given back. Throws `RATE_LIMITED` when there is too little. */
  reserve(bytes: number): () => void;
  /** Waits until no server is being learned, at most `patienceMs`. */
  settle(patienceMs: number): Promise<void>;
}

/** toolscout as its fronts have it: every front is written against this and nothing else. */
export interface Gateway extends Toolscout {
  as(viewer: Viewer): Gateway;
  reload(options?: ReloadOptions): Promise<ReloadReport>;
  call(server: string, tool: string, args: JsonObject, options?: HostCallOptions): Promise<CallResult>;
  stream(server: string, tool: string, args: JsonObject, options?: HostCallOptions): AsyncIterable<CallEvent>;
  run(script: string, options?: HostScriptOptions): Promise<ScriptResult>;
  readonly hosts: HostVerbs;
  readonly internal: InternalVerbs;
  readonly sessions: SessionVerbs;
  readonly studio: StudioVerbs;
}
