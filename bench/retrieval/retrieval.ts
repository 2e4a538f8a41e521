// How well tools are found, against other ways to find them (FIND-2). `--ours` leaves the others out; names choose sets.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Evaluation, LabelledQuery } from '../../src/gateway/index.js';
import { goldOf, judge, summariseRun, type Quality } from '../../src/search/index.js';
import { conclude, printTable, type Bound } from '../support/report.js';
import { measureAsking, type AskingResult } from './asking.js';
import { comparePaired, type Comparison } from '../../src/search/bootstrap.js';
import { BASELINES, OURS, type Ranker } from './methods.js';
import { listSets, readSet, type RetrievalSet } from './sets.js';
import { measureUsage, type UsageResult } from './usage.js';

/** Queries the others are asked at most; the largest pool would take them minutes. */
const SAMPLE = 165;
const LARGE_SAMPLE = 60;
const LARGE_POOL = 10_000;

/** Sets on which the memory of queries is measured: those where several queries want one tool. */
const USAGE_SETS = ['livemcp-route', 'livemcp-task', 'metatool', 'mcpproxy-golden', 'real-intents', 'bfcl'];

/** The set of what users said, and those that hold what agents asked for then. */
const TASKS = 'livemcp-task';
const ASKING_SETS = ['livemcp-route', 'mcp-ocean'];

/** Queries asked before the clock counts. */
const UNTIMED = 20;

interface Row extends Evaluation {
  readonly method: string;
  readonly of: number;
}

interface SetResult {
  readonly set: string;
  readonly tools: number;
  /** Ours over all queries: what the floor is held against. */
  readonly ours: Row;
  /** Everybody over the same sample, ours last. */
  readonly sampled: readonly Row[];
  readonly best?: string;
  readonly lead?: Comparison;
}

async function run(
  rank: Ranker,
  queries: readonly LabelledQuery[],
): Promise<{ qualities: Quality[]; times: number[] }> {
  const qualities: Quality[] = [];
  const times: number[] = [];
  for (const query of queries) {
    const asked = performance.now();
    const ids = await rank(query.query);
    times.push(performance.now() - asked);
    qualities.push(judge(ids, goldOf(query)));
  }
  return { qualities, times };
}

/** Evenly spread queries, the same in every run. */
function sampleOf({ queries }: RetrievalSet, tools: number): LabelledQuery[] {
  const wanted = Math.min(queries.length, tools > LARGE_POOL ? LARGE_SAMPLE : SAMPLE);
  return Array.from({ length: wanted }, (_, i) => queries[Math.floor((i * queries.length) / wanted)]!);
}

async function measure(name: string, alone: boolean): Promise<SetResult> {
  const set = readSet(name);
  const tools = set.servers.reduce((total, server) => total + server.tools.length, 0);
  const all = set.queries.length;
  const rank = await OURS.build(set.servers);
  await run(rank, set.queries.slice(0, 200));
  const whole = await run(rank, set.queries);
  const ours: Row = { method: `${OURS.name}, all`, of: all, ...summariseRun(whole.qualities, whole.times) };
  if (alone) return { set: name, tools, ours, sampled: [] };

  const sample = sampleOf(set, tools);
  const results = [];
  for (const method of BASELINES) {
    const theirs = await method.build(set.servers);
    await run(theirs, sample.slice(0, tools > LARGE_POOL ? 2 : UNTIMED));
    results.push({ method: method.name, ...(await run(theirs, sample)) });
  }
  const own = { method: OURS.name, ...(await run(rank, sample)) };
  const rows = [...results, own].map(({ method, qualities, times }) => ({
    method,
    of: all,
    ...summariseRun(qualities, times),
  }));
  const best = results.toSorted((a, b) => meanNdcg(b.qualities) - meanNdcg(a.qualities))[0];
  const gains = (qualities: readonly Quality[]): number[] => qualities.map(({ ndcg10 }) => ndcg10);
  const lead = best && comparePaired(gains(own.qualities), gains(best.qualities));
  return { set: name, tools, ours, sampled: rows, best: best?.method, lead };
}

function meanNdcg(qualities: readonly Quality[]): number {
  return summariseRun(qualities, []).ndcg10;
}

const points = (value: number): string => (value * 100).toFixed(1);

function cells(set: string, tools: number, { method, n, of, recall, ndcg10, mrr, p50Ms }: Row): string[] {
  const asked = n === of ? String(n) : `${n} of ${of}`;
  const figures = [recall['1'], recall['5'], recall['10'], ndcg10, mrr].map(points);
  return [set, method, String(tools), asked, ...figures, p50Ms.toFixed(2)];
}

function print(results: readonly SetResult[]): void {
  const rows = results.flatMap(({ set, tools, ours, sampled }) => {
    const complete = sampled.length > 0 && ours.n === sampled[0]?.n;
    return [...sampled, ...(complete ? [] : [ours])].map((row) => cells(set, tools, row));
  });
  const head = 'dataset,method,tools,queries,R@1,R@5,R@10,nDCG@10,MRR,p50 ms'.split(',');
  printTable('How well tools are found (points of 100; all methods of a set are asked the same queries)', head, rows);
  const leads = results.flatMap(({ set, best, lead, sampled }) =>
    best && lead
      ? [[set, best, String(sampled[0]?.n), signed(lead.mean), `${signed(lead.low)} … ${signed(lead.high)}`]]
      : [],
  );
  if (leads.length === 0) return;
  printTable(
    'nDCG@10 of toolscout minus that of the best other method (paired bootstrap, 95 of 100)',
    ['dataset', 'best other', 'queries', 'lead', 'between'],
    leads,
  );
}

function signed(value: number): string {
  return `${value >= 0 ? '+' : ''}${points(value)}`;
}

function rounded(value: object): object {
  return JSON.parse(
    JSON.stringify(value, (_, one: unknown) => (typeof one === 'number' ? Number(one.toFixed(4)) : one)),
  ) as object;
}

/** The user's task against the agent's words for one need of it, on the sets that hold both. */
async function measureAllAsking(): Promise<AskingResult[]> {
  if (!present.includes(TASKS)) return [];
  const tasks = readSet(TASKS).queries;
  const measured: AskingResult[] = [];
  for (const name of ASKING_SETS.filter((set) => results.some((result) => result.set === set))) {
    const result = await measureAsking(readSet(name), tasks);
    if (result) measured.push(result);
  }
  return measured;
}

function printAsking(asked: readonly AskingResult[]): void {
  const rows = asked.map(({ set, queries, task, need, gain }) => [
    set,
    String(queries),
    points(task),
    points(need),
    signed(gain.mean),
    `${signed(gain.low)} … ${signed(gain.high)}`,
  ]);
  const head = ['dataset', 'needs', "the user's task", "the agent's words", 'gain', 'between'];
  printTable('nDCG@10 by how the agent asks (the same needs, judged by the same tools)', head, rows);
}

/** What remembering queries that led to a tool gives, where the queries of other tasks are remembered. */
function printUsage(results: readonly UsageResult[]): void {
  const rows = results.map(({ set, without, with: used, remembered, gain }) => [
    set,
    String(used.n),
    remembered.toFixed(1),
    points(without.ndcg10),
    points(used.ndcg10),
    signed(gain.mean),
    `${signed(gain.low)} … ${signed(gain.high)}`,
  ]);
  const head = ['dataset', 'queries', 'per tool', 'without', 'with', 'gain', 'between'];
  printTable('nDCG@10 with the memory of queries of other tasks (five folds by task)', head, rows);
}

const floors = JSON.parse(readFileSync(join(import.meta.dirname, 'floors.json'), 'utf8')) as Record<string, number>;
const flags = process.argv.slice(2);
const wanted = flags.filter((flag) => !flag.startsWith('--'));
const { present, absent } = listSets(Object.keys(floors));
const results: SetResult[] = [];
for (const name of wanted.length > 0 ? wanted : present) results.push(await measure(name, flags.includes('--ours')));
print(results);
const usage: UsageResult[] = [];
for (const name of USAGE_SETS.filter((set) => results.some((result) => result.set === set))) {
  usage.push(await measureUsage(readSet(name)));
}
if (usage.length > 0) printUsage(usage);
const asking = await measureAllAsking();
if (asking.length > 0) printAsking(asking);
if (absent.length > 0) console.log(`\nNot measured, because the sets are not here: ${absent.join(', ')}.`);
const bounds: Bound[] = results.map(({ set, ours }) => ({
  name: `nDCG@10 on ${set}`,
  value: Number(ours.ndcg10.toFixed(4)),
  least: floors[set],
}));
bounds.push(
  ...usage.map(({ set, with: used }) => ({
    name: `nDCG@10 on ${set} with memory`,
    value: Number(used.ndcg10.toFixed(4)),
    least: floors[`${set} with memory`],
  })),
);
conclude('retrieval', rounded({ sets: results, usage, asking }), bounds);
