import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstOf, selectBest, selectTop } from './top.js';

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

  it('FIND-1 refused items take nobody’s place', () => {
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
