import type { Command } from 'commander';
import { printable } from '../../../kernel/text.js';
import type { Parameter } from '../../../model/tool.js';
import { withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import { parseAddress } from '../address.js';

function describeParameter(parameter: Parameter): string {
  const values = parameter.values ? ` (${parameter.values.join(', ')})` : '';
  const mark = parameter.required ? ' required' : '';
  return printable(`  ${parameter.name}: ${parameter.type}${mark}${values}  ${parameter.description}`.trimEnd());
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
          const signature = await gateway.toolSignature(server, name);
          return terminal.json(signature, flags.json ? 0 : 2);
        }
        const { tool } = await gateway.toolDetails(server, name);
        if (flags.json) {
          const { definition, status, tags, domains, categories, hash, decision, autoApproved = false } = tool;
          const view = {
            server,
            tool: tool.name,
            status,
            reason: decision.reason,
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
        terminal.out(terminal.paint.dim(`Offered: ${tool.decision.reason}. Full schema: --json`));
      });
    });
}
