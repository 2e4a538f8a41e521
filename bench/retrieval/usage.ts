import { indexRecorded } from '../../src/gateway/reports/evaluation.js';
import { addressOf } from '../../src/kernel/ids.js';
import { sha256 } from '../../src/kernel/hash.js';
import {
  createKnowledgeSource,
  goldOf,
  hashTerms,
  judge,
  JUDGED_RANKS,
  recall,
  remember,
  summariseRun,
  type Evaluation,
  type LabelledQuery,
  type Quality,
  type Usage,
} from '../../src/search/index.js';
import { comparePaired, type Comparison } from '../../src/search/bootstrap.js';
import type { RetrievalSet } from './sets.js';

/** What remembering earlier queries gives on one set. */
export interface UsageResult {
  readonly set: string;
  readonly without: Evaluation;
  readonly with: Evaluation;
  /** Remembered queries for each tool that is wanted at all, in the mean. */
  readonly remembered: number;
  readonly gain: Comparison;
}

const FOLDS = 5;
const KEY = 'bench';

/** Queries of one task share what stands before the sign in their ids, and never help each other here. */
function foldOf({ id }: LabelledQuery): number {
  return Number.parseInt(sha256(id.split('#')[0]!).slice(0, 8), 16) % FOLDS;
}

/** Asks every query twice: as it is, and with the memory of the queries of the other tasks. */
export async function measureUsage(set: RetrievalSet): Promise<UsageResult> {
  const { index, idOf, find } = await indexRecorded(
    set.servers,
    createKnowledgeSource((reason) => console.error(reason)),
  );
  const addresses = new Map(index.tools().map((tool) => [idOf(tool), addressOf(tool.server, tool.name)] as const));
  const without: Quality[] = [];
  const withUsage: Quality[] = [];
  let credits = 0;
  const wanted = new Set<string>();
  for (let fold = 0; fold < FOLDS; fold++) {
    let usage: Usage = new Map();
    for (const query of set.queries.filter((one) => foldOf(one) !== fold)) {
      for (const group of goldOf(query)) {
        const id = [...group].map((one) => find(one) ?? one).find((one) => addresses.has(one));
        if (id === undefined) continue;
        usage = remember(usage, {
          address: addresses.get(id)!,
          terms: hashTerms(index.terms(query.query), KEY),
          at: 0,
        });
        credits++;
        wanted.add(id);
      }
    }
    for (const query of set.queries.filter((one) => foldOf(one) === fold)) {
      const gold = goldOf(query).map((group) => new Set([...group].map((one) => find(one) ?? one)));
      const ask = (experience?: Parameters<typeof index.search>[2]): Quality =>
        judge(
          index.search(query.query, { limit: JUDGED_RANKS }, experience).map(({ tool }) => idOf(tool)),
          gold,
        );
      without.push(ask());
      withUsage.push(
        ask((terms) =>
          recall(
            usage,
            terms.flatMap(({ term }) => hashTerms([term], KEY)),
            0,
          ),
        ),
      );
    }
  }
  const gains = (qualities: readonly Quality[]): number[] => qualities.map(({ ndcg10 }) => ndcg10);
  return {
    set: set.name,
    without: summariseRun(without, []),
    with: summariseRun(withUsage, []),
    remembered: credits / FOLDS / Math.max(1, wanted.size),
    gain: comparePaired(gains(withUsage), gains(without)),
  };
}
