export { createAudit, type Audit } from './audit.js';
