import { Option, type Command } from 'commander';
import { AUDIT_KINDS, type AuditRecord } from '../../../model/audit-record.js';
import { isObject } from '../../../kernel/json.js';
import { printable } from '../../../kernel/text.js';
import { wholeNumber } from '../arguments.js';
import { addAuditExport } from './audit-export.js';
import { addAuditVerify } from './audit-verify.js';
import { withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';

interface Flags extends CommonFlags {
  readonly server?: string;
  readonly tool?: string;
  readonly kind?: string;
  readonly outcome?: AuditRecord['outcome'];
  readonly limit: number;
  readonly follow?: boolean;
}

/** What was decided about a call that needs a confirmation: all such records have the same outcome. */
function decisionOf({ kind, detail }: AuditRecord): string {
  if (kind !== 'confirm' || !isObject(detail)) return '';
  const { decision, id, reason } = detail;
  return [decision, id, reason].filter((part) => typeof part === 'string').join(' ');
}

function line(record: AuditRecord): string {
  const { principal, kind, outcome, code, latencyMs, askedMs } = record;
  const parts = [
    new Date(record.time).toISOString(),
    principal,
    kind,
    [record.server, record.tool].filter((part) => part !== undefined).join(':'),
    outcome,
    decisionOf(record),
    code ?? '',
    latencyMs === undefined ? '' : `${latencyMs.toFixed(1)} ms`,
    askedMs === undefined ? '' : `(${askedMs.toFixed(1)} ms of it waiting for a person or the host)`,
    record.arguments === undefined ? '' : JSON.stringify(record.arguments),
    record.message ?? '',
  ];
  return printable(parts.filter((part) => part !== '').join(' '));
}

/** `toolscout audit`: what was done, by whom, with what outcome. */
export function addAudit(program: Command, deps: CliDeps): void {
  const audit = withCommonFlags(program.command('audit'))
    .enablePositionalOptions()
    .summary('show, verify or export the audit log')
    .description('Shows what was done, newest first. Secrets in arguments are redacted when they are stored.')
    .option('-s, --server <id>', 'only this server')
    .option('--tool <name>', 'only this tool')
    .addOption(new Option('--kind <kind>', 'only this kind').choices([...AUDIT_KINDS]))
    .addOption(
      new Option('--outcome <outcome>', 'only this outcome').choices(['success', 'failure', 'refused', 'waiting']),
    )
    .option('-n, --limit <count>', 'maximum number of records', wholeNumber, 20)
    .option('-f, --follow', 'keep running and show new records')
    .addHelpText(
      'after',
      '\nExample:\n  $ toolscout audit --server github --outcome failure\n  $ toolscout audit verify',
    )
    .action(async (flags: Flags) => {
      await withGateway(deps, flags, async (gateway) => {
        const { terminal } = deps;
        const { server, tool, kind, outcome } = flags;
        const filter = { server, tool, kind, outcome };
        const print = (record: AuditRecord): void => (flags.json ? terminal.json(record) : terminal.out(line(record)));
        const records = await gateway.audit.list({ ...filter, limit: flags.limit });
        if (!flags.follow) {
          if (flags.json) return terminal.json({ records });
          if (records.length === 0) {
            const isFiltered = Object.values(filter).some((value) => value !== undefined);
            return terminal.note(isFiltered ? 'No record matches.' : 'Nothing is recorded yet.');
          }
          return records.forEach(print);
        }
        records.toReversed().forEach(print);
        const stop = gateway.audit.follow(print, filter);
        await deps.stopped({ awaited: true });
        stop();
      });
    });
  addAuditVerify(audit, deps);
  addAuditExport(audit, deps);
}
