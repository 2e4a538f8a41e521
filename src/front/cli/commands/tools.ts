import type { Command } from 'commander';
import { showConfirm } from '../../../model/pending-call.js';
import { disabledPhrase, isFallback, reasonOf } from '../../../model/tool.js';
import { withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import { table } from '../render.js';
import { noteWaiting } from '../note-waiting.js';

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
        const tools = await gateway.tools.list(server, {
          includeDisabled: flags.includeDisabled,
          includeFallback: true,
        });
        const { terminal } = deps;
        if (flags.json) {
          const list = tools.map((tool) => ({
            tool: tool.name,
            summary: tool.summary,
            status: tool.status,
            tags: tool.tags,
            autoApproved: tool.autoApproved ?? false,
            reason: reasonOf(tool),
            callable: tool.status === 'enabled',
            provenance: tool.provenance,
            ...(tool.confirm && { confirm: showConfirm(tool.confirm) }),
            ...(tool.rung === undefined ? {} : { rung: tool.rung, confidence: tool.confidence }),
          }));
          return terminal.json({ server, tools: list });
        }
        // Of use only where the client of the server has such a list.
        const hasMarks = tools.some((tool) => tool.autoApproved);
        const rows = tools.map((tool) => [
          tool.name,
          ...(hasMarks ? [tool.autoApproved ? '✓' : ''] : []),
          tool.status === 'enabled' ? tool.summary : isFallback(tool) ? reasonOf(tool) : disabledPhrase(tool.decision),
        ]);
        terminal.out(table(terminal, ['TOOL', ...(hasMarks ? ['AUTO-APPROVED'] : []), 'SUMMARY'], rows));
        await noteWaiting(gateway, terminal, [server]);
      });
    });
}
