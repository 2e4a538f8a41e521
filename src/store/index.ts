export { copyStore, type CopyReport } from './copy-store.js';
export { createMemoryStore } from './memory.js';
export { remarksOn } from './store-remarks.js';
export { openSqliteStore, type SqliteStoreOptions } from './sqlite/sqlite.js';
export { createUnsavedFlag, type UnsavedFlag } from './unsaved-flag.js';
