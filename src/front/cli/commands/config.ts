import type { Command } from 'commander';
import { showConfig, type ServerView } from '../../../gateway/index.js';
import { printable } from '../../../kernel/text.js';
import { filledIn } from '../arguments.js';
import { inLine } from '../render.js';
import { Exit, withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';

/** What holds is named: a file, or what stands in for one. */
function verdictOn(source: string): string {
  return source === 'defaults' ? 'No config is in force: the defaults apply' : `${source} is valid`;
}

/** `toolscout config`: check the config, or show what is in force. */
export function addConfig(program: Command, deps: CliDeps): void {
  const config = program
    .command('config')
    .summary('check the config, show what is in force, or approve the config file of a folder')
    .description('Checks the config, or shows what is in force.')
    .addHelpText(
      'after',
      '\nExamples:\n  $ toolscout config validate\n  $ toolscout config show --json\n  $ toolscout config approve',
    );

  withCommonFlags(config.command('validate'))
    .description(
      'Reports every problem of the config in force at once, with its path. A config of the current folder that is not approved is checked too, unless it is code.',
    )
    .addHelpText('after', '\nExample:\n  $ toolscout config validate --config toolscout.config.json')
    .action(async (flags: CommonFlags) => {
      const { terminal } = deps;
      const { config: file, demo, stateDir } = flags;
      const { source, problems, warnings } = await deps.checkConfig({ config: file, demo, stateDir, pending: true });
      if (flags.json) terminal.json({ source, valid: problems.length === 0, problems, warnings });
      else {
        if (problems.length > 0) terminal.out(`${terminal.paint.red('✗')} ${printable(source)} is not valid`);
        for (const { path, message } of problems)
          terminal.out(`${terminal.paint.red('error')}   ${printable(`${path}: ${message}`)}`);
        for (const { path, message } of warnings)
          terminal.out(`${terminal.paint.yellow('warning')} ${printable(`${path}: ${message}`)}`);
        if (problems.length === 0) terminal.out(`${terminal.paint.green('✓')} ${printable(verdictOn(source))}`);
      }
      if (problems.length > 0) throw new Exit(2);
    });

  withCommonFlags(config.command('show'))
    .description('Shows where the config is and what it says. Values of variables and headers are never shown.')
    .addHelpText('after', '\nExample:\n  $ toolscout config show')
    .action(async (flags: CommonFlags) => {
      const { config, demo, stateDir } = flags;
      const loaded = await deps.readConfig({ config, demo, stateDir });
      const show = (views?: ServerView[]): void => deps.terminal.json(showConfig(loaded, views), flags.json ? 0 : 2);
      // Only the store has the approvals; it is opened only when another author configured a server.
      if (!loaded.servers.some(({ scope }) => scope === 'project')) return show();
      return withGateway(deps, flags, async (gateway) => show(await gateway.servers.list()), { reportsConfig: true });
    });

  addApprove(config, deps);
}

interface ApproveFlags {
  readonly json?: boolean;
  readonly stateDir?: string;
  readonly hash?: string;
  readonly yes?: boolean;
  readonly withdraw?: boolean;
}

/** `toolscout config approve`: use the config of a folder from now on (SEC-9). */
function addApprove(config: Command, deps: CliDeps): void {
  config
    .command('approve')
    .summary('use the config of the current folder')
    .description(
      'Approves the config of the current folder, or the named file, exactly as it is: its servers and settings hold in that ' +
        'folder until its content changes. A config that is code then runs as you.',
    )
    .argument('[file]', 'the config; by default the one in the current folder')
    .option('--json', 'print JSON on stdout; approves only with --yes or --hash')
    .option('--state-dir <dir>', 'keep state in this directory', filledIn)
    .option(
      '--hash <hash>',
      'only if this is still its hash, or how that begins (12 characters at least); does not ask',
    )
    .option('-y, --yes', 'do not ask')
    .option('--withdraw', 'withdraw the approval')
    .addHelpText(
      'after',
      '\nExamples:\n  $ toolscout config approve\n  $ toolscout config approve ./toolscout.config.ts --hash 3f2a9c01d4e7\n  $ toolscout config approve --withdraw',
    )
    .action(async (file: string | undefined, flags: ApproveFlags) => {
      const { terminal } = deps;
      const { stateDir, hash: wanted } = flags;
      const plan = await deps.planApproval({ file, stateDir, hash: wanted });
      const { path, hash, state, isCode, servers, settings } = plan;
      if (flags.withdraw) {
        const withdrawn = await plan.withdraw();
        if (flags.json) return terminal.json({ path, withdrawn });
        return terminal.out(printable(withdrawn ? `${path} is not used any more.` : `${path} was not approved.`));
      }
      if (!flags.json) {
        terminal.out(`${terminal.paint.bold(printable(path))}  ${terminal.paint.dim(hash.slice(0, 12))}`);
        if (isCode) terminal.out('  It is code: once approved it runs as you. Read it first.');
        for (const { id, transport } of servers) terminal.out(`  server ${inLine(id)}: ${inLine(transport.target)}`);
        if (settings.length > 0) terminal.out(`  settings: ${inLine(settings.join(', '))}`);
      }
      const isSeen = flags.yes || wanted !== undefined;
      const wants = isSeen || (!flags.json && state !== 'approved' && (await deps.confirm('Use it in this folder?')));
      const approved = state === 'approved' || wants === true;
      if (wants && state !== 'approved') await plan.approve();
      if (flags.json) terminal.json({ path, hash, approved, isCode, servers, settings });
      else if (approved) terminal.out('Approved. It is used in this folder until its content changes.');
      else terminal.note(`Not approved. Run: toolscout config approve --hash ${hash.slice(0, 12)}`);
      if (!approved) throw new Exit(4);
    });
}
