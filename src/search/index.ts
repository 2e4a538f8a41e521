export { createIndex, type ToolIndex } from './search.js';
