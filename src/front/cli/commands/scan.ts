import { unreadable } from '../arguments.js';
import { Option, type Command } from 'commander';
import type { RecordedServer, ScanFinding, ScanReport } from '../../../gateway/index.js';
import { ToolscoutError } from '../../../kernel/errors.js';
import { addressOf } from '../../../kernel/ids.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import { counted } from '../../../kernel/text.js';
import { Exit, withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import { inLine, progressBar } from '../render.js';
import { toSarif } from '../sarif.js';
import type { Terminal } from '../terminal.js';

interface Flags extends CommonFlags {
  readonly file?: string;
  readonly format: 'text' | 'json' | 'sarif';
  readonly failOn: 'hard' | 'soft' | 'never';
}

/** The exit code of what a rule or an approval refuses (CLI-2). */
const FOUND = 4;

/** Lists of tools in a file: an array, `{tools}`, or one of these a line. */
function listsIn(text: string, file: string): JsonObject[][] {
  const listOf = (value: unknown): JsonObject[] | undefined => {
    const list = isObject(value) ? value['tools'] : value;
    return Array.isArray(list) && list.every(isObject) ? list : undefined;
  };
  const parse = (part: string): unknown => {
    try {
      return JSON.parse(part);
    } catch {
      // It may still be JSON lines.
      return undefined;
    }
  };
  const whole = parse(text.replace(/^\uFEFF/, ''));
  const parts =
    whole === undefined
      ? text
          .split('\n')
          .filter((line) => line.trim() !== '')
          .map(parse)
      : [whole];
  const single = parts.every((part) => isObject(part) && typeof part['name'] === 'string');
  const lists = single ? [parts as JsonObject[]] : parts.map(listOf);
  if (parts.length > 0 && lists.every((list) => list !== undefined)) return lists;
  throw new ToolscoutError('INVALID_REQUEST', `${file} contains no list of tools.`, {
    suggestion: 'Give a JSON array of tools, an object with "tools", or one such object a line.',
  });
}

async function readTools(file: string, deps: CliDeps): Promise<RecordedServer[]> {
  const text = await deps.readFile(file).catch((thrown: unknown) => {
    throw unreadable(file, thrown);
  });
  const name = file
    .split(/[/\\]/)
    .at(-1)!
    .replace(/\.[^.]*$/, '');
  const lists = listsIn(text, file);
  return lists.map((list, index) => {
    const server = lists.length === 1 ? name : `${name}#${index + 1}`;
    return { server, tools: list.map((definition) => ({ id: String(definition['name']), definition })) };
  });
}

function lineOf({ server, kind, name, check, reason, weight, path }: ScanFinding, { paint }: Terminal): string {
  const address = kind === 'instructions' ? `${server} (its own description)` : addressOf(server, name);
  const where = path === undefined ? '' : paint.dim(`  ${inLine(path)}`);
  const mark = weight === 'hard' ? paint.red('hard') : paint.yellow('soft');
  return `${mark}  ${paint.bold(inLine(address))}  it ${inLine(reason)}  ${paint.dim(`[${check}]`)}${where}`;
}

function print(report: ScanReport, terminal: Terminal): void {
  for (const finding of report.findings) terminal.out(lineOf(finding, terminal));
  const { hard, soft, definitions, servers } = report;
  terminal.out(
    `${counted(definitions, 'definition')} of ${counted(servers, 'server')}: ${hard} with hard findings, ${soft} with soft ones only.`,
  );
}

function isFailure({ hard, soft }: ScanReport, failOn: Flags['failOn']): boolean {
  return failOn !== 'never' && (hard > 0 || (failOn === 'soft' && soft > 0));
}

/** `toolscout scan`: looks for signs of an attack in definitions (A11). */
export function addScan(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('scan'))
    .summary('look for signs of an attack in definitions')
    .description(
      'Looks for signs of an attack in the tools, prompts, resources and instructions of your servers, or in a file with tools. Servers never seen are asked first. Exits with 4 when something was found.',
    )
    .argument('[servers...]', 'only these servers')
    .option('--file <path>', 'scan the tools in this file instead; starts no server')
    .addOption(new Option('--format <format>', 'the output format').choices(['text', 'json', 'sarif']).default('text'))
    .addOption(
      new Option('--fail-on <weight>', 'which findings exit with 4: hard ones, soft ones too, or none')
        .choices(['hard', 'soft', 'never'])
        .default('hard'),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  $ toolscout scan\n  $ toolscout scan --file tools.json --format sarif > scan.sarif',
    )
    .action(async (servers: string[], flags: Flags) => {
      const { terminal } = deps;
      const { file } = flags;
      if (file !== undefined && servers.length > 0) {
        throw new ToolscoutError('INVALID_REQUEST', 'Give either servers or --file, not both.');
      }
      const tools = file === undefined ? undefined : await readTools(file, deps);
      const report = await withGateway(deps, flags, async (gateway) => {
        if (tools) return gateway.reports.scan({ tools });
        const wanted = servers.length > 0 ? servers : undefined;
        await gateway.servers.discover(wanted, { onlyUnknown: true, onProgress: progressBar(terminal) });
        terminal.status('');
        return gateway.reports.scan({ ...(wanted && { servers: wanted }) });
      });
      for (const server of report.unknown) terminal.note(`Not looked at, its lists are not known: ${inLine(server)}`);
      if (flags.format === 'sarif') terminal.json(toSarif(report, file), 2);
      else if (flags.json || flags.format === 'json') terminal.json(report);
      else print(report, terminal);
      if (isFailure(report, flags.failOn)) throw new Exit(FOUND);
    });
}
