export { createArgumentValidator, type ArgumentValidator, type ValidatorOptions } from './argument-validator.js';
export { approvalCheck, ruleCheck, type Check, type Subject } from './checks.js';
export { createExecutor, type ExecutionEntry, type Executor, type ExecutorDeps } from './execute.js';
export type { CallEvent } from './stream.js';
