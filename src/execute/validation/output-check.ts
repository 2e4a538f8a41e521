import type { Problem } from '../../kernel/errors.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import type { Tool } from '../../model/tool.js';
import { reportsError } from '../../protocol/strict-results.js';
import { createArgumentValidator } from './argument-validator.js';

/** Compiled output schemas kept; few tools have one, and fewer are used. */
const MAX_COMPILED = 100;

/** The number of problems that are reported for one result. */
const TOLD = 3;

/** Says how a result contradicts the output schema of its tool; `undefined` when it does not, or cannot be checked. */
export type OutputCheck = (tool: Tool, result: JsonObject) => string | undefined | Promise<string | undefined>;

function tell(problems: readonly Problem[]): string | undefined {
  if (problems.length === 0) return undefined;
  return problems
    .slice(0, TOLD)
    .map(({ path, message }) => `${path} ${message}`)
    .join('; ');
}

/** A check that compiles a schema when its tool first answers. The result is passed on whatever it finds. */
export function createOutputCheck(): OutputCheck {
  const validator = createArgumentValidator({ maxCompiled: MAX_COMPILED });
  const schemas = new WeakMap<Tool, Tool>();
  return (tool, result) => {
    const { outputSchema } = tool.definition;
    if (!isObject(outputSchema) || reportsError(result)) return undefined;
    const { structuredContent } = result;
    if (structuredContent === undefined) return 'structuredContent is missing';
    // Any JSON is allowed by now; what is checked here is what schemas are written for.
    if (!isObject(structuredContent)) return undefined;
    let subject = schemas.get(tool);
    if (!subject) {
      subject = { ...tool, hash: `${tool.hash}:output`, definition: { inputSchema: outputSchema } };
      schemas.set(tool, subject);
    }
    const problems = validator.validate(subject, structuredContent);
    return problems instanceof Promise ? problems.then(tell) : tell(problems);
  };
}
