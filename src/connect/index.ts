export { createChildKeeper } from './child.js';
export type { Verdict } from './era.js';
export { createLimiter, type Limiter } from './limiter.js';
export { createSignIns, openBrowserInteraction, type SignIns } from './oauth.js';
export type { Grant } from './oauth-grants.js';
export { openUpstream, type VerdictMemory } from './open.js';
export { createPool, type Pool, type PoolEvent, type PoolUse } from './pool.js';
export { runRaw, type RawExchange, type RawLine, type RawOptions } from './raw-run.js';
export { isTransient, withRetry } from './retry.js';
