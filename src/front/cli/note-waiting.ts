import type { Gateway } from '../../gateway/index.js';
import type { Terminal } from './terminal.js';

/**
 * Reports on stderr how many tools of one server, or of all, wait for approval: they are in no list, so the user needs
 * a hint. Only the number: the text of such a tool is not trusted yet.
 */
export async function noteWaiting(gateway: Gateway, terminal: Terminal, servers?: readonly string[]): Promise<void> {
  const chosen = servers && new Set(servers);
  const pending = await gateway.approvals.list({ state: 'pending', shownTo: false });
  const count = pending.filter(({ server }) => chosen?.has(server) ?? true).length;
  if (count > 0) terminal.note(`${count} ${count === 1 ? 'waits' : 'wait'} for approval: toolscout pending`);
}
