// Ten tasks call by call and by a script: tokens, round trips and time side by side (CODE-1, CODE-3).
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { conclude, printTable, quantile } from '../support/report.js';
import { TASKS, type Call, type Task } from './tasks.js';

/** What a script must save at least, and what it may cost at most. */
const BOUNDS = { batchSaving: 0.7, medianSaving: 0.4, startMs: 30, innerMs: 0.3 };

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'toolscout-bench-'));
const config = join(folder, 'config.json');
const kinds = ['tracker', 'people', 'shop', 'stock', 'logs'];
const servers = Object.fromEntries(
  kinds.map((kind) => [kind, { command: process.execPath, args: [path('servers.mjs'), `--kind=${kind}`] }]),
);
writeFileSync(config, JSON.stringify({ scripts: { calls: 10_000 }, answers: { maxTokens: false }, servers }));
const flags = ['--config', config, '--state-dir', join(folder, 'state')];
const cli = path('../../dist/cli.js');
await new Promise((resolve) =>
  spawn(process.execPath, [cli, 'discover', ...flags], { stdio: 'ignore' }).once('exit', resolve),
);
const transport = new StdioClientTransport({ command: process.execPath, args: [cli, 'serve', '--stdio', ...flags] });
const client = new Client({ name: 'bench', version: '1' });
await client.connect(transport);

/** What went through the model. */
interface Bill {
  tokens: number;
  rounds: number;
}

async function ask(bill: Bill, name: string, args: object): Promise<string> {
  const { content, isError } = await client.callTool({ name, arguments: { ...args } });
  const text = (content as Array<{ text: string }>).map((block) => block.text).join('\n');
  bill.tokens += countTokens(JSON.stringify({ name, arguments: args })) + countTokens(text);
  bill.rounds += 1;
  if (isError) throw new Error(text);
  return text;
}

/** An agent looks its tools up in the same way before either. */
async function lookUp(bill: Bill, { name, tools }: Task): Promise<void> {
  await ask(bill, 'search_tools', { query: name, limit: 5 });
  for (const address of tools) await ask(bill, 'get_tool_details', { tool: address });
}

function parsed(text: string): never {
  try {
    return JSON.parse(text) as never;
  } catch {
    // A text that is no JSON is the value itself.
    return text as never;
  }
}

async function byCalls(task: Task): Promise<Bill & { readonly value: unknown }> {
  const bill: Bill = { tokens: 0, rounds: 0 };
  await lookUp(bill, task);
  const call: Call = async (server, tool, args) =>
    parsed(await ask(bill, 'execute_tool', { server, tool, arguments: args }));
  const value = await task.byCalls(call);
  return { ...bill, value };
}

async function byScript(task: Task): Promise<Bill & { readonly value: unknown }> {
  const bill: Bill = { tokens: 0, rounds: 0 };
  await lookUp(bill, task);
  const value: unknown = parsed(await ask(bill, 'run_script', { script: task.script }));
  return { ...bill, value };
}

const rows: string[][] = [];
const savings: Array<{ readonly saving: number; readonly isBatch: boolean }> = [];
for (const task of TASKS) {
  const calls = await byCalls(task);
  const script = await byScript(task);
  if (!isDeepStrictEqual(calls.value, script.value)) {
    throw new Error(`${task.name}: ${JSON.stringify(calls.value)} is not ${JSON.stringify(script.value)}`);
  }
  const saving = 1 - script.tokens / calls.tokens;
  savings.push({ saving, isBatch: task.isBatch === true });
  rows.push([
    `${task.name}${task.isBatch ? ' (batch)' : ''}`,
    String(calls.tokens),
    String(script.tokens),
    `${(saving * 100).toFixed(0)} %`,
    String(calls.rounds),
    String(script.rounds),
  ]);
}

const run = async (script: string): Promise<string> => {
  const { content } = await client.callTool({ name: 'run_script', arguments: { script } });
  return (content as Array<{ text: string }>)[0]!.text;
};
const time = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};
const median = (times: readonly number[]): number =>
  quantile(
    times.toSorted((a, b) => a - b),
    0.5,
  );
const times = async (count: number, work: () => Promise<unknown>): Promise<number[]> => {
  const all: number[] = [];
  for (let at = 0; at < count; at++) all.push(await time(work));
  return all;
};

await times(20, () => run('return 1'));
const startMs = median(await times(50, () => run('return 1')));
const order = { name: 'execute_tool', arguments: { server: 'shop', tool: 'get_order', arguments: { id: 'o7' } } };
await times(50, () => client.callTool(order));
const callMs = median(await times(200, () => client.callTool(order)));
// The same calls one after the other inside of one script: what it takes longer is the way through the sandbox.
const inScript = median(
  await times(5, () => run('for (let i = 0; i < 200; i++) await tools.shop.get_order({ id: "o7" }); return 1')),
);
const innerMs = (inScript - startMs) / 200 - callMs;

await client.close();
rmSync(folder, { recursive: true, force: true });

const medianSaving = median(savings.map(({ saving }) => saving));
const batchSaving = Math.min(...savings.filter(({ isBatch }) => isBatch).map(({ saving }) => saving));
printTable(
  'Tokens and round trips (o200k), looking tools up included',
  ['task', 'calls', 'script', 'saved', 'rounds', 'script'],
  rows,
);
printTable(
  'Scripts',
  ['', 'figure', 'bound'],
  [
    ['fewer tokens, median task', `${(medianSaving * 100).toFixed(0)} %`, `≥ ${BOUNDS.medianSaving * 100} %`],
    ['fewer tokens, least of the batches', `${(batchSaving * 100).toFixed(0)} %`, `≥ ${BOUNDS.batchSaving * 100} %`],
    ['a script that does nothing, warm', `${startMs.toFixed(1)} ms`, `≤ ${BOUNDS.startMs} ms`],
    ['execute_tool', `${callMs.toFixed(2)} ms`, ''],
    ['a call in a script, more than execute_tool', `${innerMs.toFixed(2)} ms`, `≤ ${BOUNDS.innerMs} ms`],
  ],
);
conclude('code', { medianSaving, batchSaving, startMs, callMs, innerMs }, [
  { name: 'saving of the median task', value: medianSaving, least: BOUNDS.medianSaving },
  { name: 'least saving of a batch', value: batchSaving, least: BOUNDS.batchSaving },
  { name: 'start of a script', value: startMs, most: BOUNDS.startMs },
  { name: 'a call in a script beyond execute_tool', value: innerMs, most: BOUNDS.innerMs },
]);
