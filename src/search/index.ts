export { createIndex, type Evidence, type Ranked, type ToolIndex } from './search.js';
