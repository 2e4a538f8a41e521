import type { Command } from 'commander';
import type { ServerView } from '../../../gateway/index.js';
import { withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import { NO_SERVER } from '../left-out.js';
import { ago, table } from '../render.js';
import { noteWaiting } from '../waiting.js';

/** `toolscout servers`: what is configured, and its state. */
export function addServers(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('servers'))
    .summary('list the configured servers')
    .description('Lists the configured servers with what is known of their tools. Starts none of them.')
    .addHelpText('after', '\nExample:\n  $ toolscout servers --json')
    .action(async (flags: CommonFlags) => {
      await withGateway(deps, flags, async (gateway) => {
        const views = await gateway.listServers();
        const { terminal, clock } = deps;
        if (flags.json) return terminal.json({ servers: views });
        if (views.length === 0) return terminal.note(NO_SERVER);
        const learned = (view: ServerView): string =>
          view.learnedAt === undefined ? 'never' : ago(clock.now() - view.learnedAt);
        const rows = views.map((view) => [
          view.id,
          view.knowledge,
          String(view.tools),
          learned(view),
          view.transport.type,
          view.problem ?? view.transport.target,
        ]);
        terminal.out(table(terminal, ['SERVER', 'TOOLS ARE', 'COUNT', 'LEARNED', 'OVER', 'TARGET'], rows));
        await noteWaiting(gateway, terminal);
      });
    });
}
