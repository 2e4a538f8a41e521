import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeVectors } from '../../../train/format.js';
import { readAsset } from '../knowledge.js';
import { createVectorSignal, readVectors } from './vectors.js';

const WORDS = ['ticket', 'issu', 'weather', '天气'];
const VECTORS = Float32Array.from(
  [
    [1, 0, 0],
    [0.9, 0.1, 0],
    [0, 0, 2],
    [0, 0.5, 1.5],
  ].flat(),
);

function bytes(): Uint8Array {
  return writeVectors(WORDS, VECTORS, 3);
}

/** A tool of which only the name is known. */
function named(...terms: string[]): string[][] {
  return [terms, [], [], [], []];
}

describe('the file of word vectors', () => {
  it('FIND-2 gives back every word and vector, as exactly as bytes can', () => {
    const vectors = readVectors(bytes());
    expect(vectors.size).toBe(4);
    expect(vectors.dimension).toBe(3);
    for (const [i, word] of WORDS.entries()) {
      const row = vectors.row(word)!;
      const read = [...vectors.rows.subarray(row * 3, row * 3 + 3)].map((value) => value * vectors.scales[row]!);
      for (const [k, value] of read.entries()) expect(value).toBeCloseTo(VECTORS[i * 3 + k]!, 1);
    }
    expect(vectors.row('constructor')).toBeUndefined();
  });

  it('FIND-2 is read from the middle of a larger buffer', () => {
    const whole = new Uint8Array(bytes().length + 7);
    whole.set(bytes(), 3);
    const vectors = readVectors(whole.subarray(3, 3 + bytes().length));
    expect(vectors.rows[0]).toBe(127);
  });

  it('FIND-4 is refused with a reason when it is cut short or any byte is changed', () => {
    const good = bytes();
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const bad = Uint8Array.from(good);
        bad[at] = bad[at]! ^ change;
        expect(() => readVectors(bad)).toThrow(/word vectors is damaged: .+\. Install toolscout again\./);
        expect(() => readVectors(good.subarray(0, at))).toThrow(/is damaged/);
      }),
    );
    expect(() => readVectors(new Uint8Array(0))).toThrow(/shorter than its header/);
  });

  it('FIND-4 any bytes are either read or refused, never a crash', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
        const bad = Uint8Array.from([...bytes().subarray(0, 6), ...noise]);
        expect(() => readVectors(bad)).toThrow(/is damaged/);
      }),
    );
  });
});

describe('the file that ships', () => {
  it('FIND-2 is there, small, and knows what is alike', () => {
    const vectors = readVectors(readAsset('words.bin')!);
    expect(vectors).toBeDefined();
    expect(vectors!.rows.length).toBeLessThanOrEqual(2_000_000);
    const signal = createVectorSignal(vectors!);
    const tools = signal.embed([named('weather', 'forecast'), named('invoic'), named('commit')]);
    const places = [0, 1, 2].map((offset) => ({ vectors: tools, offset }));
    const best = (...query: string[]): number => {
      const ratings = signal.rate(query, places);
      return ratings.indexOf(Math.max(...ratings));
    };
    expect(best('rain', 'temperatur')).toBe(0);
    expect(best('bill', 'payment')).toBe(1);
    expect(best('git', 'repositori')).toBe(2);
  });
});

describe('the vector signal', () => {
  const signal = createVectorSignal(readVectors(bytes()));

  it('FIND-2 rates a tool by the meaning of its words where none is shared', () => {
    const tools = signal.embed([named('issu'), named('weather')]);
    const [near, far] = signal.rate(
      ['ticket'],
      [
        { vectors: tools, offset: 0 },
        { vectors: tools, offset: 1 },
      ],
    );
    expect(near).toBeGreaterThan(0.9);
    expect(far).toBeLessThan(0.1);
  });

  it('FIND-2 lets a name count more than the text of parameters', () => {
    const tools = signal.embed([
      [['ticket'], [], [], [], ['weather']],
      [['weather'], [], [], [], ['ticket']],
    ]);
    const [first, second] = signal.rate(
      ['issu'],
      [
        { vectors: tools, offset: 0 },
        { vectors: tools, offset: 1 },
      ],
    );
    expect(first).toBeGreaterThan(second!);
  });

  it('FIND-4 rates 0 where nothing has a vector, and never below', () => {
    const tools = signal.embed([named('unheard'), named('weather'), []]);
    const places = [0, 1, 2].map((offset) => ({ vectors: tools, offset }));
    expect(signal.rate(['unheard'], places)).toEqual([0, 0, 0]);
    expect(signal.rate([], places)).toEqual([0, 0, 0]);
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...WORDS, '__proto__', 'x')), (query) => {
        for (const rating of signal.rate(query, places)) {
          expect(rating).toBeGreaterThanOrEqual(0);
          expect(rating).toBeLessThanOrEqual(1.000001);
        }
      }),
    );
  });
});
