import type { Command } from 'commander';
import { printable } from '../../../kernel/text.js';
import { showConfirm, type ConfirmRule } from '../../../model/pending-call.js';
import { isFallback, reasonOf, type Parameter } from '../../../model/tool.js';
import { withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import { parseAddress } from '../address.js';

function describeParameter(parameter: Parameter): string {
  const values = parameter.values ? ` (${parameter.values.join(', ')})` : '';
  const mark = parameter.required ? ' required' : '';
  return printable(`  ${parameter.name}: ${parameter.type}${mark}${values}  ${parameter.description}`.trimEnd());
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `toolscout inspect`: one tool with its parameters and schema. */
export function addInspect(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('inspect'))
    .summary('show one tool: what it does and what it takes')
    .description('Shows one tool: what it does and what it takes. --json prints its whole definition.')
    .argument('<server>', 'id of the server, or server:tool')
    .argument('[tool]', 'name of the tool')
    .option('--signature', 'print {tool_name, description, parameters, returns} as JSON')
    .addHelpText('after', '\nExample:\n  $ toolscout inspect everything echo')
    .action(async (first: string, second: string | undefined, flags: CommonFlags & { signature?: boolean }) => {
      const { server, tool: name } = parseAddress(first, second);
      await withGateway(deps, flags, async (gateway) => {
        const { terminal } = deps;
        if (flags.signature) {
          const signature = await gateway.tools.signature(server, name);
          return terminal.json(signature, flags.json ? 0 : 2);
        }
        const { tool } = await gateway.details(server, name);
        if (flags.json) {
          const {
            definition,
            status,
            tags,
            domains,
            categories,
            hash,
            autoApproved = false,
            provenance,
            rung,
            confidence,
          } = tool;
          const view = {
            server,
            tool: tool.name,
            status,
            callable: status === 'enabled',
            provenance,
            ...(rung === undefined ? {} : { rung, confidence }),
            ...(tool.confirm && { confirm: showConfirm(tool.confirm) }),
            reason: reasonOf(tool),
            tags,
            autoApproved,
            domains,
            categories,
            hash,
            definition,
          };
          return terminal.json(view);
        }
        terminal.out(terminal.paint.bold(`${server}:${printable(tool.name)}`));
        terminal.out(printable(tool.description || tool.summary));
        if (tool.parameters.length > 0) {
          terminal.out('');
          terminal.out(terminal.paint.dim('Parameters'));
          for (const parameter of tool.parameters) terminal.out(describeParameter(parameter));
        }
        terminal.out('');
        if (tool.autoApproved)
          terminal.out(terminal.paint.dim('Auto-approved: the client of this server runs it without asking.'));
        if (tool.confirm) terminal.out(terminal.paint.dim(`${confirmText(tool.confirm)}.`));
        const standing = isFallback(tool) ? capitalized(reasonOf(tool)) : `Offered: ${reasonOf(tool)}`;
        terminal.out(terminal.paint.dim(`${standing}. Full schema: --json`));
      });
    });
}

/** Which calls need a person's yes, and why. */
function confirmText(confirm: ConfirmRule): string {
  const { asks, when, rule } = showConfirm(confirm)!;
  const calls =
    asks === 'once'
      ? 'The first call of each caller needs'
      : asks === 'when'
        ? `Calls that fit ${when} need`
        : 'Each call needs';
  return printable(`${calls} a person's yes: ${rule}`);
}
