export { defineConfig } from './define-config.js';
export { diffServers } from './diff.js';
export { readEnvironment } from './environment.js';
export { findConfig } from './find.js';
export { loadConfig } from './load.js';
export { resolveConfig, type LoadedConfig } from './resolve.js';
export { validateConfig } from './validate.js';
export { watchConfig, type ConfigWatch } from './watch.js';
