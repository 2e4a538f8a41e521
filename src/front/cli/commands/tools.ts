import type { Command } from 'commander';
import { withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import { table } from '../render.js';
import { noteWaiting } from '../waiting.js';

/** `toolscout tools`: every tool of one server. */
export function addTools(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('tools'))
    .summary('list the tools of one server')
    .description('Lists the tools of one server.')
    .argument('<server>', 'id of the server')
    .option('--include-disabled', 'also tools that a rule disables, with the rule')
    .addHelpText('after', '\nExample:\n  $ toolscout tools filesystem')
    .action(async (server: string, flags: CommonFlags & { includeDisabled?: boolean }) => {
      await withGateway(deps, flags, async (gateway) => {
        const tools = await gateway.listTools(server, { includeDisabled: flags.includeDisabled });
        const { terminal } = deps;
        if (flags.json) {
          const list = tools.map(({ name, summary, status, tags, decision }) => ({
            tool: name,
            summary,
            status,
            tags,
            reason: decision.reason,
          }));
          return terminal.json({ server, tools: list });
        }
        const rows = tools.map((tool) => [
          tool.name,
          tool.status === 'enabled' ? tool.summary : `${tool.status} by ${tool.decision.reason}`,
        ]);
        terminal.out(table(terminal, ['TOOL', 'SUMMARY'], rows));
        await noteWaiting(gateway, terminal, [server]);
      });
    });
}
