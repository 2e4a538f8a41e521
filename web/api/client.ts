import { send, sendForEvents } from './http.js';
import type {
  ConfigApplied,
  ConfigChange,
  ConfigFile,
  ConfigPlan,
  ImportPlan,
  RegistryFindings,
  RuleConfig,
  RulesPreview,
  Attention,
  Overview,
  ServerDetails,
  Approval,
  ApprovalDiff,
  Ask,
  AuditRecord,
  Json,
  HeldTools,
  JsonObject,
  PendingCall,
  ReloadReport,
  RulingReport,
  SearchAnswer,
  SearchPreview,
  ServerView,
  ShownConfig,
  Skill,
  Stats,
  ToolDetails,
  ToolSummary,
  Why,
} from './types.js';

const part = encodeURIComponent;

/** What a decision says. */
export interface Ruling {
  readonly reason?: string;
  readonly hash?: string;
  readonly all?: boolean;
  readonly includeCritical?: boolean;
}

/** A call that was kept under a name. */
export interface SavedCall {
  readonly id: string;
  readonly name: string;
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** What a search asks. */
export interface SearchQuery {
  readonly q: string;
  readonly server?: string;
  readonly tag?: readonly string[];
  readonly limit?: number;
}

/** Every request that the page makes: the routes of `/openapi.json`, and no others. */
export const api = {
  servers: (signal?: AbortSignal) =>
    send<{ servers: ServerView[] }>('/v1/servers', { signal }).then(({ servers }) => servers),
  overview: (signal?: AbortSignal) => send<Overview>('/v1/overview', { signal }),
  /** Sends the request that mends something. */
  act: (action: NonNullable<Attention['action']>) =>
    send<JsonObject | undefined>(action.path, { method: action.method, body: action.body }),
  server: (id: string, signal?: AbortSignal) => send<ServerDetails>(`/v1/servers/${part(id)}`, { signal }),
  serverAction: (id: string, action: 'connect' | 'disconnect' | 'discover' | 'enable' | 'disable' | 'sign-in') =>
    send<JsonObject | undefined>(`/v1/servers/${part(id)}/${action}`, { method: 'POST' }),
  serverTools: (id: string, signal?: AbortSignal) =>
    send<{ tools: ToolSummary[] }>(`/v1/servers/${part(id)}/tools`, { query: { include_disabled: true }, signal }).then(
      ({ tools }) => tools,
    ),
  /** What an agent would find; a search of the page does not count as one of an agent. */
  search: (query: SearchQuery, signal?: AbortSignal) =>
    send<SearchAnswer>('/v1/search', {
      query: { ...query, explain: true, include_schema: true, preview: true },
      signal,
    }),
  /** What an agent would get for the same search. */
  searchPreview: (query: Pick<SearchQuery, 'q' | 'server'>, signal?: AbortSignal) =>
    send<SearchPreview>('/v1/search/preview', { query: { ...query }, signal }),
  /** The tools that agents do not get; with `q` those that it may mean. */
  heldTools: (query: { readonly q?: string; readonly server?: string }, signal?: AbortSignal) =>
    send<HeldTools>('/v1/held-tools', { query: { ...query }, signal }),
  tool: (server: string, tool: string, signal?: AbortSignal) =>
    send<ToolDetails>(`/v1/tools/${part(server)}/${part(tool)}`, { query: { include_disabled: 'true' }, signal }),
  why: (server: string, tool: string, signal?: AbortSignal) =>
    send<Why>(`/v1/why/${part(server)}/${part(tool)}`, { signal }),
  approvals: (state?: Approval['state'], signal?: AbortSignal, server?: string) =>
    send<{ approvals: Approval[] }>('/v1/approvals', { query: { state, server }, signal }).then(
      ({ approvals }) => approvals,
    ),
  approvalDiff: (ref: string, signal?: AbortSignal) =>
    send<{ diffs: ApprovalDiff[] }>(`/v1/approvals/${part(ref)}/diff`, { signal }).then(({ diffs }) => diffs),
  decide: (ref: string, verb: 'approve' | 'reject', ruling: Ruling) =>
    send<RulingReport>(`/v1/approvals/${part(ref)}/${verb}`, { body: ruling }),
  pendingCalls: (state?: PendingCall['state'], signal?: AbortSignal) =>
    send<{ calls: PendingCall[] }>('/v1/pending-calls', { query: { state }, signal }).then(({ calls }) => calls),
  decideCall: (id: string, verb: 'approve' | 'reject', ruling: { readonly reason?: string }) =>
    send<PendingCall>(`/v1/pending-calls/${part(id)}/${verb}`, { body: ruling }),
  skills: (signal?: AbortSignal) => send<{ skills: Skill[] }>('/v1/skills', { signal }).then(({ skills }) => skills),
  audit: (query: Readonly<Record<string, string | number | undefined>>, signal?: AbortSignal) =>
    send<{ records: AuditRecord[] }>('/v1/audit', { query, signal }).then(({ records }) => records),
  stats: (query: Readonly<Record<string, string | number | undefined>>, signal?: AbortSignal) =>
    send<Stats>('/v1/stats', { query, signal }),
  config: (signal?: AbortSignal) => send<ShownConfig>('/v1/config', { signal }),
  reload: () => send<ReloadReport>('/v1/config/reload', { method: 'POST' }),
  configFile: (signal?: AbortSignal) => send<ConfigFile>('/v1/config/file', { signal }),
  planChange: (change: ConfigChange) => send<ConfigPlan>('/v1/config/plan', { body: { change } }),
  applyChange: (change: ConfigChange, plan: string) =>
    send<ConfigApplied>('/v1/config/apply', { body: { change, plan } }),
  imports: (signal?: AbortSignal) => send<ImportPlan>('/v1/imports', { signal }),
  planImport: (sources: readonly string[]) => send<ImportPlan>('/v1/imports', { body: { sources } }),
  applyImport: (sources: readonly string[], plan: string) =>
    send<ConfigApplied>('/v1/imports', { body: { sources, plan } }),
  /** What rules would do; with `except`, rules that also offer this one tool. */
  previewRules: (toolRules: readonly RuleConfig[], signal?: AbortSignal, except?: string) =>
    send<RulesPreview>('/v1/rules/preview', { body: { toolRules, except }, signal }),
  registrySearch: (q: string, signal?: AbortSignal) =>
    send<RegistryFindings>('/v1/registry/search', { query: { q }, signal }),
  /** The questions that wait for this person, of calls made here or elsewhere. */
  asks: (signal?: AbortSignal) => send<{ asks: Ask[] }>('/v1/asks', { signal }).then(({ asks }) => asks),
  answer: (id: string, answer: JsonObject) => send<Json>(`/v1/asks/${part(id)}`, { body: { answer } }),
  /** Says which tool a query meant; `toolscout eval` reads it. */
  label: (query: string, server: string, tool: string) => send<Json>('/v1/labels', { body: { query, server, tool } }),
  /** The file of queries that were labelled. */
  labelFile: () => send<{ file: string }>('/v1/labels').then(({ file }) => file),
  savedCalls: (signal?: AbortSignal) =>
    send<{ calls: SavedCall[] }>('/v1/saved-calls', { signal }).then(({ calls }) => calls),
  saveCall: (call: Omit<SavedCall, 'id'>) => send<Json>('/v1/saved-calls', { body: call }),
  /** Keeps all calls of an export. */
  saveCalls: (calls: ReadonlyArray<Omit<SavedCall, 'id'>>) => send<Json>('/v1/saved-calls', { body: { calls } }),
  deleteSavedCall: (id: string) => send<Json>(`/v1/saved-calls/${part(id)}`, { method: 'DELETE' }),
  /** Runs a tool; its progress and its answer come as events. */
  call: (
    body: { readonly server: string; readonly tool: string; readonly arguments: JsonObject },
    signal: AbortSignal,
    onEvent: (name: string, data: JsonObject) => void,
  ) =>
    sendForEvents('/v1/call', { method: 'POST', body: { ...body, ask: true }, signal }, ({ event, data }) =>
      onEvent(event, JSON.parse(data) as JsonObject),
    ),
} as const;
