export { createMemoryStore } from './memory.js';
export { remarksOn, type StoreRemark } from './remarks.js';
export { openSqliteStore, type SqliteStoreOptions } from './sqlite.js';
export { stateDirectory } from './state-directory.js';
