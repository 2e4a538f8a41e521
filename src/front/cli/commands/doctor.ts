import type { Command } from 'commander';
import type { DoctorReport, Finding } from '../../../gateway/index.js';
import { ERROR_TABLE, ToolscoutError } from '../../../kernel/errors.js';
import { printable } from '../../../kernel/text.js';
import { Exit, withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import type { Terminal } from '../terminal.js';
import { describeService } from './service.js';

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
  return { ok: false, findings: [...faults, ...store, servers], schemas: [], lists: [] };
}

/** The whole report, told as it comes; where the store cannot be opened the servers are examined without it. */
async function examine(
  deps: CliDeps,
  flags: CommonFlags,
  onFinding: (finding: Finding) => void,
): Promise<DoctorReport> {
  const { terminal } = deps;
  const look = (how: CommonFlags, fault?: Finding): Promise<DoctorReport> =>
    withGateway(
      deps,
      how,
      async (gateway) => {
        let waiting: readonly string[] = [];
        const showWaiting = (): void =>
          terminal.status(waiting.length === 0 ? '' : `waiting for ${waiting.slice(0, 5).join(', ')}…`);
        const replaced = (finding: Finding): Finding => (fault && finding.subject === 'store' ? fault : finding);
        const report = await gateway.reports.doctor({
          onFinding(finding) {
            onFinding(replaced(finding));
            showWaiting();
          },
          onWaiting(servers) {
            waiting = servers;
            showWaiting();
          },
        });
        return { ...report, ok: report.ok && !fault, findings: report.findings.map(replaced) };
      },
      { reportsConfig: true },
    );
  try {
    return await look(flags);
  } catch (thrown) {
    return await look({ ...flags, stateDir: 'memory' }, faultOf('store', 'STORE_ERROR', thrown));
  }
}

function printFinding(finding: Finding, terminal: Terminal): void {
  const { paint } = terminal;
  const marks = { ok: paint.green('✓'), warning: paint.yellow('!'), error: paint.red('✗') };
  terminal.out(`${marks[finding.level]} ${paint.bold(finding.subject)}  ${printable(finding.message)}`);
  // The message quotes the line of stderr that says most.
  const lines = (finding.stderr?.split('\n') ?? []).filter((line) => !finding.message.includes(line.trim()));
  for (const each of lines) terminal.out(paint.dim(`    | ${printable(each)}`));
  // What to do is on the line of the arrow; a line below it would look like one of ours.
  if (finding.next) terminal.out(`    → ${printable(finding.next.replaceAll(/\s*\n\s*/g, ' '))}`);
}

function printVerdict({ ok, findings }: DoctorReport, terminal: Terminal): void {
  const isClear = findings.every(({ level }) => level === 'ok');
  if (!ok) terminal.out('Something needs attention: see the arrows above.');
  else terminal.out(isClear ? 'All is well.' : 'Nothing is broken; see the warnings above.');
}

/** The services that hosts share, one finding each; `toolscout service stop` ends them. */
async function serviceFindings(deps: CliDeps, { stateDir }: CommonFlags): Promise<Finding[]> {
  const services = await deps.services('status', stateDir);
  const now = deps.clock.now();
  return services.map((each) => ({ subject: 'service', level: 'ok', message: describeService(each, now) }));
}

/** `toolscout doctor`: look at everything and say what to do next (CLI-3). */
export function addDoctor(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('doctor'))
    .summary('check config, store and every server')
    .description('Checks the config, the store and every server, and says what to do next.')
    .addHelpText('after', '\nExample:\n  $ toolscout doctor')
    .action(async (flags: CommonFlags) => {
      const faults = flags.demo ? [] : await configFaults(deps, flags);
      const { terminal } = deps;
      const onFinding = (finding: Finding): void => {
        if (!flags.json) printFinding(finding, terminal);
      };
      let report: DoctorReport;
      if (faults.length === 0) report = await examine(deps, flags, onFinding);
      else {
        report = await examineWithoutConfig(faults, deps, flags);
        report.findings.forEach(onFinding);
      }
      if (flags.stateDir !== 'memory') {
        const services = await serviceFindings(deps, flags);
        services.forEach(onFinding);
        report = { ...report, findings: [...report.findings, ...services] };
      }
      if (flags.json) terminal.json(report);
      else printVerdict(report, terminal);
      if (faults.length > 0) throw new Exit(ERROR_TABLE.CONFIGURATION_ERROR.exit);
      if (!report.ok) throw new Exit(1);
    });
}
