import { type Command, Option } from 'commander';
import { ToolscoutError } from '../../../kernel/errors.js';
import { counted } from '../../../kernel/text.js';
import type { LockCheck } from '../../../model/lock.js';
import { Exit, withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import { changeLines } from '../diff-lines.js';
import { describeDrift, toSarif } from '../lock-sarif.js';
import { inLine } from '../render.js';
import type { Terminal } from '../terminal.js';

/** The exit code of a lock file that does not hold what is there. */
const DRIFT = 4;

interface Flags extends CommonFlags {
  readonly check?: boolean;
  readonly diff?: boolean;
  readonly format: 'text' | 'json' | 'sarif';
  readonly includeHeld?: boolean;
}

function show(found: LockCheck, terminal: Terminal): void {
  if (found.ok) return terminal.out(`Nothing differs from ${inLine(found.file)}.`);
  for (const drift of found.drifts) {
    terminal.out(terminal.paint.bold(describeDrift(drift)));
    for (const change of drift.changes) terminal.out(changeLines(change, terminal).join('\n'));
  }
  terminal.note(`${counted(found.drifts.length, 'difference')} from ${inLine(found.file)}.`);
}

/** `toolscout lock`: writes the lock file of a project, or compares it with what is there (SEC-10). */
export function addLock(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('lock'))
    .summary('write a lock file of all tools, or check it')
    .description(
      'Asks every enabled server what it has and writes toolscout.lock beside the config: launches, packages, and the whole definition of every tool, prompt and resource. ' +
        'With --check it compares instead, and exits with 4 when something differs.',
    )
    .option('--check', 'compare the servers with the lock file; exit with 4 when they differ')
    .option('--diff', 'show what differs from the lock file, and exit with 0')
    .addOption(
      new Option('--format <format>', 'the output format of --check and --diff')
        .choices(['text', 'json', 'sarif'])
        .default('text'),
    )
    .option('--include-held', 'also lock definitions that show signs of an attack or were rejected')
    .addHelpText(
      'after',
      '\nExamples:\n  $ toolscout lock\n  $ toolscout lock --check --format sarif > toolscout.sarif',
    )
    .action(async (flags: Flags) => {
      const { terminal } = deps;
      const isWritten = !flags.check && !flags.diff;
      if (isWritten && flags.format === 'sarif') {
        throw new ToolscoutError('INVALID_REQUEST', '--format sarif needs --check or --diff.');
      }
      const open: CliDeps['open'] = (options) => deps.open({ ...options, locking: isWritten });
      await withGateway({ ...deps, open }, flags, async (gateway) => {
        if (isWritten) {
          const report = await gateway.lock.write({ by: 'local', includeHeld: flags.includeHeld });
          if (flags.json || flags.format === 'json') return terminal.json(report);
          const what = `${counted(report.servers, 'server')}, ${counted(report.items, 'definition')}`;
          return terminal.out(`${inLine(report.file)}: ${what}${report.changed ? '' : '; nothing changed'}`);
        }
        const found = await gateway.lock.check();
        if (flags.format === 'sarif') terminal.json(toSarif(found), 2);
        else if (flags.json || flags.format === 'json') terminal.json(found);
        else show(found, terminal);
        if (flags.check && !found.ok) throw new Exit(DRIFT);
      });
    });
}
