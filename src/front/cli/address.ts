import { ToolscoutError } from '../../kernel/errors.js';

/** Server and tool from `server tool` or `server:tool`. */
export function parseAddress(first: string, second: string | undefined): { server: string; tool: string } {
  if (second !== undefined) return { server: first, tool: second };
  const colon = first.indexOf(':');
  if (colon > 0 && colon < first.length - 1) return { server: first.slice(0, colon), tool: first.slice(colon + 1) };
  throw new ToolscoutError('INVALID_REQUEST', `Name a tool as "server tool" or "server:tool"; found only "${first}".`);
}
