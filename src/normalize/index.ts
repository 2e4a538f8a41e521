export { extractSubDomain, inferCategories, inferDomains, primaryDomain } from './domains.js';
export { examplesOf, type ToolExample } from './examples.js';
export { leanDefinition } from './lean-definition.js';
export { normalizeTool } from './normalize.js';
export { compileRules, type Rules } from './rules.js';
export { exceptTool } from './rule-exception.js';
export { signatureOf } from './signature.js';
