export { createAudit, type Audit } from './audit.js';
export type { AuditSink } from './export/delivery.js';
export { type AuditPush, startAuditPush } from './export/push.js';
