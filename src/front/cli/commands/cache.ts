import type { Command } from 'commander';
import { ToolscoutError } from '../../../kernel/errors.js';
import { counted } from '../../../kernel/text.js';
import { withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';

/** `toolscout cache`: what is remembered, and forgetting it. */
export function addCache(program: Command, deps: CliDeps): void {
  const cache = program
    .command('cache')
    .summary('show or clear the cached lists of servers')
    .description('Shows or clears the cached lists of servers.')
    .addHelpText('after', '\nExamples:\n  $ toolscout cache stats\n  $ toolscout cache clear github');

  withCommonFlags(cache.command('stats'))
    .description('Shows how many lists are cached, and the hits of this command.')
    .addHelpText('after', '\nExample:\n  $ toolscout cache stats --json')
    .action(async (flags: CommonFlags) => {
      await withGateway(deps, flags, async (gateway) => {
        await gateway.ready();
        const stats = gateway.tools.cacheStats();
        if (flags.json) deps.terminal.json(stats);
        else
          deps.terminal.out(
            `${counted(stats.entries, 'list')} cached. Reads by this command: ${counted(stats.hits, 'hit')}, ${counted(stats.misses, 'miss', 'misses')}.`,
          );
      });
    });

  withCommonFlags(cache.command('clear'))
    .description('Deletes the cached tools of one server, or of all; or which searches led to which tools.')
    .argument('[server]', 'id of a server')
    .option('--usage', 'delete instead which searches led to which tools')
    .addHelpText('after', '\nExamples:\n  $ toolscout cache clear\n  $ toolscout cache clear --usage')
    .action(async (server: string | undefined, flags: CommonFlags & { usage?: boolean }) => {
      await withGateway(deps, flags, async (gateway) => {
        if (flags.usage) {
          if (server !== undefined) {
            throw new ToolscoutError(
              'INVALID_REQUEST',
              '--usage clears the search history of all servers: leave the server out.',
            );
          }
          const forgotten = await gateway.tools.forgetUsage();
          if (flags.json) deps.terminal.json({ forgotten });
          else deps.terminal.out('What searches led to is forgotten');
          return;
        }
        const cleared = await gateway.tools.clearCache(server);
        if (flags.json) deps.terminal.json({ cleared });
        else deps.terminal.out(`${counted(cleared, 'list')} forgotten`);
      });
    });
}
