import type { Command } from 'commander';
import type { DoctorReport, Finding } from '../../../gateway/index.js';
import { ERROR_TABLE, ToolscoutError } from '../../../kernel/errors.js';
import { printable } from '../../../kernel/text.js';
import { Exit, withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import type { Terminal } from '../terminal.js';

/** Opening failed with this code, as what `doctor` says of it; whatever else was thrown goes on. */
function faultOf(subject: string, code: 'CONFIGURATION_ERROR' | 'STORE_ERROR', thrown: unknown): Finding {
  if (!(thrown instanceof ToolscoutError) || thrown.code !== code) throw thrown;
  return { subject, level: 'error', message: thrown.message, next: thrown.suggestion };
}

/** What keeps the config from being used, one finding a problem. */
async function configFaults(deps: CliDeps, flags: CommonFlags): Promise<Finding[]> {
  try {
    const { source, problems } = await deps.checkConfig(flags);
    return problems.map(({ path, message }) => ({
      subject: 'config',
      level: 'error',
      message: `${path}: ${message}`,
      next: `fix it in ${source}; toolscout config validate checks the file`,
    }));
  } catch (thrown) {
    return [faultOf('config', 'CONFIGURATION_ERROR', thrown)];
  }
}

/** What can be said where the config cannot be used: no server is started from the half of it that could be read. */
async function examineWithoutConfig(
  faults: readonly Finding[],
  deps: CliDeps,
  { stateDir }: CommonFlags,
): Promise<DoctorReport> {
  const store = await deps
    .checkStore({ stateDir })
    .catch((thrown: unknown) => [faultOf('store', 'STORE_ERROR', thrown)]);
  const servers: Finding = {
    subject: 'servers',
    level: 'warning',
    message: 'not examined, because the config is invalid',
  };
  return { ok: false, findings: [...faults, ...store, servers], schemas: [] };
}

/** The whole report; where the store cannot be opened the servers are examined without it. */
async function examine(deps: CliDeps, flags: CommonFlags): Promise<DoctorReport> {
  const look = (how: CommonFlags): Promise<DoctorReport> =>
    withGateway(deps, how, async (gateway) => {
      deps.terminal.status('connecting to every server…');
      return gateway.doctor();
    });
  try {
    return await look(flags);
  } catch (thrown) {
    const fault = faultOf('store', 'STORE_ERROR', thrown);
    const { findings, schemas } = await look({ ...flags, stateDir: 'memory' });
    return { ok: false, findings: findings.map((each) => (each.subject === 'store' ? fault : each)), schemas };
  }
}

function print({ ok, findings }: DoctorReport, terminal: Terminal): void {
  const { paint } = terminal;
  const marks = { ok: paint.green('✓'), warning: paint.yellow('!'), error: paint.red('✗') };
  for (const finding of findings) {
    terminal.out(`${marks[finding.level]} ${paint.bold(finding.subject)}  ${printable(finding.message)}`);
    for (const each of finding.stderr?.split('\n') ?? []) terminal.out(paint.dim(`    | ${printable(each)}`));
    if (finding.next) terminal.out(`    → ${printable(finding.next)}`);
  }
  const isClear = findings.every(({ level }) => level === 'ok');
  if (!ok) terminal.out('Something needs attention: see the arrows above.');
  else terminal.out(isClear ? 'All is well.' : 'Nothing is broken; see the warnings above.');
}

/** `toolscout doctor`: look at everything and say what to do next (CLI-3). */
export function addDoctor(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('doctor'))
    .summary('check config, store and every server')
    .description('Checks the config, the store and every server, and says what to do next.')
    .addHelpText('after', '\nExample:\n  $ toolscout doctor')
    .action(async (flags: CommonFlags) => {
      const faults = flags.demo ? [] : await configFaults(deps, flags);
      const report = faults.length > 0 ? await examineWithoutConfig(faults, deps, flags) : await examine(deps, flags);
      if (flags.json) deps.terminal.json(report);
      else print(report, deps.terminal);
      if (faults.length > 0) throw new Exit(ERROR_TABLE.CONFIGURATION_ERROR.exit);
      if (!report.ok) throw new Exit(1);
    });
}
