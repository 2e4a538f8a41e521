export { discoverAll } from './discover-all.js';
export { listPrompts, listResources, listResourceTemplates, listTools } from './list.js';
export { createToolCache, type CacheStats, type ToolCache } from './tool-cache.js';
