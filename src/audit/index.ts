export { createAudit, type Audit } from './audit.js';
export { type AuditPush, type AuditSink, startAuditPush } from './export/push.js';
