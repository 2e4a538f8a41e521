// What an agent receives of recorded results, with and without a budget, and whether it reaches what it asks for (ANS-1, ANS-3).
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { createAnswers, createKeptResults, runOwnTool } from '../../src/answers/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import { isObject, type JsonObject, type JsonValue } from '../../src/kernel/json.js';
import { AnswersConfig } from '../../src/model/config.js';
import type { Viewer } from '../../src/model/viewer.js';
import { createMemoryStore } from '../../src/store/index.js';
import { conclude, printTable } from '../support/report.js';

const BUDGETS = [1000, 2000, 8000];
const BUDGET = 8000;
const BOUNDS = { reached: 0.9, results: 60, servers: 15, questions: 60 };

interface Recorded {
  readonly server: string;
  readonly tool: string;
  readonly result: JsonObject;
}

const read = (name: string): Buffer => readFileSync(new URL(name, import.meta.url));
const lines = <Row>(text: string): Row[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
const recorded = lines<Recorded>(gunzipSync(read('results.jsonl.gz')).toString('utf8'));
const questions = lines<{ result: number; question: string; answer: string }>(read('questions.jsonl').toString('utf8'));

const texts = (text: string): JsonObject => ({ content: [{ type: 'text', text }] });
const many = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n');
const synthetic: Recorded[] = [
  [
    'page',
    texts(many(4000, (at) => (at % 40 === 0 ? `## Section ${at / 40}` : `Sentence ${at} of a long page says little.`))),
  ],
  [
    'log',
    texts(
      many(
        9000,
        (at) => `2026-11-16 10:00:${at % 60} INFO [worker-${at % 8}] request ${at * 7919} took ${at % 400} ms`,
      ),
    ),
  ],
  ['table', texts(many(5000, (at) => `${at},name ${at},${at * 13},${at % 2 === 0}`))],
  ['base64', texts(Buffer.alloc(200_000, 'all kinds of bytes \u0007').toString('base64'))],
  ['one line', texts('word '.repeat(60_000))],
  [
    'image',
    {
      content: [
        { type: 'image', mimeType: 'image/png', data: 'A'.repeat(400_000) },
        { type: 'text', text: 'word '.repeat(30_000) },
      ],
    },
  ],
].map(([tool, result]) => ({ server: 'synthetic', tool: tool as string, result: result as JsonObject }));

const exact = (text: string): number => countTokens(text, { disallowedSpecial: new Set() });

/** What an agent pays for a result: its texts, and its structured content as JSON. An image is not read as text. */
function tokensOf({ content, structuredContent }: JsonObject): number {
  const blocks = (Array.isArray(content) ? content : []).map((block: JsonValue) => {
    if (!isObject(block)) return 0;
    if (typeof block['text'] === 'string') return exact(block['text']);
    return block['type'] === 'image' || block['type'] === 'audio' ? 1600 : exact(JSON.stringify(block));
  });
  const structured = structuredContent === undefined ? 0 : exact(JSON.stringify(structuredContent));
  return blocks.reduce((sum, tokens) => sum + tokens, structured);
}

const textOf = ({ content }: JsonObject): string =>
  (content as JsonObject[]).map(({ text }) => (typeof text === 'string' ? text : '')).join('\n');

const viewer: Viewer = { principal: 'agent', scopes: new Set(['call']), isLimited: false, sees: () => true };
const config = AnswersConfig.parse({ keepBytes: 1024 ** 3 });
const kept = createKeptResults({
  store: createMemoryStore({ clock: systemClock }),
  clock: systemClock,
  limits: () => config,
  onError: (thrown) => console.error(thrown),
});
const answers = createAnswers(
  kept,
  () => ({ answers: config, screenResults: 'off', splitReads: false }),
  (_subject, answer) => answer,
);

const rows: string[][] = [];
let exceeded = 0;
const over: number[] = [];
const totals = new Map<number, number>();
let plain = 0;
for (const { server, tool, result } of [...recorded, ...synthetic]) {
  const whole = tokensOf(result);
  plain += whole;
  for (const maxTokens of BUDGETS) {
    const { result: answer } = await answers.answer(viewer, { server, tool }, result, { maxTokens });
    const tokens = tokensOf(answer);
    totals.set(maxTokens, (totals.get(maxTokens) ?? 0) + tokens);
    if (answer !== result && tokens > maxTokens) exceeded++;
    if (answer === result && tokens > maxTokens) over.push(tokens / maxTokens - 1);
    if (maxTokens === BUDGET && answer !== result) rows.push([`${server}:${tool}`, String(whole), String(tokens)]);
  }
}
printTable('Results above 8,000 tokens (o200k)', ['', 'whole', 'answer'], rows);

/**
 * How an agent goes on: it reads the preview, then asks `search_result` with its question, then reads what the best hit is part of.
 */
async function callsUntilFound(result: JsonObject, question: string, answer: string): Promise<number | undefined> {
  const wanted = new RegExp(answer);
  const first = await answers.answer(viewer, { server: 'a', tool: 'b' }, result, { maxTokens: BUDGET });
  if (wanted.test(textOf(first.result))) return 0;
  if (first.handle === undefined) return undefined;
  const { handle } = first;
  const found = textOf(await runOwnTool(kept, viewer, 'search_result', { handle, query: question }, BUDGET));
  if (wanted.test(found)) return 1;
  const [, place] = /^\[.*\]\n\[(.+)\]$/m.exec(found) ?? [];
  const [, line] = /line (\d+)$/.exec(place ?? '') ?? [];
  const next: JsonObject =
    line === undefined ? { ...(place && { path: place }) } : { offset: Math.max(0, Number(line) - 5) };
  return wanted.test(textOf(await runOwnTool(kept, viewer, 'read_result', { handle, ...next }, BUDGET)))
    ? 2
    : undefined;
}

const counts = [0, 0, 0];
/** Questions about results that were returned whole: they ask nothing of what reads on. */
let isWhole = 0;
const missed: string[] = [];
for (const { result, question, answer } of questions) {
  const calls = await callsUntilFound(recorded[result]!.result, question, answer);
  if (tokensOf(recorded[result]!.result) <= BUDGET) isWhole++;
  if (calls === undefined) missed.push(question);
  else counts[calls] = (counts[calls] ?? 0) + 1;
}
const reached = (questions.length - missed.length) / questions.length;
const withheld = questions.length - isWhole;
const reachedBehind = (withheld - missed.length) / withheld;
const servers = new Set(recorded.map(({ server }) => server)).size;
printTable(
  `${recorded.length} recorded results of ${servers} servers, and ${synthetic.length} synthetic ones`,
  ['', 'tokens (o200k)'],
  [
    ['whole', String(plain)],
    ...[...totals].map(([budget, tokens]) => [`budget of ${budget}`, String(tokens)]),
    ['previews above their budget', String(exceeded)],
    ['returned whole above their budget', `${over.length}, by ${(Math.max(0, ...over) * 100).toFixed(1)} % at most`],
    [`facts in the preview / after one call / after two, of ${questions.length}`, counts.join(' / ')],
    [`facts reached in results that were withheld, of ${withheld}`, `${(reachedBehind * 100).toFixed(0)} %`],
  ],
);
for (const question of missed) console.log(`not reached: ${question}`);
conclude(
  'answers',
  {
    results: recorded.length,
    servers,
    plain,
    totals: Object.fromEntries(totals),
    exceeded,
    over,
    counts,
    reached,
    reachedBehind,
  },
  [
    { name: 'previews above their budget', value: exceeded, most: 0 },
    { name: 'returned whole, above the budget', value: Math.max(0, ...over), most: 0 },
    { name: 'facts reached in withheld results', value: reachedBehind, least: BOUNDS.reached },
    { name: 'facts reached within two calls', value: reached, least: BOUNDS.reached },
    { name: 'recorded results', value: recorded.length, least: BOUNDS.results },
    { name: 'servers', value: servers, least: BOUNDS.servers },
    { name: 'questions', value: questions.length, least: BOUNDS.questions },
  ],
);
