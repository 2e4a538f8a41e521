export { defineConfig } from './define-config.js';
export { diffServers, type ServerDiff } from './diff.js';
export { readEnvironment, type Environment, type Variables } from './environment.js';
export { findConfig, type FindOptions } from './find.js';
export { loadConfig, type LoadOptions } from './load.js';
export { resolveConfig, type LoadedConfig, type ResolveOptions } from './resolve.js';
export { validateConfig } from './validate.js';
export { watchConfig, type ConfigWatch, type WatchOptions } from './watch.js';
