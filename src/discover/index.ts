export { discoverAll } from './discover-all.js';
export { listBesides } from './besides.js';
export type { UpstreamFacts } from './stored-list.js';
export { createToolCache, type CacheStats, type ToolCache } from './tool-cache.js';
export { extractTools, RUNG_WORTH, type Rung } from './extract.js';
export { inferOutput, mayBeTried, safeInput } from './infer-output.js';
export { climb, isPlainAnswer, type Climbed } from './ladder.js';
export { predictTools } from './predict.js';
export { listPrompts, listResources, listResourceTemplates, listTools } from './list.js';
