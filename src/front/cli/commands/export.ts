import { Option, type Command } from 'commander';
import type { ExportFormat, ExportReport, RtfsDialect } from '../../../gateway/index.js';
import { ToolscoutError } from '../../../kernel/errors.js';
import { counted, printable } from '../../../kernel/text.js';
import { Exit, withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import type { Terminal } from '../terminal.js';

interface ExportFlags extends CommonFlags {
  readonly format: ExportFormat;
  readonly out?: string;
  readonly dialect?: RtfsDialect;
}

function say(terminal: Terminal, report: ExportReport): void {
  const { text, directory, approved, file, tools, servers, written = 0, unchanged = 0, failed } = report;
  if (text !== undefined) terminal.out(text.replace(/\n$/, ''));
  else {
    const files = `${counted(written, 'file')} written, ${unchanged} unchanged`;
    const what = `${counted(tools, 'tool')} of ${counted(servers, 'server')}`;
    terminal.out(`${what} → ${printable(approved ?? directory ?? file ?? '')}: ${files}`);
  }
  for (const { server, reason } of failed) {
    terminal.note(`${terminal.paint.yellow('left out')} ${printable(server)}: ${printable(reason)}`);
  }
}

/** `toolscout export`: what is known of the tools, as files for other programs and for people. */
export function addExport(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('export'))
    .summary('write tools as RTFS, Markdown, JSON or TypeScript')
    .description(
      'Exports the tools of the named servers (all by default). RTFS goes to a directory, one file a tool; the other formats ' +
        'go to one file, or to stdout without --out. In an existing Markdown file only the sections between the markers change.',
    )
    .argument('[server...]', 'ids of servers')
    .addOption(
      new Option('-f, --format <format>', 'required: the format to write')
        .choices(['rtfs', 'markdown', 'json', 'typescript'])
        .makeOptionMandatory(),
    )
    .option('-o, --out <path>', 'file to write; for rtfs the directory (default: exportDirectory of the config)')
    .addOption(
      new Option('--dialect <dialect>', 'how optional entries are written in RTFS').choices(['standard', 'ccos']),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  $ toolscout export --format rtfs --out capabilities\n  $ toolscout export --format typescript github > tools.ts',
    )
    .action(async (servers: string[], { format, out, dialect, ...flags }: ExportFlags) => {
      if (dialect !== undefined && format !== 'rtfs') {
        throw new ToolscoutError('INVALID_REQUEST', `--dialect needs --format rtfs; the format is ${format}.`);
      }
      await withGateway(deps, flags, async (gateway) => {
        const report = await gateway.exports.write({
          format,
          dialect,
          ...(format === 'rtfs' ? { directory: out } : { file: out }),
          ...(servers.length > 0 ? { servers } : {}),
        });
        if (flags.json) deps.terminal.json(report);
        else say(deps.terminal, report);
        if (report.failed.length > 0) throw new Exit(1);
      });
    });
}
