export { readPostgresAddress } from './address.js';
export { openPostgresStore } from './postgres.js';
export { createSeal } from './seal.js';
