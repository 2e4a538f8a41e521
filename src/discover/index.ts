export { discoverAll } from './discover-all.js';
export { listPrompts, listResources, listResourceTemplates, listTools } from './list.js';
export { listBesides } from './besides.js';
export { createToolCache, type CacheStats, type ToolCache, type UpstreamFacts } from './tool-cache.js';
