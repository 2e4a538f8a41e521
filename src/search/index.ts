export { createIndex, type ToolIndex } from './search.js';
export { loadVectors } from './vectors.js';
