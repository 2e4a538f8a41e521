import type { Command } from 'commander';
import {
  asSavedRun,
  compareRuns,
  type Evaluation,
  type EvaluationReport,
  type LabelledQuery,
  type RecordedServer,
  type RunComparison,
  type SavedRun,
} from '../../../gateway/index.js';
import { ToolscoutError } from '../../../kernel/errors.js';
import type { JsonValue } from '../../../kernel/json.js';
import { counted, oneLine, printable } from '../../../kernel/text.js';
import { wholeNumber, unreadable } from '../arguments.js';
import { withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import { parseQueries, parseServerFile, parseToolLines } from '../labelled-files.js';
import { progressBar } from '../render.js';
import type { Terminal } from '../terminal.js';

/** How long to wait for servers that were never learned: a measurement needs all of them. */
const PATIENCE_MS = 30_000;

/** Answers shown in the place of those that were wanted. */
const SHOWN_ANSWERS = 3;

interface Flags extends CommonFlags {
  readonly tools?: string;
  readonly worst: number;
  readonly each?: boolean;
  readonly against?: string;
}

/** `toolscout eval`: how well tools are found for queries whose right answers are known (FIND-2). */
export function addEval(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('eval'))
    .summary('measure how well tools are found')
    .description(
      'Asks labelled queries and measures the answers. A line of the file is {"id", "query", "relevant": ["server:tool"]}; ' +
        '"groups": [[…], […]] or "anyOf" name alternatives; any one of them counts.',
    )
    .argument('<queries>', 'file of labelled queries, one JSON object a line')
    .option(
      '--tools <path>',
      'search recorded tools instead of your own: a folder of {meta, tools} files (ids are file::tool), or a JSONL file',
    )
    .option('--worst <count>', 'how many of the worst queries to show', wholeNumber, 5)
    .option('--each', 'with --json: the figures of each query too, to compare another run with')
    .option(
      '--against <file>',
      'compare query by query with a report that was saved with --json --each, or with another config file',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  $ toolscout eval queries.jsonl\n  $ toolscout eval queries.jsonl --tools recorded/ --json' +
        '\n  $ toolscout eval queries.jsonl --json --each > old.json   (with one version)' +
        '\n  $ toolscout eval queries.jsonl --against old.json         (with another)',
    )
    .action(async (file: string, flags: Flags) => {
      const queries = parseQueries(await readable(file, deps.readFile(file)), file);
      const tools = flags.tools === undefined ? undefined : await readTools(flags.tools, deps);
      const saved = flags.against === undefined ? undefined : await readRun(flags.against, deps);
      const { terminal } = deps;
      const report = await measure(queries, tools, flags, deps);
      const other =
        flags.against === undefined || saved
          ? saved
          : runOf(await measure(queries, tools, { ...flags, config: flags.against }, deps));
      const compared = other && compareRuns(runOf(report), other);
      noteMissing(report, terminal);
      if (flags.json) {
        terminal.json({
          ...report.figures,
          ...(flags.each ? { queries: runOf(report).queries } : {}),
          ...(compared ? { against: compared } : {}),
        });
      } else {
        print(report, flags.worst, terminal);
        if (compared) printComparison(compared, report, flags.worst, terminal);
      }
    });
}

async function measure(
  queries: readonly LabelledQuery[],
  tools: readonly RecordedServer[] | undefined,
  flags: Flags,
  deps: CliDeps,
): Promise<EvaluationReport> {
  const { terminal } = deps;
  return withGateway(deps, flags, async (gateway) => {
    if (!tools) {
      const unknown = gateway.servers.discover(undefined, { onlyUnknown: true, onProgress: progressBar(terminal) });
      await Promise.race([unknown, gateway.internal.settle(PATIENCE_MS)]);
      terminal.status('');
    }
    return gateway.reports.evaluate(queries, { tools });
  });
}

function runOf({ figures, queries }: EvaluationReport): Required<SavedRun> {
  return {
    ndcg10: figures.ndcg10,
    queries: queries.map(({ id, quality }) => ({ id, ndcg10: quality.ndcg10 })),
  };
}

/** The saved run in a file; `undefined` when the file is something else, a config then. */
async function readRun(path: string, deps: CliDeps): Promise<SavedRun | undefined> {
  const text = await readable(path, deps.readFile(path));
  try {
    return asSavedRun(JSON.parse(text) as JsonValue);
  } catch {
    // Configs may be YAML or have comments: what is no JSON is no report.
    return undefined;
  }
}

async function readTools(path: string, deps: CliDeps): Promise<RecordedServer[]> {
  const names = await readable(path, deps.listFolder(path));
  if (!names) return parseToolLines(await readable(path, deps.readFile(path)), path);
  const files = names.filter((name) => name.endsWith('.json'));
  if (files.length === 0) throw new ToolscoutError('INVALID_REQUEST', `${path} contains no .json files.`);
  const servers: RecordedServer[] = [];
  for (const name of files) {
    const file = `${path.replace(/\/+$/, '')}/${name}`;
    servers.push(parseServerFile(await readable(file, deps.readFile(file)), file, name.slice(0, -'.json'.length)));
  }
  return servers;
}

async function readable<T>(path: string, reading: Promise<T>): Promise<T> {
  return reading.catch((thrown: unknown) => {
    throw unreadable(path, thrown);
  });
}

function noteMissing({ missing }: EvaluationReport, terminal: Terminal): void {
  if (missing.length === 0) return;
  const shown = missing.slice(0, SHOWN_ANSWERS).join(', ') + (missing.length > SHOWN_ANSWERS ? ', …' : '');
  const isOne = missing.length === 1;
  const what = `${counted(missing.length, 'wanted tool')} ${isOne ? 'is' : 'are'} not among the offered tools`;
  terminal.note(terminal.paint.yellow(printable(`${what} and ${isOne ? 'counts' : 'count'} as not found: ${shown}`)));
}

function print({ figures, before, queries, tools }: EvaluationReport, worst: number, terminal: Terminal): void {
  const { paint } = terminal;
  const line = (label: string, read: (run: Evaluation) => number): void => {
    const change = before ? read(figures) - read(before) : undefined;
    terminal.out(`${label.padEnd(10)}${read(figures).toFixed(3)}${change === undefined ? '' : ` (${signed(change)})`}`);
  };
  terminal.out(
    paint.dim(
      `${counted(figures.n, 'query', 'queries')} over ${counted(tools, 'tool')}${before ? ', against the run before' : ''}`,
    ),
  );
  line('hit@1', ({ hit1 }) => hit1);
  for (const cut of ['1', '3', '5', '10'] as const) line(`Recall@${cut}`, ({ recall }) => recall[cut]);
  line('nDCG@10', ({ ndcg10 }) => ndcg10);
  line('MRR', ({ mrr }) => mrr);
  terminal.out(`p50       ${figures.p50Ms.toFixed(2)} ms`);
  terminal.out(`p95       ${figures.p95Ms.toFixed(2)} ms`);

  const imperfect = queries
    .filter(({ quality }) => quality.ndcg10 < 1 - 1e-9)
    .toSorted((a, b) => a.quality.ndcg10 - b.quality.ndcg10 || a.quality.recall['10'] - b.quality.recall['10']);
  if (imperfect.length === 0) return;
  const losses = queries.flatMap((query) => query.losses);
  if (losses.length > 0) {
    terminal.out(`\n${paint.bold('Where it loses')} (wanted tools that do not stand first)`);
    for (const loss of ['not among candidates', 'near-twin first', 'outranked'] as const) {
      terminal.out(`${String(losses.filter((one) => one === loss).length).padStart(5)}  ${loss}`);
    }
  }
  terminal.out(`\n${paint.bold('Worst queries')} (${imperfect.length} of ${figures.n} are not perfect)`);
  for (const { id, query, wanted, came, quality } of imperfect.slice(0, worst)) {
    const missed = wanted.filter((group) => !group.some((one) => came.slice(0, SHOWN_ANSWERS).includes(one)));
    const instead = came.filter((one) => !wanted.some((group) => group.includes(one))).slice(0, SHOWN_ANSWERS);
    terminal.out(`${quality.ndcg10.toFixed(2)}  ${printable(`${id}: ${oneLine(query, 160)}`)}`);
    terminal.out(`      wanted  ${printable((missed.length > 0 ? missed : wanted).map(groupText).join(', '))}`);
    terminal.out(paint.dim(`      came    ${printable(instead.join(', ')) || 'nothing'}`));
  }
}

function printComparison(
  { ndcg10, change, compared, wins, losses, ties, changed }: RunComparison,
  { figures, queries }: EvaluationReport,
  most: number,
  terminal: Terminal,
): void {
  const { paint } = terminal;
  terminal.out(
    `\n${paint.bold('Against the other run')} (nDCG@10 ${ndcg10.toFixed(3)} → ${figures.ndcg10.toFixed(3)})`,
  );
  if (!change) {
    terminal.out('It has no query in common with this one, or no figures of each query: save it with --json --each.');
    return;
  }
  const interval = `between ${signed(change.low)} and ${signed(change.high)} in 95 of 100 paired samples`;
  terminal.out(`${signed(change.mean)} over ${counted(compared, 'query', 'queries')}, ${interval}`);
  terminal.out(`${counted(wins, 'win')}, ${counted(losses, 'loss', 'losses')}, ${counted(ties, 'tie')}`);
  const texts = new Map(queries.map(({ id, query }) => [id, query]));
  const line = ({ id, before, now }: (typeof changed)[number]): string =>
    `${before.toFixed(2)} → ${now.toFixed(2)}  ${printable(`${id}: ${oneLine(texts.get(id) ?? '', 160)}`)}`;
  for (const one of changed.filter((pair) => pair.now < pair.before).slice(0, most)) terminal.out(line(one));
  for (const one of changed
    .filter((pair) => pair.now > pair.before)
    .toReversed()
    .slice(0, most))
    terminal.out(line(one));
}

function groupText(group: readonly string[]): string {
  return group.join(' or ');
}

function signed(change: number): string {
  const text = Math.abs(change).toFixed(3);
  if (Number(text) === 0) return '±0.000';
  return `${change > 0 ? '+' : '-'}${text}`;
}
