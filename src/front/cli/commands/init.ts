import { Option, type Command } from 'commander';
import { printable } from '../../../kernel/text.js';
import { filledIn } from '../arguments.js';
import type { CliDeps } from '../context.js';

interface Flags {
  readonly json?: boolean;
  readonly config?: string;
  readonly project?: boolean | string;
}

/** `toolscout init`: write a config to begin with. */
export function addInit(program: Command, deps: CliDeps): void {
  program
    .command('init')
    .summary('write a first config')
    .description('Writes a commented config: ~/.config/toolscout/config.jsonc, or the file you name. Never overwrites.')
    .option('--json', 'print JSON on stdout')
    .option('-c, --config <file>', 'write this file; its ending decides the format', filledIn)
    .addOption(
      new Option('--project [dir]', 'write toolscout.config.jsonc to this folder (default: the current one)').conflicts(
        'config',
      ),
    )
    .addHelpText('after', '\nExamples:\n  $ toolscout init\n  $ toolscout init --config tools.yaml')
    .action(async (flags: Flags) => {
      const { terminal } = deps;
      const { config } = flags;
      const project = flags.project === true ? '.' : flags.project || undefined;
      const { path, schema } = await deps.initConfig({ config, project });
      const named = config === undefined ? '' : ` --config ${config}`;
      const next = [
        `toolscout add NAME${named} -- COMMAND ARGS…`,
        `toolscout import${named}`,
        'toolscout install CLIENT',
      ];
      if (flags.json) return terminal.json({ path, schema, next });
      terminal.out(printable(`Wrote ${path}`));
      terminal.note(
        printable(
          [
            'Next:',
            `  ${next[0]}    add a server`,
            `  ${next[1]}    add the servers that your other clients have`,
            `  ${next[2]}    have a client use toolscout`,
          ].join('\n'),
        ),
      );
      return undefined;
    });
}
