export { type Audit, type AuditOptions, type AuditState, createAudit } from './audit.js';
export { type NewRecord } from './new-record.js';
export { redactArguments } from './redact.js';
