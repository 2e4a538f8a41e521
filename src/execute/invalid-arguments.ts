import { ToolscoutError, type Problem } from '../kernel/errors.js';
import { addressOf } from '../kernel/ids.js';
import type { Tool } from '../model/tool.js';

/** Problems named in the message; the others stand in the list. */
const NAMED = 3;

/** The refusal of arguments that do not fit the schema of their tool. */
export function invalidArguments(
  tool: Tool,
  problems: readonly Problem[],
  signature: (tool: Tool) => string,
): ToolscoutError {
  const named = problems.slice(0, NAMED).map(({ path, message }) => `${path} ${message}`);
  const more = problems.length > NAMED ? `; and ${problems.length - NAMED} more` : '';
  return new ToolscoutError(
    'TOOL_VALIDATION_ERROR',
    `The arguments of "${addressOf(tool.server, tool.name)}" are not valid: ${named.join('; ')}${more}. Signature: ${signature(tool)}`,
    { problems, delivered: false },
  );
}
