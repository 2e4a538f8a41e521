import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { goldOf, judge, percentile, summariseRun, type Gold } from './evaluate.js';

const gold = (...groups: string[][]): Gold => groups.map((group) => new Set(group));
const labelled = (rest: object) => ({ id: 'q', query: 'x', relevant: ['a', 'b'], ...rest });

describe('judging a ranking', () => {
  it('FIND-2 a perfect ranking has 1 everywhere, an empty one 0', () => {
    const ones = { hit1: 1, recall: { '1': 1, '3': 1, '5': 1, '10': 1 }, ndcg10: 1, mrr: 1 };
    expect(judge(['a', 'z'], gold(['a']))).toEqual(ones);
    const none = { hit1: 0, recall: { '1': 0, '3': 0, '5': 0, '10': 0 }, ndcg10: 0, mrr: 0 };
    expect(judge([], gold(['a']))).toEqual(none);
    expect(judge(['x', 'y'], gold(['a']))).toEqual(none);
  });

  it('FIND-2 figures by hand: two wanted, at the ranks 2 and 4', () => {
    const quality = judge(['x', 'a', 'y', 'b'], gold(['a'], ['b']));
    expect(quality).toMatchObject({ hit1: 0, recall: { '1': 0, '3': 0.5, '5': 1, '10': 1 }, mrr: 0.5 });
    const ideal = 1 + 1 / Math.log2(3);
    expect(quality.ndcg10).toBeCloseTo((1 / Math.log2(3) + 1 / Math.log2(5)) / ideal, 12);
  });

  it('FIND-2 of a group of alternatives one is enough, and more gain nothing', () => {
    expect(judge(['b'], gold(['a', 'b']))).toMatchObject({ hit1: 1, recall: { '1': 1 }, ndcg10: 1, mrr: 1 });
    expect(judge(['b', 'a'], gold(['a', 'b']))).toEqual(judge(['b'], gold(['a', 'b'])));
  });

  it('FIND-2 one tool that stands in two groups is counted at its rank once', () => {
    const quality = judge(['a'], gold(['a'], ['a', 'b']));
    expect(quality.recall['1']).toBe(1);
    expect(quality.ndcg10).toBeCloseTo(1 / (1 + 1 / Math.log2(3)), 12);
  });

  it('FIND-2 nothing behind the tenth answer counts', () => {
    const ranked = [...Array.from({ length: 10 }, (_, i) => `x${i}`), 'a'];
    expect(judge(ranked, gold(['a']))).toMatchObject({ recall: { '10': 0 }, ndcg10: 0, mrr: 0 });
  });

  it('FIND-2 every figure lies in [0,1], and recall only grows with its cut', () => {
    const id = fc.constantFrom(...'abcdefghijklmnop');
    const groups = fc.array(fc.uniqueArray(id, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 14 });
    fc.assert(
      fc.property(fc.uniqueArray(id, { maxLength: 16 }), groups, (ranked, wanted) => {
        const { hit1, recall, ndcg10, mrr } = judge(ranked, gold(...wanted));
        const rising = [0, recall['1'], recall['3'], recall['5'], recall['10'], 1];
        expect(rising).toEqual(rising.toSorted((a, b) => a - b));
        for (const figure of [hit1, ndcg10, mrr]) {
          expect(figure).toBeGreaterThanOrEqual(0);
          expect(figure).toBeLessThanOrEqual(1 + 1e-12);
        }
        expect(hit1).toBe(mrr === 1 ? 1 : 0);
      }),
    );
  });
});

describe('what a query wants', () => {
  it('FIND-2 each relevant tool, unless groups or anyOf name alternatives', () => {
    expect(goldOf(labelled({}))).toEqual(gold(['a'], ['b']));
    expect(goldOf(labelled({ groups: [['a', 'b'], ['c']] }))).toEqual(gold(['a', 'b'], ['c']));
    expect(goldOf(labelled({ anyOf: [['a', 'b'], ['c']] }))).toEqual(gold(['a', 'b'], ['c']));
    expect(goldOf(labelled({ anyOf: ['a', 'b'] }))).toEqual(gold(['a', 'b']));
    expect(goldOf(labelled({ groups: [['a'], []] }))).toEqual(gold(['a']));
  });
});

describe('a run in figures', () => {
  it('FIND-2 qualities are averaged, times become percentiles', () => {
    const run = summariseRun([judge(['a'], gold(['a'])), judge(['x'], gold(['a']))], [4, 1, 3, 2]);
    expect(run).toEqual({
      n: 2,
      hit1: 0.5,
      recall: { '1': 0.5, '3': 0.5, '5': 0.5, '10': 0.5 },
      ndcg10: 0.5,
      mrr: 0.5,
      p50Ms: 3,
      p95Ms: 4,
    });
    expect(summariseRun([], [])).toMatchObject({ n: 0, ndcg10: 0, p50Ms: 0 });
  });

  it('FIND-2 a percentile is one of the values', () => {
    expect(percentile([5], 0.99)).toBe(5);
    expect(percentile([3, 1, 2], 0)).toBe(1);
    expect(percentile([], 0.5)).toBe(0);
  });
});
