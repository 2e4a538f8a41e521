export { createToolscout } from './app/create-toolscout.js';
export type { ToolscoutOptions } from './app/open-gateway.js';
export { addToolsApi, createToolsApi, type MountableApp, type ToolsApiOptions } from './front/http/tools-api.js';
export { defineConfig } from './config/define-config.js';
export { readRtfs, rtfsFile, toolSignature, toolToManifest } from './export/index.js';
export { viewerOf } from './gateway/index.js';
export {
  extractSubDomain,
  inferCategories,
  inferDomains,
  primaryDomain as extractPrimaryDomain,
} from './normalize/index.js';
export type { CatalogEvent } from './catalog/events.js';
export type { PoolEvent } from './connect/index.js';
export type { BadItem, CacheStats, LeftOut, Strategy, UpstreamFacts } from './discover/index.js';
export type { CallEvent } from './execute/index.js';
export type { ExportedServer } from './export/index.js';
export type { RouteGroup } from './front/http/route.js';
export type { ProbeEvent, ProbeResult, RegistrySearchOptions, SelfDescription } from './registry/index.js';
export type { Cut, Quality } from './search/index.js';
export type { Cancel } from './kernel/async/cancel.js';
export type { Clock, Timer } from './kernel/clock.js';
export type { Log, LogFields, LogLevel } from './kernel/log.js';
export type { Remedy } from './kernel/remedy.js';
export {
  ERROR_TABLE,
  ToolscoutError,
  type ErrorCode,
  type ErrorDetails,
  type ErrorRow,
  type Problem,
  type Severity,
} from './kernel/errors.js';
export type {
  ActOptions,
  ApprovalVerbs,
  AskOptions,
  AuditVerbs,
  CallOptions,
  CallRulingOptions,
  Candidate,
  IntrospectionTarget,
  CapabilityFindings,
  Changes,
  ConfigVerbs,
  DiscoverOptions,
  DiscoveryOptions,
  DiscoveryOutcome,
  DiscoveryProgress,
  DiscoveryTarget,
  DoctorOptions,
  DoctorReport,
  Evaluation,
  EvaluationReport,
  ExportFormat,
  ExportOptions,
  ExportReport,
  ExportVerbs,
  Finding,
  JudgedQuery,
  ScanFinding,
  ScannedKind,
  ScanReport,
  Knowledge,
  LabelledQuery,
  Learned,
  ListedKind,
  ListFindings,
  DetailsOptions,
  ListToolsOptions,
  Loss,
  ProposedServer,
  RawLine,
  RawReport,
  RecordedServer,
  Registry,
  RegistryCandidate,
  RegistryDiscovery,
  RegistryFind,
  RegistryFindings,
  RegistryPlan,
  RegistryPlanOptions,
  RegistryVerbs,
  ReloadReport,
  ReportVerbs,
  Review,
  RulingOptions,
  RulingReport,
  RtfsDialect,
  SchemaFindings,
  ServerConfig,
  ServerFacts,
  ServerVerbs,
  ServerView,
  ShownConfig,
  ShownHttp,
  ShownServer,
  SkillHandle,
  SkippedApproval,
  SkillVerbs,
  SkillView,
  SignInOptions,
  SignInStatus,
  StoreStatus,
  ScriptOptions,
  ToolDetails,
  Toolscout,
  ToolscoutEvent,
  ToolSignature,
  ToolVerbs,
  Why,
  LockVerbs,
  LockWriteOptions,
} from './gateway/index.js';
export type { JsonObject, JsonValue } from './kernel/json.js';
export type {
  Approval,
  ApprovalDiff,
  CallsMeanwhile,
  ApprovalFilter,
  ApprovalState,
  Change,
  HoldCause,
  Risk,
  RiskEvidence,
  RiskLevel,
  Ruling,
  ServerOrigin,
} from './model/approval.js';
export type { ItemHold } from './model/hold.js';
export type { AuditDamage, AuditProblem, AuditVerification, ChainHead, UnchainedRecords } from './model/audit-chain.js';
export type { Drift, DriftSubject, LockCheck, LockList, LockReport } from './model/lock.js';
export type { AuditExport, AuditExportQuery, AuditFormat } from './model/audit-export.js';
export type { AuditFilter, AuditRecord, TokenCount } from './model/audit-record.js';
export type { Stats, StatsGroup, StatsQuery, Usage, UsageRow } from './model/stats.js';
export type { CallResult, Failure, Progress } from './model/call.js';
export type { ScriptFailure, ScriptResult } from './model/script.js';
export type {
  AuthConfig,
  Config,
  ConfigInput,
  HttpAuth,
  RateLimitConfig,
  RedactionConfig,
  RetryConfig,
  RuleConfig,
  ServerEntry,
} from './model/config.js';
export type { Explanation, Hit, SearchAnswer, SearchOptions } from './model/hit.js';
export type { Launch, LaunchAnswers, LaunchInput, RegistryAnswer, RegistryServer } from './model/registry-server.js';
export type { Snapshot, SnapshotFilters, SnapshotItem, SnapshotTransport } from './model/snapshot.js';
export type { Manifest, RegisterCapability } from './model/manifest.js';
export type {
  ConfirmRule,
  ConfirmScope,
  PendingCall,
  PendingCallFilter,
  PendingCallState,
  ShownConfirm,
} from './model/pending-call.js';
export type { Principal, Scope } from './model/principal.js';
export type { Viewer } from './model/viewer.js';
export type { BreakerState, ConnectionState, ServerHealth, ShownTransport } from './model/server.js';
export type {
  AgentBriefingEvent,
  Binding,
  CapabilityOrigin,
  CapabilityRequest,
  MissingCapability,
  Negotiation,
  Skill,
  SkillState,
} from './model/skill.js';
export type { StoreDoubt } from './model/store.js';
export type { ServerInfo } from './model/upstream.js';
export type { Decision, Parameter, Provenance, Tool, ToolStatus } from './model/tool.js';
export { VERSION } from './kernel/version.js';
