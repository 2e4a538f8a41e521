import type { Command } from 'commander';
import { printable } from '../../../kernel/text.js';
import { filledIn } from '../arguments.js';
import { Exit, type CliDeps } from '../context.js';

interface Flags {
  readonly json?: boolean;
  readonly config?: string;
}

function withFlags(command: Command): Command {
  return command
    .option('--json', 'print JSON on stdout')
    .option('-c, --config <file>', 'the file of this config', filledIn);
}

/** `toolscout secret`: variables for the config, in a file that only you can read (CFG-4). */
export function addSecret(program: Command, deps: CliDeps): void {
  const { terminal } = deps;
  const secret = program
    .command('secret')
    .summary('set variables that the config uses')
    .description(
      'Sets variables that the config uses as ${NAME}, in a file that only you can read: envFile of the config, or ' +
        '~/.config/toolscout/secrets.env. A variable of the environment wins. Values are never shown.',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  $ toolscout secret set GITHUB_TOKEN\n  $ pass github | toolscout secret set GITHUB_TOKEN\n  $ toolscout secret list',
    );

  withFlags(secret.command('set'))
    .description('Sets a variable. The value is asked for without echo, or read from stdin; it is never an argument.')
    .argument('<name>', 'the variable, such as GITHUB_TOKEN')
    .addHelpText('after', '\nExample:\n  $ toolscout secret set GITHUB_TOKEN')
    .action(async (name: string, flags: Flags) => {
      const value = (await deps.readSecret(`${name}: `)).replace(/\r?\n$/, '');
      const { path } = await deps.secrets(flags.config).set(name, value);
      if (flags.json) return terminal.json({ name, path });
      return terminal.out(printable(`Set ${name} in ${path}.`));
    });

  withFlags(secret.command('list'))
    .description('Lists the names of the variables that are set, never their values.')
    .addHelpText('after', '\nExample:\n  $ toolscout secret list')
    .action(async (flags: Flags) => {
      const { path, names } = await deps.secrets(flags.config).list();
      if (flags.json) return terminal.json({ path, names });
      for (const name of names) terminal.out(printable(name));
      return terminal.note(printable(names.length === 0 ? `No secret is set in ${path}.` : `In ${path}.`));
    });

  withFlags(secret.command('remove'))
    .description('Removes a variable.')
    .argument('<name>', 'the variable')
    .addHelpText('after', '\nExample:\n  $ toolscout secret remove GITHUB_TOKEN')
    .action(async (name: string, flags: Flags) => {
      const { path, removed } = await deps.secrets(flags.config).remove(name);
      if (flags.json) terminal.json({ name, path, removed });
      else terminal.out(printable(removed ? `Removed ${name} from ${path}.` : `${name} is not set in ${path}.`));
      if (!removed) throw new Exit(2);
    });
}
