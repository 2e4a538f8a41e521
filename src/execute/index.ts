export { createArgumentValidator } from './validation/argument-validator.js';
export { approvalCheck, bindingCheck, forbidden, ruleCheck, shownCheck } from './checks.js';
export { createExecutor, toCallError } from './execute.js';
export type { CallEvent } from './stream.js';
