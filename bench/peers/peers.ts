// toolscout beside peers that install from npm: what an agent pays, what a call costs, what is carried.
// The peers are installed outside of the repository; one that is absent is named and left out.
import { writeFileSync } from 'node:fs';
import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { conclude, printTable, quantile } from '../support/report.js';
import { bars } from './bars.js';
import { FEATURE_NAMES, featuresOf } from './features.js';
import { start, type Running } from './running.js';
import { subjects, type Subject } from './subjects.js';

// The client of the SDK adds a listener to one signal with every request over HTTP.
setMaxListeners(0);

const TOOLS = 200;
const ROUNDS = 7;
// The kernel counts CPU in ticks of 10 ms: a round is long enough for a hundredth of a millisecond a call.
const CALLS_1 = 500;
const CALLS_16 = 2000;
const REST_MS = 20_000;
const QUERIES = [
  'create an invoice',
  'search the calendar for events',
  'delete a branch',
  'assign a ticket to somebody',
];

interface Figures {
  readonly name: string;
  readonly menuTokens: number;
  /** What an agent reads to find a tool: the answer to a search, or the whole menu where there is no search. */
  readonly searchTokens: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly perSecond1: number;
  readonly perSecond16: number;
  readonly cpuMs1: number;
  readonly cpuMs16: number;
  /** Memory when the first call was answered, when the last one was, and after a rest. */
  readonly startMb: number;
  readonly busyMb: number;
  readonly idleMb: number;
  readonly features: readonly string[];
}

const median = (values: readonly number[]): number =>
  quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );

interface Round {
  readonly times: readonly number[];
  readonly perSecond: number;
  readonly cpuMs: number;
}

/** A subject under measurement. */
interface Measured {
  readonly subject: Subject;
  readonly running: Running;
  readonly menuTokens: number;
  readonly searchTokens: number;
  readonly startMb: number;
  readonly single: Round[];
  readonly many: Round[];
  busyMb: number;
}

async function round(
  { subject, running }: Pick<Measured, 'subject' | 'running'>,
  calls: number,
  inFlight: number,
): Promise<Round> {
  const call = subject.call('echo', { message: 'hello' });
  const times: number[] = [];
  let left = calls;
  const cpu = running.cpuMs();
  const began = performance.now();
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      const from = performance.now();
      const { isError } = await running.client.callTool(call);
      if (isError) throw new Error(`${subject.name} failed`);
      times.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const seconds = (performance.now() - began) / 1000;
  return { times, perSecond: calls / seconds, cpuMs: (running.cpuMs() - cpu) / calls };
}

/** Starts a subject, counts tokens and warms it up. */
async function open(subject: Subject): Promise<Measured> {
  if (subject.absent !== undefined) throw new Error(subject.absent);
  const running = await start(subject, TOOLS);
  const startMb = running.rssMb();
  const { client } = running;
  const { tools } = await client.listTools();
  const menu = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const menuTokens = countTokens(JSON.stringify(menu));
  const answers: number[] = [];
  for (const query of QUERIES) {
    const answer = subject.search ? await client.callTool(subject.search(query)) : undefined;
    const [first] = (answer?.content ?? []) as { text: string }[];
    answers.push(first ? countTokens(first.text) : menuTokens);
  }
  const measured = {
    subject,
    running,
    menuTokens,
    searchTokens: median(answers),
    startMb,
    single: [],
    many: [],
    busyMb: startMb,
  };
  await round(measured, CALLS_1, 1);
  await round(measured, CALLS_16, 16);
  return measured;
}

async function figuresOf(measured: Measured): Promise<Figures> {
  const { subject, running, menuTokens, searchTokens, startMb, single, many, busyMb } = measured;
  const idleMb = running.rssMb();
  const times = single.flatMap((each) => each.times).toSorted((a, b) => a - b);
  return {
    name: subject.name,
    menuTokens,
    searchTokens,
    p50Ms: quantile(times, 0.5),
    p95Ms: quantile(times, 0.95),
    perSecond1: median(single.map(({ perSecond }) => perSecond)),
    perSecond16: median(many.map(({ perSecond }) => perSecond)),
    cpuMs1: median(single.map(({ cpuMs }) => cpuMs)),
    cpuMs16: median(many.map(({ cpuMs }) => cpuMs)),
    startMb,
    busyMb,
    idleMb,
    features: await featuresOf(running.client, subject.call),
  };
}

const absent: { readonly name: string; readonly reason: string }[] = [];
const opened: Measured[] = [];
for (const subject of subjects()) {
  try {
    opened.push(await open(subject));
  } catch (thrown) {
    const reason = String((thrown as Error).message).slice(0, 200);
    absent.push({ name: subject.name, reason });
    console.log(`${subject.name} is left out: ${reason}`);
  }
}
// In turn, so that what else the machine does falls on all of them.
for (let n = 0; n < ROUNDS; n++) {
  for (const each of opened) {
    each.single.push(await round(each, CALLS_1, 1));
    each.many.push(await round(each, CALLS_16, 16));
    each.busyMb = each.running.rssMb();
  }
}
// A gateway rests for most of a day. The rest is the same for all: those that were measured first have rested for longer already.
await new Promise((resolve) => setTimeout(resolve, REST_MS));
const all: Figures[] = [];
for (const each of opened) {
  all.push(await figuresOf(each));
  await each.running.close();
}

const two = (value: number): string => value.toFixed(2);
const whole = (value: number): string => value.toFixed(0);
const head = [
  '',
  'menu',
  'search',
  'p50 ms',
  'p95 ms',
  'calls/s 1',
  'calls/s 16',
  'CPU ms 1',
  'CPU ms 16',
  'MB, first call',
  'MB, last call',
  'MB, idle',
];
const rows = all.map((each) => [
  each.name,
  whole(each.menuTokens),
  whole(each.searchTokens),
  two(each.p50Ms),
  two(each.p95Ms),
  whole(each.perSecond1),
  whole(each.perSecond16),
  two(each.cpuMs1),
  two(each.cpuMs16),
  whole(each.startMb),
  whole(each.busyMb),
  whole(each.idleMb),
]);
printTable(`${TOOLS} tools and an echo; CPU and memory of the whole process tree, the server included`, head, rows);
const marks = all.map(({ name, features }) => [
  name,
  ...FEATURE_NAMES.map((each) => (features.includes(each) ? 'yes' : 'no')),
]);
printTable('What is carried between host and server', ['', ...FEATURE_NAMES], marks);

const panel = (title: string, of: (figures: Figures) => number, digits = 0) => ({
  title,
  bars: all.map((each) => ({ name: each.name, value: of(each), label: of(each).toFixed(digits) })),
});
const plot = bars([
  panel('tokens to find a tool (menu and search)', ({ menuTokens, searchTokens, name }) =>
    /toolscout|broker/.test(name) ? menuTokens + searchTokens : menuTokens,
  ),
  panel('calls a second, sixteen at once', ({ perSecond16 }) => perSecond16),
  panel('CPU ms a call, one at a time', ({ cpuMs1 }) => cpuMs1, 2),
  panel('memory of the idle process tree, MB', ({ idleMb }) => idleMb),
]);
if (process.argv.includes('--write')) writeFileSync(join(import.meta.dirname, '..', '..', 'docs', 'peers.svg'), plot);
conclude('peers', { tools: TOOLS, subjects: all, absent }, bounds());
// Clients over HTTP keep connections open for a while.
process.exit();

/** toolscout must stay ahead where a call does not depend on the machine: tokens and features. */
function bounds() {
  const ours = all.filter(({ name }) => name.startsWith('toolscout'));
  const peers = all.filter(({ name }) => !name.startsWith('toolscout') && name !== 'no gateway');
  const least = (of: (figures: Figures) => number): number => Math.min(...peers.map(of));
  return ours.flatMap((each) => [
    ...(peers.length > 0
      ? [
          { name: `${each.name}: menu`, value: each.menuTokens, most: least(({ menuTokens }) => menuTokens) },
          { name: `${each.name}: search`, value: each.searchTokens, most: least(({ searchTokens }) => searchTokens) },
        ]
      : []),
    { name: `${each.name}: features carried`, value: each.features.length, least: FEATURE_NAMES.length },
  ]);
}
