import type { Command } from 'commander';
import { describeRemedy } from '../../../kernel/remedy.js';
import { printable } from '../../../kernel/text.js';
import { parseAddress } from '../address.js';
import { Exit, withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';

/** `toolscout why`: why a tool is or is not offered (FIND-5). */
export function addWhy(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('why'))
    .summary('explain why a tool is or is not offered')
    .description('Says in one sentence why a tool is or is not offered.')
    .argument('<server>', 'id of the server, or server:tool')
    .argument('[tool]', 'name of the tool')
    .addHelpText('after', '\nExample:\n  $ toolscout why github:delete_repo')
    .action(async (first: string, second: string | undefined, flags: CommonFlags) => {
      const { server, tool } = parseAddress(first, second);
      await withGateway(deps, flags, async (gateway) => {
        await gateway.ready();
        const known = (await gateway.servers.list()).find((view) => view.id === server);
        if (known?.knowledge === 'unknown') await gateway.servers.discover([server]);
        const why = await gateway.why(server, tool);
        if (flags.json) deps.terminal.json(why);
        else
          deps.terminal.out(
            printable([why.reason, why.remedy && describeRemedy(why.remedy)].filter(Boolean).join(' ')),
          );
        if (!why.offered) throw new Exit(['rule', 'approval', 'quarantine', 'rejected'].includes(why.because) ? 4 : 2);
      });
    });
}
