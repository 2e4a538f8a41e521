export { createToolscout, type ToolscoutOptions } from './app/create-toolscout.js';
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
export { ERROR_TABLE, ToolscoutError, type ErrorCode, type Problem, type Severity } from './kernel/errors.js';
export type {
  AskOptions,
  CallOptions,
  Candidate,
  IntrospectionTarget,
  CapabilityFindings,
  DiscoveryOptions,
  DiscoveryOutcome,
  DiscoveryProgress,
  DiscoveryTarget,
  DoctorReport,
  Evaluation,
  EvaluationReport,
  ExportFormat,
  ExportOptions,
  ExportReport,
  Finding,
  Gateway,
  GatewayEvent,
  JudgedQuery,
  Knowledge,
  LabelledQuery,
  ListFindings,
  ProposedServer,
  RawReport,
  RecordedServer,
  Registry,
  RegistryCandidate,
  RegistryDiscovery,
  RegistryFind,
  RegistryFindings,
  RegistryPlan,
  RegistryPlanOptions,
  ReloadReport,
  RulingOptions,
  RulingReport,
  RtfsDialect,
  SchemaFindings,
  ServerConfig,
  ServerView,
  SkillHandle,
  SkillView,
  SignInOptions,
  SignInStatus,
  ToolSignature,
  Why,
} from './gateway/index.js';
export type { JsonObject, JsonValue } from './kernel/json.js';
export type {
  Approval,
  ApprovalDiff,
  ApprovalFilter,
  ApprovalState,
  Change,
  Risk,
  RiskLevel,
} from './model/approval.js';
export type { AuditFilter, AuditRecord } from './model/audit-record.js';
export type { Call, CallResult, Failure, Progress } from './model/call.js';
export type { Config, ConfigInput } from './model/config.js';
export type { Explanation, Hit, SearchAnswer, SearchOptions } from './model/hit.js';
export type { Launch, LaunchAnswers, LaunchInput, RegistryServer } from './model/registry-server.js';
export type { Snapshot, SnapshotFilters, SnapshotItem } from './model/snapshot.js';
export type { Manifest, RegisterCapability } from './model/manifest.js';
export type { Principal, Scope } from './model/principal.js';
export type { Viewer } from './model/viewer.js';
export type { Server, ServerHealth } from './model/server.js';
export type { AgentBriefingEvent, Binding, MissingCapability, Negotiation, Skill, SkillState } from './model/skill.js';
export type { Entry, Store } from './model/store.js';
export type { Parameter, Tool } from './model/tool.js';
export type { Upstream, UpstreamNotification, UpstreamRequest } from './model/upstream.js';
export { VERSION } from './kernel/version.js';
