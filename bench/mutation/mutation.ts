// Do the tests near the security core notice when it is broken (R19)? Makes small faults in its files, one at a time and only in memory, and runs
// the tests near the file: a fault that no test notices is a hole in the proof. Prints the share that was noticed, file by file, and what was not.
// -- --files=src/net,approvals/decide --sample=20 --seed=1 --all
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { conclude, printTable, type Bound } from '../support/report.js';
import type { Job, Verdict } from './host.js';
import { mutantsOf, type Mutant } from './mutants.js';
import { SECURITY_CORE, type CoreFile } from './security-core.js';

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '' },
    sample: { type: 'string', default: '12' },
    seed: { type: 'string', default: '1' },
    all: { type: 'boolean', default: false },
  },
});

const FLOORS = { score: 0.8 } as const;
/** A mutant that runs longer than this many times the tests without a fault never ends; it was noticed. */
const PATIENCE = { times: 6, leastMs: 60_000 } as const;

const absolute = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The same sequence of numbers below one for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = Math.trunc(state + 0x6d_2b_79_f5);
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Some of the numbers below `count`, each as likely as the others, in order. */
function sampleOf(count: number, size: number, random: () => number): number[] {
  return Array.from({ length: count }, (_, number) => ({ number, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .slice(0, size)
    .map(({ number }) => number)
    .toSorted((a, b) => a - b);
}

/** Has a process of its own run some mutants, and another the rest where one of them never ends. */
async function run(job: Job): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  let left = [...job.numbers];
  let patience = PATIENCE.leastMs * 2;
  while (left.length > 0) {
    const child = fork(absolute('bench/mutation/host.ts'), {
      execArgv: ['--import', 'tsx'],
      // A group of its own, so that the workers of the tests end with it.
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const endGroup = (): void => {
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch {
        // Nothing of it is left.
      }
    };
    // A mutant that never ends must not outlive this run.
    process.once('exit', endGroup);
    const ended = await new Promise<'done' | 'stuck'>((resolve) => {
      const stop = (): void => resolve('stuck');
      let timer = setTimeout(stop, patience);
      child.on('message', (verdict: Verdict) => {
        verdicts.push(verdict);
        left = left.filter((number) => number !== verdict.number);
        if (verdict.number === -1) patience = Math.max(PATIENCE.leastMs, verdict.ms * PATIENCE.times);
        clearTimeout(timer);
        timer = setTimeout(stop, patience);
      });
      child.once('exit', () => {
        clearTimeout(timer);
        resolve('done');
      });
      child.send({ ...job, numbers: left });
    });
    if (ended === 'stuck') endGroup();
    process.off('exit', endGroup);
    const [stuck, ...rest] = left;
    if (stuck === undefined) break;
    if (stuck === -1) throw new Error(`The tests of ${job.path} do not run.`);
    verdicts.push({ number: stuck, killed: true, by: 'it never ended', ms: patience });
    left = rest;
  }
  return verdicts;
}

interface Result {
  readonly path: string;
  readonly mutants: number;
  readonly tried: number;
  readonly killed: number;
  readonly survivors: readonly Mutant[];
}

async function judge({ path, tests }: CoreFile): Promise<Result> {
  const mutants = mutantsOf(path, readFileSync(absolute(path), 'utf8'));
  const size = values.all ? mutants.length : Number(values.sample);
  const numbers = sampleOf(mutants.length, size, randomFrom(Number(values.seed)));
  const job = { path: absolute(path), tests: tests.map(absolute), numbers: [-1, ...numbers] };
  const verdicts = await run(job);
  const whole = verdicts.find(({ number }) => number === -1);
  if (whole?.killed !== false) throw new Error(`The tests of ${path} fail without a fault: ${whole?.by}`);
  const survivors = verdicts
    .filter(({ number, killed }) => number !== -1 && !killed)
    .map(({ number }) => mutants[number]!);
  return { path, mutants: mutants.length, tried: numbers.length, killed: numbers.length - survivors.length, survivors };
}

const oneLine = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 90 ? `${line.slice(0, 87)}...` : line;
};

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

const wanted = values.files.split(',');
const results: Result[] = [];
for (const file of SECURITY_CORE) {
  if (!wanted.some((part) => file.path.includes(part))) continue;
  const result = await judge(file);
  results.push(result);
  console.log(`${result.path}: ${result.killed} of ${result.tried}`);
  for (const { line, kind, original, replacement } of result.survivors) {
    console.log(`  ${result.path}:${line} ${kind}: ${oneLine(original)} → ${oneLine(replacement) || '(nothing)'}`);
  }
}

const sum = (key: 'mutants' | 'tried' | 'killed'): number => results.reduce((all, each) => all + each[key], 0);
const score = sum('killed') / sum('tried');
const percent = (killed: number, tried: number): string => `${((100 * killed) / tried).toFixed(0)} %`;
printTable(
  'Faults in the security core that the tests near it notice',
  ['file', 'mutants', 'tried', 'killed', 'survived', 'score'],
  [...results, { path: 'all', mutants: sum('mutants'), tried: sum('tried'), killed: sum('killed') }].map((each) => [
    each.path,
    String(each.mutants),
    String(each.tried),
    String(each.killed),
    String(each.tried - each.killed),
    percent(each.killed, each.tried),
  ]),
);
const bounds: Bound[] = [{ name: 'share of the mutants that a test notices', value: score, least: FLOORS.score }];
const brief = results.map(({ survivors, ...rest }) => ({ ...rest, survived: survivors.length }));
conclude('mutation', { score, seed: Number(values.seed), files: brief }, bounds);
