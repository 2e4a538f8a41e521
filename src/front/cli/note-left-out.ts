import type { Gateway } from '../../gateway/index.js';
import { printable } from '../../kernel/text.js';
import type { Terminal } from './terminal.js';

/** What is said where there is nothing to work with. */
export const NO_SERVER = 'No server is configured; add one under "servers" in the config.';

/** Names the servers that are left out when all are asked, and why; or says that there is no server. */
export async function noteLeftOut(gateway: Pick<Gateway, 'servers'>, terminal: Terminal): Promise<void> {
  const views = await gateway.servers.list();
  if (views.length === 0) terminal.note(NO_SERVER);
  for (const { id, knowledge, problem = 'it may not be used' } of views) {
    if (knowledge === 'off') terminal.note(terminal.paint.yellow(`not asked: ${id}: ${printable(problem)}`));
  }
}
