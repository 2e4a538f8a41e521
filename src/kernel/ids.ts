import { randomBytes } from 'node:crypto';

/** What stands between server and tool in an address. */
const SEPARATOR = ':';

/** The address of a tool: `server:tool`. */
export function addressOf(server: string, tool: string): string {
  return `${server}${SEPARATOR}${tool}`;
}

/** An unguessable id for a trace, an audit record or a session. */
export function newId(): string {
  return randomBytes(16).toString('hex');
}
