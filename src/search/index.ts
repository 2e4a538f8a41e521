export { comparePaired, type Comparison } from './bootstrap.js';
export {
  goldOf,
  type Gold,
  judge,
  JUDGED_RANKS,
  percentile,
  summariseRun,
  type Evaluation,
  type LabelledQuery,
  type Quality,
} from './evaluate.js';
export type { Evidence } from './index/segment-table.js';
export { createIndex, type Encoded, type Experience, type ToolIndex } from './search.js';
export { createKnowledgeSource, type Knowledge, type KnowledgeSource } from './knowledge.js';
export { hashTerms, recall, remember, type Credit, type Usage } from './rank/usage.js';
export type { Cut } from './evaluate.js';
export { createActions } from './words/actions.js';
