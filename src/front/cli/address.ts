import { ToolscoutError } from '../../kernel/errors.js';

/** Whether a word is `server:tool`: no id of a server has a colon. */
export function isAddress(word: string): boolean {
  const colon = word.indexOf(':');
  return colon > 0 && colon < word.length - 1;
}

/** Server and tool from `server tool` or `server:tool`. */
export function parseAddress(first: string, second: string | undefined): { server: string; tool: string } {
  if (isAddress(first)) {
    const colon = first.indexOf(':');
    if (second === undefined) return { server: first.slice(0, colon), tool: first.slice(colon + 1) };
    throw new ToolscoutError(
      'INVALID_REQUEST',
      `Unexpected "${second}": "${first}" already names a server and a tool.`,
    );
  }
  if (second !== undefined) return { server: first, tool: second };
  throw new ToolscoutError('INVALID_REQUEST', `"${first}" names no tool; expected "server tool" or "server:tool".`, {
    remedy: { kind: 'find-tool', server: first.replace(/:$/, '') },
  });
}
