import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { indexRecorded } from '../../src/gateway/reports/evaluation.js';
import { sha256 } from '../../src/kernel/hash.js';
import { createKnowledgeSource, judge, summariseRun, type Quality } from '../../src/search/index.js';
import { readCorpus } from './sets.js';

/** A query with its needs in order, each with the tools that would answer it. */
interface Several {
  readonly id: string;
  readonly query: string;
  readonly needs: ReadonlyArray<{ readonly text: string; readonly answers: readonly string[] }>;
}

/** Measures queries that hold several needs (FIND-7), by halves: the one that was chosen on, and the other. */
const path = join(import.meta.dirname, 'intents', 'needs.jsonl');
const all = readFileSync(path, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Several);
const { index, idOf, find } = await indexRecorded(readCorpus(), createKnowledgeSource(console.error));
for (const [half, limit] of [
  [1, 5],
  [1, 10],
  [0, 5],
  [0, 10],
] as const) {
  const queries = all.filter(({ id }) => Number.parseInt(sha256(id).slice(0, 8), 16) % 2 === half);
  const qualities: Quality[] = [];
  let apart = 0;
  let named = 0;
  let right = 0;
  for (const { query, needs } of queries) {
    const gold = needs.map(({ answers }) => new Set(answers.map((id) => find(id) ?? id)));
    const hits = index.search(query, { limit });
    qualities.push(
      judge(
        hits.map(({ tool }) => idOf(tool)),
        gold,
      ),
    );
    const texts = [...new Set(hits.flatMap(({ need }) => need ?? []))].toSorted(
      (a, b) => query.indexOf(a) - query.indexOf(b),
    );
    if (texts.length > 1) apart++;
    if (texts.length !== needs.length) continue;
    for (const { tool, need } of hits) {
      const answered = gold.findIndex((group) => group.has(idOf(tool)));
      if (answered < 0) continue;
      named++;
      if (texts[answered] === need) right++;
    }
  }
  const { n, ndcg10, recall } = summariseRun(qualities, []);
  const points = (value: number): string => (100 * value).toFixed(1);
  console.log(
    `${half === 1 ? 'chosen on' : 'the other'}, first ${limit}: n ${n}  nDCG@10 ${points(ndcg10)}  R@5 ${points(recall['5'])}  R@10 ${points(recall['10'])}` +
      `  answered apart ${apart}  hits with the right need ${right} of ${named}`,
  );
}
