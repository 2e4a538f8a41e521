import { Option, type Command } from 'commander';
import { printable } from '../../../kernel/text.js';
import type { InstallReport } from '../../../model/source.js';
import { knownClient } from '../clients.js';
import { filledIn } from '../arguments.js';
import type { CliDeps } from '../context.js';

interface Flags {
  readonly json?: boolean;
  readonly config?: string;
  readonly project?: boolean | string;
  readonly home?: string;
  readonly stdio?: boolean;
  readonly shared: boolean;
  readonly http?: boolean;
  readonly uninstall?: boolean;
  readonly dryRun?: boolean;
  readonly replace?: boolean;
  readonly withCredentials?: boolean;
  readonly undo?: boolean;
}

const DONE: Readonly<Record<InstallReport['action'], string>> = {
  added: 'Added toolscout to',
  updated: 'Updated toolscout in',
  unchanged: 'toolscout is there already:',
  removed: 'Removed toolscout from',
  absent: 'toolscout is not there:',
};

/** `toolscout install`: write toolscout into a client's config (CLI-3). */
export function addInstall(program: Command, deps: CliDeps): void {
  program
    .command('install')
    .summary('add toolscout to the config of a client')
    .description('Adds toolscout to the config of a client, in its own format, and keeps a copy of the file as it was.')
    .argument('<client>', 'the client, such as claude-desktop, claude-code, cursor or vscode')
    .option('--json', 'print JSON on stdout')
    .option('-c, --config <file>', 'have the client start toolscout with this config file', filledIn)
    .option('--project [dir]', "write the file of the project, not the user's (default: the current folder)")
    .option('--home <dir>', 'look for the client in this home directory')
    .option('--stdio', 'have the client start toolscout itself (default)')
    .option('--no-shared', 'with --stdio: give this client a gateway of its own, not the service that clients share')
    .addOption(new Option('--http', 'have the client connect to a running "toolscout serve"').conflicts('stdio'))
    .option('--uninstall', 'remove toolscout from the client')
    .addOption(
      new Option(
        '--replace',
        "move the client's servers to the config of toolscout, so that it has only toolscout",
      ).conflicts(['uninstall', 'project']),
    )
    .option(
      '--with-credentials',
      'with --replace: move credentials too, into a file with secrets that only you can read',
    )
    .addOption(
      new Option('--undo', 'put the moved servers back into the file of the client and remove toolscout').conflicts([
        'replace',
        'uninstall',
        'project',
      ]),
    )
    .option('--dry-run', 'write nothing')
    .addHelpText(
      'after',
      '\nExamples:\n  $ toolscout install claude-desktop\n  $ toolscout install vscode --project --http\n  $ toolscout install cursor --uninstall\n  $ toolscout install claude-desktop --replace --with-credentials\n  $ toolscout install claude-desktop --undo',
    )
    .action(async (name: string, flags: Flags) => {
      const { terminal } = deps;
      const { installable } = await deps.clients();
      const report = await deps.install({
        client: knownClient(name, installable),
        config: flags.config,
        home: flags.home,
        project: flags.project === true ? '.' : flags.project || undefined,
        transport: flags.http ? 'http' : 'stdio',
        shared: flags.shared,
        uninstall: flags.uninstall ?? false,
        dryRun: flags.dryRun ?? false,
        replace: flags.replace,
        credentials: flags.withCredentials,
        undo: flags.undo,
      });
      if (flags.config !== undefined && !flags.uninstall) {
        await deps.readFile(flags.config).catch(() => {
          // The config may also be written afterwards.
          terminal.note(printable(`There is no config file ${flags.config} yet: toolscout does not start without it.`));
        });
      }
      if (flags.json) return terminal.json(report);
      const { action, file, written, entry, backup, next, moved = [], restored = [], notes = [] } = report;
      const isTried = flags.dryRun && (action === 'added' || action === 'updated' || action === 'removed');
      terminal.out(printable(`${DONE[action]} ${file}${isTried ? ' (not written: --dry-run)' : ''}`));
      if (isTried && entry) terminal.json(entry, 2);
      if (backup !== undefined) terminal.note(printable(`What was there before: ${backup}`));
      if (moved.length > 0) terminal.out(printable(`Taken out of it: ${moved.join(', ')}`));
      if (restored.length > 0) terminal.out(printable(`Put back: ${restored.join(', ')}`));
      for (const note of notes) terminal.note(printable(note));
      if (written) terminal.note(next);
    });
}
