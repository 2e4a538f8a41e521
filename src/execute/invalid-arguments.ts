import { ToolscoutError, type Problem } from '../kernel/errors.js';
import { addressOf } from '../kernel/ids.js';
import { PROBLEMS_IN_MESSAGE } from '../model/call.js';
import type { Tool } from '../model/tool.js';

/** A JSON Pointer as people write it: `files[0].path`. */
function readable(pointer: string): string {
  if (!pointer.startsWith('/')) return pointer;
  const names = pointer
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  return names
    .map((name) => (/^\d+$/.test(name) ? `[${name}]` : `.${name}`))
    .join('')
    .replace(/^\./, '');
}

/** The refusal of arguments that do not fit the schema of their tool. */
export function invalidArguments(
  tool: Tool,
  problems: readonly Problem[],
  signature: (tool: Tool) => string,
): ToolscoutError {
  const named = problems.slice(0, PROBLEMS_IN_MESSAGE).map(({ path, message }) => `${readable(path)} ${message}`);
  const more = problems.length > PROBLEMS_IN_MESSAGE ? `; and ${problems.length - PROBLEMS_IN_MESSAGE} more` : '';
  return new ToolscoutError(
    'TOOL_VALIDATION_ERROR',
    `The arguments of "${addressOf(tool.server, tool.name)}" are not valid: ${named.join('; ')}${more}. Signature: ${signature(tool)}`,
    { remedy: { kind: 'fix-arguments', server: tool.server, tool: tool.name }, problems, delivered: false },
  );
}
