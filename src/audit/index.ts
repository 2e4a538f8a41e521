export { type Audit, type AuditOptions, type AuditState, createAudit, type NewRecord } from './audit.js';
export { redactArguments } from './redact.js';
