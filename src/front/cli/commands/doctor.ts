import type { Command } from 'commander';
import { printable } from '../../../kernel/text.js';
import { Exit, withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';

/** `toolscout doctor`: look at everything and say what to do next (CLI-3). */
export function addDoctor(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('doctor'))
    .summary('check config, store and every server')
    .description('Checks the config, the store and every server, and says what to do next.')
    .addHelpText('after', '\nExample:\n  $ toolscout doctor')
    .action(async (flags: CommonFlags) => {
      await withGateway(deps, flags, async (gateway) => {
        const { terminal } = deps;
        terminal.status('connecting to every server…');
        const report = await gateway.doctor();
        if (flags.json) terminal.json(report);
        else {
          const { paint } = terminal;
          const marks = { ok: paint.green('✓'), warning: paint.yellow('!'), error: paint.red('✗') };
          for (const finding of report.findings) {
            terminal.out(`${marks[finding.level]} ${paint.bold(finding.subject)}  ${printable(finding.message)}`);
            if (finding.stderr) {
              for (const each of finding.stderr.split('\n')) terminal.out(paint.dim(`    | ${printable(each)}`));
            }
            if (finding.next) terminal.out(`    → ${printable(finding.next)}`);
          }
          terminal.out(report.ok ? 'All is well.' : 'Something needs attention: see the arrows above.');
        }
        if (!report.ok) throw new Exit(1);
      });
    });
}
