export { createArgumentValidator } from './validation/argument-validator.js';
export {
  approvalCheck,
  bindingCheck,
  createReadOnlyCheck,
  forbidden,
  ruleCheck,
  shownCheck,
  type Check,
  type Subject,
} from './checks.js';
export { createExecutor, isRefusal, toCallError, type Answering } from './execute.js';
export type { Confirmation } from './confirmation.js';
export type { CallEvent } from './stream.js';
