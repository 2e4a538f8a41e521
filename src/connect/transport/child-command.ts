import type { StdioTransport } from '../../model/server.js';
import type { ChildCommand } from './child.js';

/** The words that start a server: its own command, behind those of its sandbox if it has one (A49). */
export function commandOf({ sandbox = [], command, args }: StdioTransport): Pick<ChildCommand, 'command' | 'args'> {
  const [first = command, ...rest] = [...sandbox, command, ...args];
  return { command: first, args: rest };
}
