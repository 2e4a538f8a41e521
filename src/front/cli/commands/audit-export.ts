import { type Command, Option } from 'commander';
import { AUDIT_FORMATS, type AuditFormat } from '../../../model/audit-export.js';
import { timeAgo, wholeNumber } from '../arguments.js';
import { withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';

interface Flags extends CommonFlags {
  readonly format: AuditFormat;
  readonly since?: number;
  readonly after?: number;
}

/** `toolscout audit export`: the log as lines, for other programs (SEC-12). */
export function addAuditExport(audit: Command, deps: CliDeps): void {
  withCommonFlags(audit.command('export'))
    .summary('print the log for other programs')
    .description(
      'Prints the whole audit log, oldest first, one line a record: JSON, Common Event Format or OCSF. The last position goes to stderr; --after continues there.',
    )
    .addOption(new Option('--format <format>', 'of the lines').choices([...AUDIT_FORMATS]).default('jsonl'))
    .option(
      '--since <time>',
      'from then on: 90m, 24h, 7d, 2w ago, or a date',
      timeAgo(() => deps.clock.now()),
    )
    .option('--after <position>', 'only records after this position', wholeNumber)
    .addHelpText('after', '\nExample:\n  $ toolscout audit export --format cef --since 24h')
    .action(async (_flags: Flags, command: Command) => {
      const { format, since, after = 0, ...flags } = command.optsWithGlobals<Flags>();
      await withGateway(deps, flags, async (gateway) => {
        const { terminal } = deps;
        let position = after;
        for (;;) {
          const portion = await gateway.audit.export({ format, since, after: position });
          for (const line of portion.lines) terminal.out(line);
          position = portion.position;
          if (portion.done) break;
        }
        terminal.note(`position ${position}`);
      });
    });
}
