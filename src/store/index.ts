export { createMemoryStore } from './memory.js';
export { openSqliteStore, type SqliteStoreOptions } from './sqlite.js';
export { stateDirectory, type StateDirectoryOptions } from './state-directory.js';
