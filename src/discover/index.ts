export { discoverAll, type Discovered, type DiscoverAllOptions, type DiscoverProgress } from './discover-all.js';
export { listPrompts, listResources, listResourceTemplates, listTools, type Listed, type ListOptions } from './list.js';
export type { BadItem } from './salvage.js';
export {
  createToolCache,
  type CachedList,
  type CacheStats,
  type ToolCache,
  type ToolCacheDeps,
  type UpstreamFacts,
} from './tool-cache.js';
