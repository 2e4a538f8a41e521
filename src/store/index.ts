export { createMemoryStore } from './memory.js';
export { remarksOn } from './remarks.js';
export { openSqliteStore, type SqliteStoreOptions } from './sqlite/sqlite.js';
export { createUnsavedFlag, type UnsavedFlag } from './unsaved-flag.js';
export { stateDirectory } from './state-directory.js';
