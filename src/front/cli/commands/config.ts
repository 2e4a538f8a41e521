import type { Command } from 'commander';
import { showConfig } from '../../../gateway/index.js';
import { printable } from '../../../kernel/text.js';
import { Exit, withCommonFlags, type CliDeps, type CommonFlags } from '../context.js';

/** `toolscout config`: check the config, or show what is in force. */
export function addConfig(program: Command, deps: CliDeps): void {
  const config = program
    .command('config')
    .summary('check the config, or show what is in force')
    .description('Checks the config, or shows what is in force.')
    .addHelpText('after', '\nExamples:\n  $ toolscout config validate\n  $ toolscout config show --json');

  withCommonFlags(config.command('validate'))
    .description('Reports every problem of the config at once, with its path.')
    .addHelpText('after', '\nExample:\n  $ toolscout config validate --config toolscout.config.json')
    .action(async (flags: CommonFlags) => {
      const { terminal } = deps;
      const { config: file, demo } = flags;
      const { source, problems, warnings } = await deps.checkConfig({ config: file, demo });
      if (flags.json) terminal.json({ source, valid: problems.length === 0, problems, warnings });
      else {
        if (problems.length > 0) terminal.out(`${terminal.paint.red('✗')} ${printable(source)} is not valid`);
        for (const { path, message } of problems)
          terminal.out(`${terminal.paint.red('error')}   ${printable(`${path}: ${message}`)}`);
        for (const { path, message } of warnings)
          terminal.out(`${terminal.paint.yellow('warning')} ${printable(`${path}: ${message}`)}`);
        if (problems.length === 0) terminal.out(`${terminal.paint.green('✓')} ${printable(source)} is valid`);
      }
      if (problems.length > 0) throw new Exit(2);
    });

  withCommonFlags(config.command('show'))
    .description('Shows where the config is and what it says. Values of variables and headers are never shown.')
    .addHelpText('after', '\nExample:\n  $ toolscout config show')
    .action(async (flags: CommonFlags) => {
      const { config, demo } = flags;
      deps.terminal.json(showConfig(await deps.readConfig({ config, demo })), flags.json ? 0 : 2);
    });
}
