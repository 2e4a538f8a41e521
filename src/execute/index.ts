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
export { createExecutor, isRefusal, toCallError } from './execute.js';
export type { Answering } from './executor.js';
export type { Confirmation } from './confirmation.js';
export { streamCall, type CallEvent } from './stream.js';
