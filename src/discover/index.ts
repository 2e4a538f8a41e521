export { discoverAll } from './discover-all.js';
export { extractAnswer, extractTools, RUNG_WORTH, type Rung } from './extract.js';
export { inferOutput, mayBeTried, safeInput } from './infer-output.js';
export { climb, isPlainAnswer, type Climbed } from './ladder.js';
export { predictTools } from './predict.js';
export { listPrompts, listResources, listResourceTemplates, listTools, type Listed } from './list.js';
export { createToolCache, type CacheStats, type ToolCache } from './tool-cache.js';
