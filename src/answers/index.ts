export { budgetOf, createAnswers, type Answer, type Wanted } from './answers.js';
export { createKeptResults, OWN_SERVER } from './kept-results.js';
export { createScreen, screenModeOf } from './screen.js';
export { compileSelection } from './select/select.js';
export { shapeOfJson } from './shape.js';
export { OWN_TOOLS, runOwnTool } from './own-tools.js';
