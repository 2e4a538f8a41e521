// What a catalog costs as it grows to a million tools (FIND-3, FIND-4). Sizes may be named: npm run bench:scale -- 1000 10000
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tool } from '../../src/model/tool.js';
import { compileRules, normalizeTool } from '../../src/normalize/index.js';
import { createIndex, createKnowledgeSource, percentile, type ToolIndex } from '../../src/search/index.js';
import { readCorpus, readReal } from '../retrieval/sets.js';
import { conclude, printTable } from '../support/report.js';
import { measureBlocks } from './blocks.js';
import { createGrower } from './grow.js';
import { hostileQueries } from './hostile.js';
import { plot } from './plot.js';

const SIZES = [1000, 10_000, 100_000, 1_000_000];

/** Times every query is asked; the best of them counts. */
const ROUNDS = 3;

/** Servers that are replaced to see what that costs. */
const REPLACED = 25;

interface Row {
  readonly tools: number;
  readonly servers: number;
  /** Reading tools into our own words, and putting them into the index. */
  readonly normalizeMs: number;
  readonly indexMs: number;
  /** Memory that the index adds to the tools, and that of the tools themselves, schemas apart. */
  readonly indexBytes: number;
  readonly toolBytes: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** The slowest of the hostile queries. */
  readonly worstMs: number;
  readonly replaceMs: number;
}

interface ReadServer {
  readonly server: string;
  readonly tools: readonly Tool[];
}

const collect = globalThis.gc;
if (!collect) throw new Error('Start it with --expose-gc: npm run bench:scale.');

function memory(): number {
  collect?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function timed(task: () => void): number {
  const began = performance.now();
  task();
  return performance.now() - began;
}

const knowledge = createKnowledgeSource((reason) => console.error(reason));
knowledge();
const rules = compileRules([]);
const grower = createGrower(readCorpus());
const queries = readReal().map(({ query }) => query);
const hostile = hostileQueries(grower);

/** Grows servers with this many tools and reads them in; answers how long the reading took. */
function readGrown(size: number): { servers: ReadServer[]; normalizeMs: number } {
  const servers: ReadServer[] = [];
  let normalizeMs = 0;
  for (let id = 1, count = 0; count < size; id += 1) {
    const { server, definitions } = grower.grow(id);
    const fitting = definitions.slice(0, size - count);
    normalizeMs += timed(() => {
      servers.push({ server, tools: fitting.map((one) => normalizeTool({ id: server, tags: [] }, one, rules)) });
    });
    count += fitting.length;
  }
  return { servers, normalizeMs };
}

/** The best of several times: what the query itself costs, not what else the machine was doing. */
function best(index: ToolIndex, query: string): number {
  return Math.min(...Array.from({ length: ROUNDS }, () => timed(() => index.search(query))));
}

function ask(index: ToolIndex): Pick<Row, 'p50Ms' | 'p95Ms' | 'p99Ms'> {
  for (const query of queries) index.search(query);
  const times = queries.map((query) => best(index, query));
  return { p50Ms: percentile(times, 0.5), p95Ms: percentile(times, 0.95), p99Ms: percentile(times, 0.99) };
}

function slowest(index: ToolIndex): number {
  return Math.max(...hostile.map((query) => best(index, query)));
}

function replaceOne(index: ToolIndex, servers: readonly ReadServer[]): number {
  const step = Math.max(1, Math.floor(servers.length / REPLACED));
  const chosen = servers.filter((_, i) => i % step === 0).slice(0, REPLACED);
  return percentile(
    chosen.map(({ server, tools }) => timed(() => index.replace(server, tools))),
    0.5,
  );
}

function measure(size: number): Row {
  const empty = memory();
  const { servers, normalizeMs } = readGrown(size);
  const withTools = memory();
  const index = createIndex(knowledge);
  const indexMs = timed(() => {
    for (const { server, tools } of servers) index.replace(server, tools);
  });
  const withIndex = memory();
  const row = {
    tools: index.size,
    servers: servers.length,
    normalizeMs,
    indexMs,
    indexBytes: (withIndex - withTools) / size,
    toolBytes: (withTools - empty) / size,
    ...ask(index),
    worstMs: slowest(index),
    replaceMs: replaceOne(index, servers),
  };
  console.error(`${size} tools measured`);
  return row;
}

const chosen = process.argv.slice(2).map(Number).filter(Number.isFinite);
const rows = (chosen.length > 0 ? chosen : SIZES).map(measure);
const blocks = await measureBlocks(readCorpus());

printTable(
  'What a catalog costs as it grows (times in ms; bytes for each tool)',
  'tools,servers,normalize,index,index B,tool B,p50,p95,p99,slowest,replace'.split(','),
  rows.map((row) => [
    String(row.tools),
    String(row.servers),
    ...[row.normalizeMs, row.indexMs, row.indexBytes, row.toolBytes].map((value) => value.toFixed(0)),
    ...[row.p50Ms, row.p95Ms, row.p99Ms, row.worstMs, row.replaceMs].map((value) => value.toFixed(2)),
  ]),
);

printTable(
  'The longest time that changing an index blocks the thread (ms)',
  ['what', 'tools', 'thread', 'wall'],
  blocks.map(({ what, tools, cpuMs, wallMs }) => [what, String(tools), cpuMs.toFixed(1), wallMs.toFixed(1)]),
);

if (chosen.length === 0) {
  const line = (read: (row: Row) => number): Array<[number, number]> => rows.map((row) => [row.tools, read(row)]);
  const panels = [
    {
      title: 'one search, ms',
      lines: [
        { name: 'p50', colour: '#2f81f7', points: line((row) => row.p50Ms) },
        { name: 'p95', colour: '#db6d28', points: line((row) => row.p95Ms) },
        { name: 'slowest', colour: '#8957e5', points: line((row) => row.worstMs) },
        { name: 'limit 100 ms', colour: '#7d8590', points: line(() => 100), dashed: true },
      ],
    },
    {
      title: 'changing the catalog, ms',
      lines: [
        { name: 'index all', colour: '#2f81f7', points: line((row) => row.indexMs) },
        { name: 'replace one', colour: '#db6d28', points: line((row) => row.replaceMs) },
      ],
    },
  ];
  writeFileSync(join(import.meta.dirname, '..', '..', 'docs', 'scale.svg'), plot(panels));
}
conclude('scale', JSON.parse(JSON.stringify({ rows, blocks }, rounded)) as object, []);

function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toFixed(3)) : value;
}
