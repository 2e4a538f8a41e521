export { createCleaner, type Cleaner } from './clean.js';
export { compareLocks, lineOf } from './compare-locks.js';
export { createLockSource, readLockFile } from './lock-source.js';
export { hashOfLock, lockError, writeLock } from './lock-text.js';
export { makeLockServer } from './make.js';
export { findInstalled, packageIn, type PackagePlaces } from './package.js';
