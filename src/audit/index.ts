export { createAudit, type Audit } from './audit.js';
export { redactArguments } from './redact.js';
