export { createConfirmer, type Confirmer } from './confirmer.js';
export { createWebhook } from './webhook.js';
