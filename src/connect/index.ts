export { createChildKeeper, type ChildKeeper } from './child.js';
export type { Verdict } from './era.js';
export { createLimiter, type Limiter } from './limiter.js';
export { openUpstream, type OpenDeps, type VerdictMemory } from './open.js';
export { createPool, type Pool, type PoolDeps, type PoolEvent } from './pool.js';
export { isTransient, withRetry, type RetryOptions } from './retry.js';
