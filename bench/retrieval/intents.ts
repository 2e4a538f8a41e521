import { readFileSync } from 'node:fs';
import { parseQueries } from '../../src/front/cli/labelled-files.js';
import { indexRecorded } from '../../src/gateway/reports/evaluation.js';
import { createKnowledgeSource, goldOf, judge, summariseRun, type Knowledge } from '../../src/search/index.js';
import { readCorpus } from './sets.js';

/** Measures a file of labelled intents over the recorded servers: with all knowledge, without learned weights, and by words alone. */
async function measure(path: string, title: string, knowledge: Knowledge): Promise<void> {
  const { index, idOf, find } = await indexRecorded(readCorpus(), () => knowledge);
  const qualities = parseQueries(readFileSync(path, 'utf8'), path).map((query) => {
    const gold = goldOf(query).map((group) => new Set([...group].map((id) => find(id) ?? id)));
    const came = index.search(query.query, { limit: 10 }).map(({ tool }) => idOf(tool));
    return judge(came, gold);
  });
  const { n, ndcg10, recall, mrr, hit1 } = summariseRun(qualities, []);
  const points = (value: number): string => (100 * value).toFixed(1);
  console.log(
    `${title.padEnd(28)} n ${n}  nDCG@10 ${points(ndcg10)}  R@5 ${points(recall['5'])}  R@10 ${points(recall['10'])}  MRR ${points(mrr)}  hit@1 ${points(hit1)}`,
  );
}

const all = createKnowledgeSource((reason) => console.error(reason))();
for (const path of process.argv.slice(2)) {
  console.log(path);
  await measure(path, 'lexicon and learned weights', all);
  await measure(path, 'without learned weights', { vectors: all.vectors, lexicon: all.lexicon });
  await measure(path, 'without the lexicon too', { vectors: all.vectors });
}
