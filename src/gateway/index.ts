export { createGateway } from './gateway.js';
export type { ServerFacts } from '../catalog/catalog.js';
export type { Changes } from '../catalog/changes.js';
export type {
  ApprovalVerbs,
  AuditVerbs,
  ConfigVerbs,
  ExportVerbs,
  Gateway,
  InternalVerbs,
  RegistryVerbs,
  ReportVerbs,
  ServerVerbs,
  SkillVerbs,
  Toolscout,
  ToolscoutEvent,
  ToolVerbs,
} from './contract.js';
export type {
  ActOptions,
  AskOptions,
  CallOptions,
  HostCallOptions,
  MenuOptions,
  DetailsOptions,
  ListToolsOptions,
  ScriptOptions,
  ToolDetails,
} from './contract/options.js';
export type { RulingOptions, RulingReport, SkippedApproval } from './contract/approvals.js';
export type { CallRulingOptions } from './contract/pending-calls.js';
export type { Candidate, IntrospectionTarget, ProposedServer } from './contract/proposals.js';
export { examineStore, type DoctorOptions, type DoctorReport, type Finding } from './reports/doctor.js';
export { asSavedRun, compareRuns, type RunComparison, type SavedRun } from './reports/run-comparison.js';
export type { EvaluationReport, JudgedQuery, Loss, RecordedServer } from './contract/evaluation.js';
export type { LockVerbs, LockWriteOptions } from './contract/lock.js';
export type { ExportOptions, ExportReport, Review } from './contract/exports.js';
export type { DiscoveryOutcome, DiscoveryProgress } from '../catalog/learning/learner.js';
export type {
  CapabilityFindings,
  RegistryCandidate,
  RegistryDiscovery,
  RegistryFind,
  RegistryFindings,
  RegistryPlan,
  RegistryPlanOptions,
} from './contract/registry.js';
export type { GatewayDeps, LockDeps, RegistrySources } from './deps.js';
export type { ListedKind, ListFindings } from './reports/list-findings.js';
export type { RawLine, RawReport } from './contract/raw-report.js';
export {
  idOfTarget,
  type DiscoverOptions,
  type DiscoveryOptions,
  type DiscoveryTarget,
  type ServerConfig,
} from './contract/discovery-options.js';
export type { Learned } from '../catalog/learning/pipeline.js';
export type { ScanFinding, ScannedKind, ScanReport } from './reports/scan.js';
export type { SchemaFindings } from './reports/schema-findings.js';
export type { SkillHandle, SkillView } from './contract/skills.js';
export type { OverloadStatus } from './admission.js';
export type { ReloadReport } from './reload.js';
export type { LabelFile } from './contract/saved.js';
export type { Traffic } from './traffic.js';
export { SESSION_LIFETIME_MS, type Session, type SessionVerbs } from './contract/sessions.js';
export type { SignInOptions, SignInStatus } from './contract/sign-in.js';
export { gatewayOf, publish } from './publish.js';
export { maskConfig, showConfig, type ShownConfig, type ShownHttp, type ShownServer } from './reports/shown-config.js';
export type { StoreStatus } from './reports/store-status.js';
export type { Knowledge, ServerView } from '../catalog/views.js';
export { wrapGateway } from './bind-verbs.js';
export { viewerOf } from './viewer.js';
export type { Why } from './reports/why.js';
export type { ExportFormat, RtfsDialect, ToolSignature } from '../export/index.js';
export type { Evaluation, LabelledQuery } from '../search/index.js';
export type { Registry } from '../registry/index.js';
