import { join } from 'node:path';
import { createIndex, loadVectors } from '../../src/search/index.js';
import { judge, meanQuality, percentile, type Quality } from './measures.js';
import { listSets, readSet } from './sets.js';

interface Row extends Quality {
  readonly set: string;
  readonly tools: number;
  readonly queries: number;
  readonly indexMs: number;
  readonly p50: number;
  readonly p95: number;
}

const RANKS = 10;

function measure(folder: string, name: string): Row {
  const set = readSet(folder, name);
  const index = createIndex(loadVectors());
  const began = performance.now();
  for (const { server, tools, title, name: ownName } of set.servers) {
    index.replace(server, tools, { title, name: ownName });
  }
  const indexMs = performance.now() - began;
  for (const { query } of set.queries.slice(0, 50)) index.search(query);
  const times: number[] = [];
  const judged = set.queries.map(({ query, groups }) => {
    const asked = performance.now();
    const hits = index.search(query, { limit: RANKS });
    times.push(performance.now() - asked);
    return judge(
      hits.map(({ tool }) => set.idOf(tool)),
      groups,
    );
  });
  return {
    set: name,
    tools: index.size,
    queries: set.queries.length,
    ...meanQuality(judged),
    indexMs,
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
  };
}

function percent(value: number): string {
  return (value * 100).toFixed(1);
}

function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toFixed(4)) : value;
}

function print(rows: readonly Row[]): void {
  const cells = rows.map((row) => [
    row.set,
    String(row.tools),
    String(row.queries),
    ...[row.recall1, row.recall3, row.recall5, row.recall10, row.ndcg10, row.mrr].map(percent),
    row.p50.toFixed(2),
    row.p95.toFixed(2),
    row.indexMs.toFixed(0),
  ]);
  const head = 'dataset tools queries R@1 R@3 R@5 R@10 nDCG@10 MRR p50ms p95ms indexms'.split(' ');
  for (const line of [head, ...cells]) {
    console.log(line.map((cell, i) => (i === 0 ? cell.padEnd(16) : cell.padStart(9))).join(''));
  }
  console.log(JSON.stringify({ bench: 'retrieval', sets: rows }, rounded));
}

const folder = join(import.meta.dirname, '..', '..', '..', 'shared', 'data', 'retrieval');
const wanted = process.argv.slice(2);
const names = listSets(folder).filter((name) => wanted.length === 0 || wanted.includes(name));
if (names.length === 0) console.log(`No retrieval sets in ${folder}: nothing to measure.`);
else print(names.map((name) => measure(folder, name)));
