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
export { toCallError } from './call-errors.js';
export { createExecutor, isRefusal } from './execute.js';
export type { Answering } from './executor.js';
export type { Confirmation } from './confirmation.js';
export { streamCall, type CallEvent } from './stream.js';
