import { goldOf, judge, JUDGED_RANKS, summariseRun, type Quality } from '../../src/search/index.js';
import type { LabelledQuery } from '../../src/gateway/index.js';
import { comparePaired, type Comparison } from '../../src/search/bootstrap.js';
import { OURS } from './methods.js';
import type { RetrievalSet } from './sets.js';

/** What it gives when an agent says what it needs, against handing on what its user said. */
export interface AskingResult {
  readonly set: string;
  readonly queries: number;
  /** nDCG@10 when the user's task is the query, and when the agent's own words are. */
  readonly task: number;
  readonly need: number;
  readonly gain: Comparison;
}

/** Where a query of an agent has the task it was written for in its id: `task#r0`, with the set before it in a mix. */
const ROUTE = /^(?:livemcp-route\/)?([^#/]+)#r\d+$/;

/**
 * Asks every need that an agent wrote down twice: in the agent's words, and in those of the task it came from. Both are
 * judged by the tools that served the need. `undefined` for a set that holds no such pairs.
 */
export async function measureAsking(
  set: RetrievalSet,
  tasks: readonly LabelledQuery[],
): Promise<AskingResult | undefined> {
  const texts = new Map(tasks.map(({ id, query }) => [id, query]));
  const pairs = set.queries.flatMap((query) => {
    const task = texts.get(ROUTE.exec(query.id)?.[1] ?? '');
    return task === undefined ? [] : [{ query, task }];
  });
  if (pairs.length === 0) return undefined;
  const rank = await OURS.build(set.servers);
  const byTask: Quality[] = [];
  const byNeed: Quality[] = [];
  for (const { query, task } of pairs) {
    byTask.push(judge((await rank(task)).slice(0, JUDGED_RANKS), goldOf(query)));
    byNeed.push(judge((await rank(query.query)).slice(0, JUDGED_RANKS), goldOf(query)));
  }
  const gains = (qualities: readonly Quality[]): number[] => qualities.map(({ ndcg10 }) => ndcg10);
  return {
    set: set.name,
    queries: pairs.length,
    task: summariseRun(byTask, []).ndcg10,
    need: summariseRun(byNeed, []).ndcg10,
    gain: comparePaired(gains(byNeed), gains(byTask)),
  };
}
