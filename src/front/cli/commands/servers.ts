import type { Command } from 'commander';
import type { ServerView } from '../../../gateway/index.js';
import { printable } from '../../../kernel/text.js';
import { withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import { NO_SERVER } from '../note-left-out.js';
import { ago, table } from '../render.js';
import { noteWaiting } from '../note-waiting.js';

/** `toolscout servers`: what is configured, and its state. */
export function addServers(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('servers'))
    .summary('list the configured servers')
    .description('Lists the configured servers and their state. Starts none of them.')
    .addHelpText('after', '\nExample:\n  $ toolscout servers --json')
    .action(async (flags: CommonFlags) => {
      await withGateway(deps, flags, async (gateway) => {
        const views = await gateway.servers.list();
        const { terminal, clock } = deps;
        if (flags.json) return terminal.json({ servers: views });
        if (views.length === 0) return terminal.note(NO_SERVER);
        const learned = (view: ServerView): string =>
          view.learnedAt === undefined ? 'never' : ago(clock.now() - view.learnedAt);
        const failed = ({ failure }: ServerView): string | undefined =>
          failure && `failed ${ago(clock.now() - failure.at)}: ${failure.reason}`;
        const rows = views.map((view) => [
          view.id,
          view.knowledge,
          String(view.tools),
          learned(view),
          view.transport.type,
          view.transport.target,
        ]);
        terminal.out(table(terminal, ['SERVER', 'STATUS', 'TOOLS', 'LEARNED', 'TRANSPORT', 'TARGET'], rows));
        for (const view of views) {
          const reason = failed(view) ?? view.problem;
          if (reason === undefined) continue;
          const kept = view.failure && view.learnedAt !== undefined;
          const age = kept ? ` Its tools are those learned ${learned(view)}.` : '';
          terminal.note(terminal.paint.yellow(printable(`${view.id}: ${reason}${age}`)));
        }
        if (views.some(({ failure }) => failure)) terminal.note('Try failed servers again with: toolscout doctor');
        await noteWaiting(gateway, terminal);
      });
    });
}
