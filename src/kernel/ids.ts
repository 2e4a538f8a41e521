import { randomUUID } from 'node:crypto';

/** What stands between server and tool in an address. */
const SEPARATOR = ':';

/** The address of a tool: `server:tool`. */
export function addressOf(server: string, tool: string): string {
  return `${server}${SEPARATOR}${tool}`;
}

/** An unguessable id (122 random bits, drawn from a pool, so it is cheap) for a trace, an audit record or a session. */
export function newId(): string {
  return randomUUID();
}
