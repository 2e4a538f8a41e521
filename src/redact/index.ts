export { createRedaction, type Redaction } from './redaction.js';
