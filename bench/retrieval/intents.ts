import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseQueries } from '../../src/front/cli/labelled-files.js';
import { indexRecorded } from '../../src/gateway/reports/evaluation.js';
import { comparePaired } from '../../src/search/bootstrap.js';
import { createKnowledgeSource, goldOf, judge, summariseRun, type Knowledge } from '../../src/search/index.js';
import { readCorpus } from './sets.js';

const points = (value: number): string => (100 * value).toFixed(1);

/** Measures a file of labelled intents over the recorded servers; answers nDCG@10 of each query. */
async function measure(path: string, title: string, knowledge: Knowledge): Promise<number[]> {
  const { index, idOf, find } = await indexRecorded(readCorpus(), () => knowledge);
  const qualities = parseQueries(readFileSync(path, 'utf8'), path).map((query) => {
    const gold = goldOf(query).map((group) => new Set([...group].map((id) => find(id) ?? id)));
    const came = index.search(query.query, { limit: 10 }).map(({ tool }) => idOf(tool));
    return judge(came, gold);
  });
  const { n, ndcg10, recall, mrr, hit1 } = summariseRun(qualities, []);
  console.log(
    `${title.padEnd(28)} n ${n}  nDCG@10 ${points(ndcg10)}  R@5 ${points(recall['5'])}  R@10 ${points(recall['10'])}  MRR ${points(mrr)}  hit@1 ${points(hit1)}`,
  );
  return qualities.map((quality) => quality.ndcg10);
}

/** What one ranking gains over another, query by query, with the interval of 95 of 100 paired bootstrap samples. */
function compare(title: string, ours: readonly number[], others: readonly number[]): void {
  const { mean, low, high } = comparePaired(ours, others);
  console.log(`${title.padEnd(28)} ${points(mean)} (${points(low)} to ${points(high)})`);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  // `--each FILE` keeps nDCG@10 of each query; `--against FILE` compares with what another version kept.
  options: { each: { type: 'string' }, against: { type: 'string' } },
});
const all = createKnowledgeSource((reason) => console.error(reason))();
const kept: Record<string, number[]> = {};
const against =
  values.against === undefined
    ? {}
    : (JSON.parse(readFileSync(values.against, 'utf8')) as Readonly<Record<string, number[]>>);
for (const path of positionals) {
  console.log(path);
  const whole = await measure(path, 'lexicon and learned weights', all);
  const signals = await measure(path, 'without learned weights', { vectors: all.vectors, lexicon: all.lexicon });
  const plain = await measure(path, 'without the lexicon too', { vectors: all.vectors });
  const unread = await measure(path, 'learned, without the lexicon', { vectors: all.vectors, model: all.model });
  compare('learned weights add', whole, signals);
  compare('the lexicon adds (signals)', signals, plain);
  compare('the lexicon adds (learned)', whole, unread);
  kept[path] = whole;
  if (against[path]) compare('against the other version', whole, against[path]);
}
if (values.each !== undefined) writeFileSync(values.each, JSON.stringify(kept));
