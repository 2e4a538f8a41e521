export { createMemoryStore } from './memory.js';
export { openSqliteStore } from './sqlite.js';
export { stateDirectory } from './state-directory.js';
