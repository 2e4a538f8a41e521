export { createAudit, type Audit } from './audit.js';
export type { AuditSink } from './export/delivery.js';
export { moveExportCursors } from './export/move-cursors.js';
export { type AuditPush, startAuditPush } from './export/push.js';
