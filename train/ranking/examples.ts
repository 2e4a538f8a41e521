import { FRESH, readSet, type RetrievalSet } from '../../bench/retrieval/sets.js';
import { indexRecorded } from '../../src/gateway/reports/evaluation.js';
import { sha256 } from '../../src/kernel/hash.js';
import { FEATURES, type RankingModel } from '../../src/search/rank/rank.js';
import { goldOf, judge, type Gold, type Knowledge, type LabelledQuery } from '../../src/search/index.js';

/** The sets that are learned from and judged by, and who made them: sets of one author are left out together. */
export const FAMILIES: Readonly<Record<string, string>> = {
  'livemcp-route': 'livemcp',
  'livemcp-task': 'livemcp',
  'mcpproxy-golden': 'mcpproxy',
  metatool: 'metatool',
  bfcl: 'bfcl',
  sealtools: 'sealtools',
  'real-intents': 'toolscout',
  [FRESH]: 'toolscout',
};

/** A query with the tools among which the order is decided. */
export interface Example {
  readonly set: string;
  readonly query: LabelledQuery;
  /** Which half of the set it is in, cut by the server that is wanted. */
  readonly half: 0 | 1;
  readonly ids: readonly string[];
  readonly gold: Gold;
  /** One row of features for each tool. */
  readonly rows: Float32Array;
  /** 1 for a wanted tool, -1 for one that may be right too and is not learned from, else 0. */
  readonly labels: Int8Array;
  /** Name and description of each wanted tool: what two sets share is not learned from for the other. */
  readonly wanted: readonly string[];
  /** nDCG@10 by the signals alone, without learned weights. */
  readonly before: number;
}

/** A set with its examples and the texts of all its tools. */
export interface ExampleSet {
  readonly name: string;
  readonly examples: readonly Example[];
  readonly texts: ReadonlySet<string>;
  /** nDCG@10 of each query by the whole search, needs and diversity too, with these weights. */
  searchWith(model: RankingModel): number[];
}

/** Numbers in a row. */
export const WIDTH = FEATURES.length;

/** The candidates of every query of a set, under some knowledge. */
export async function readExamples(
  name: string,
  knowledge: Knowledge,
  queries?: readonly LabelledQuery[],
): Promise<ExampleSet> {
  const set: RetrievalSet = readSet(name);
  const { index, idOf, find } = await indexRecorded(set.servers, () => ({ ...knowledge, model: undefined }));
  // An index asks for its knowledge once, so the weights that change stand behind one model.
  let learned: RankingModel | undefined;
  const model: RankingModel = { score: (rows) => learned!.score(rows) };
  const weighed = await indexRecorded(set.servers, () => ({ ...knowledge, model }));
  const texts = new Map(index.tools().map((tool) => [idOf(tool), `${tool.name}\n${tool.description}`]));
  const examples = (queries ?? set.queries).map((query): Example => {
    const gold = goldOf(query).map((group) => new Set([...group].map((id) => find(id) ?? id)));
    const { tools, rows } = index.candidates(query.query);
    const ids = tools.map(idOf);
    const wanted = [...new Set(gold.flatMap((group) => [...group]))];
    const also = new Set(alsoRight(query).map((id) => find(id) ?? id));
    const answer = index.search(query.query, { limit: 10 }).map(({ tool }) => idOf(tool));
    return {
      set: name,
      query,
      half: halfOf(name, wanted[0] ?? ''),
      ids,
      gold,
      rows,
      labels: Int8Array.from(ids.map((id) => (wanted.includes(id) ? 1 : also.has(id) ? -1 : 0))),
      wanted: wanted.map((id) => texts.get(id) ?? id),
      before: judge(answer, gold).ndcg10,
    };
  });
  return {
    name,
    examples,
    texts: new Set(texts.values()),
    searchWith(weights) {
      learned = weights;
      return examples.map(({ query, gold }) => {
        const answer = weighed.index.search(query.query, { limit: 10 }).map(({ tool }) => weighed.idOf(tool));
        return judge(answer, gold).ndcg10;
      });
    },
  };
}

/** Tools that a set says would do in part. */
function alsoRight(query: LabelledQuery): string[] {
  const { alsoRelevant = [], partial = [] } = query as { alsoRelevant?: string[]; partial?: string[] };
  return [...alsoRelevant, ...partial];
}

/** Cut by server, where a set has several, so that no server is in both halves. */
function halfOf(set: string, id: string): 0 | 1 {
  const server = set === 'metatool' || set === 'bfcl' || set === 'sealtools' ? id : id.split('::')[0]!;
  return (Number.parseInt(sha256(server).slice(0, 8), 16) % 2) as 0 | 1;
}
