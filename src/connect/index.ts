export { createChildKeeper } from './child.js';
export type { Verdict } from './era.js';
export { createLimiter, type Limiter } from './limiter.js';
export { openUpstream, type VerdictMemory } from './open.js';
export { createPool, type Pool, type PoolEvent, type PoolUse } from './pool.js';
export { isTransient, withRetry } from './retry.js';
