import { describe, expect, it } from 'vitest';
import { asSavedRun, compareRuns } from './run-comparison.js';

const run = (...scores: Array<[string, number]>) => ({
  ndcg10: 0.5,
  queries: scores.map(([id, ndcg10]) => ({ id, ndcg10 })),
});

describe('compareRuns', () => {
  it('FIND-2 compares the queries that both runs have, those that lost most first', () => {
    const now = run(['a', 0.25], ['b', 0.9], ['c', 0.5], ['d', 0], ['e', 0.5], ['new', 1]);
    const before = run(['a', 0.75], ['b', 0.5], ['c', 0.5 + 1e-9], ['d', 0.5], ['e', 0.75], ['gone', 1]);
    const compared = compareRuns(now, before);
    expect(compared).toMatchObject({ compared: 5, wins: 1, losses: 3, ties: 1 });
    // Equal losses are ordered by their ids.
    expect(compared.changed.map(({ id }) => id)).toEqual(['a', 'd', 'e', 'b']);
    expect(compared.change).toBeDefined();
  });

  it('FIND-2 says nothing about a run that has no queries in common', () => {
    expect(compareRuns(run(['a', 1]), { ndcg10: 0.3 })).toEqual({
      ndcg10: 0.3,
      compared: 0,
      wins: 0,
      losses: 0,
      ties: 0,
      changed: [],
    });
  });

  it('FIND-2 reads what eval printed, and nothing else', () => {
    expect(asSavedRun({ n: 1, ndcg10: 0.5 })).toEqual({ ndcg10: 0.5 });
    const queries = [{ id: 'a', ndcg10: 1, more: true }];
    expect(asSavedRun({ n: 1, ndcg10: 0.5, queries })).toEqual({ ndcg10: 0.5, queries: [{ id: 'a', ndcg10: 1 }] });
    for (const wrong of [null, [], {}, { n: 1 }, { ndcg10: 1 }, { n: 1, ndcg10: 1, queries: 'x' }]) {
      expect(asSavedRun(wrong)).toBeUndefined();
    }
    for (const query of [null, { id: 1, ndcg10: 1 }, { id: 'a', ndcg10: 'x' }]) {
      expect(asSavedRun({ n: 1, ndcg10: 1, queries: [query] })).toBeUndefined();
    }
  });
});
