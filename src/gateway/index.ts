export { createGateway } from './gateway.js';
export type { ServerFacts } from './catalog.js';
export type { Changes } from './changes.js';
export type { AskOptions, CallOptions, Gateway, GatewayEvent } from './verbs.js';
export type { RulingOptions, RulingReport } from './approving.js';
export type { Candidate, IntrospectionTarget, ProposedServer } from './proposing.js';
export { examineStore, type DoctorReport, type Finding } from './doctor.js';
export type { EvaluationReport, JudgedQuery, RecordedServer } from './evaluation.js';
export type { ExportOptions, ExportReport } from './exporting.js';
export type { DiscoveryOutcome, DiscoveryProgress } from './learner.js';
export type {
  CapabilityFindings,
  RegistryCandidate,
  RegistryDiscovery,
  RegistryFind,
  RegistryFindings,
  RegistryPlan,
  RegistryPlanOptions,
} from './finding.js';
export type { RegistrySources } from './server-registry.js';
export type { ListFindings } from './list-findings.js';
export type { RawReport } from './raw-report.js';
export { idOfTarget, type DiscoveryOptions, type DiscoveryTarget, type ServerConfig } from './discovery-options.js';
export type { Learned } from './pipeline.js';
export type { SchemaFindings } from './schema-findings.js';
export { scopeToSkill } from './scoped.js';
export type { SkillHandle, SkillView } from './skills.js';
export type { ReloadReport } from './reload.js';
export type { SignInOptions, SignInStatus } from './sign-in.js';
export { showConfig } from './shown-config.js';
export { noServer } from './visibility.js';
export type { Knowledge, ServerView } from './views.js';
export { explainOutOfScope, explainUnseen, type Why } from './why.js';
export type { ExportFormat, RtfsDialect, ToolSignature } from '../export/index.js';
export type { Evaluation, LabelledQuery } from '../search/index.js';
export type { Registry } from '../registry/index.js';
