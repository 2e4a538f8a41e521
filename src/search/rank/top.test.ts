import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstOf, selectBest, selectTop } from './score.js';

const descending = (a: number, b: number): number => b - a;
const even = (number: number): boolean => number % 2 === 0;

describe('selectTop', () => {
  it('FIND-1 chooses what sorting everything would choose', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 50 })), fc.integer({ min: 0, max: 20 }), (numbers, count) => {
        expect(selectTop(numbers, count, descending)).toEqual(numbers.toSorted(descending).slice(0, count));
      }),
    );
  });

  it('FIND-1 refused items take no place of others', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 50 })), fc.integer({ min: 0, max: 20 }), (numbers, count) => {
        const expected = numbers.filter(even).toSorted(descending).slice(0, count);
        expect(selectTop(numbers, count, descending, even)).toEqual(expected);
      }),
    );
  });
});

describe('selectBest', () => {
  it('FIND-1 chooses by score, then by the given order, what sorting all accepted documents would choose', () => {
    const scores = fc.array(fc.integer({ min: 1, max: 8 }), { maxLength: 60 });
    fc.assert(
      fc.property(scores, fc.integer({ min: 0, max: 20 }), (numbers, count) => {
        const values = Float32Array.from(numbers);
        const documents = Uint32Array.from(numbers.keys());
        const expected = [...documents].filter(even).toSorted((a, b) => values[b]! - values[a]! || b - a);
        expect(selectBest(documents, values, count, descending, even)).toEqual(expected.slice(0, count));
      }),
    );
  });
});

describe('selectBest of very many', () => {
  const values = Float32Array.from({ length: 20_000 }, (_, i) => ((i * 7919) % 20_011) / 7);
  const documents = Uint32Array.from(values.keys());
  const sorted = (accept: (document: number) => boolean): number[] =>
    [...documents].filter(accept).toSorted((a, b) => values[b]! - values[a]! || b - a);

  it.each<[string, (document: number) => boolean]>([
    ['all are accepted', () => true],
    ['half are', even],
    ['hardly any is', (document) => document % 977 === 3],
  ])('FIND-3 chooses what sorting would choose where %s', (_, accept) => {
    for (const count of [1, 50, 300]) {
      expect(selectBest(documents, values, count, descending, accept)).toEqual(sorted(accept).slice(0, count));
    }
  });
});

describe('firstOf', () => {
  it('FIND-1 chooses of sorted lists what sorting everything would choose', () => {
    const lists = fc.array(fc.array(fc.integer({ min: 0, max: 50 })));
    fc.assert(
      fc.property(lists, fc.integer({ min: 0, max: 20 }), (unsorted, count) => {
        const sorted = unsorted.map((list) => list.toSorted(descending));
        const expected = unsorted.flat().filter(even).toSorted(descending).slice(0, count);
        expect(firstOf(sorted, count, descending, even)).toEqual(expected);
      }),
    );
  });
});
