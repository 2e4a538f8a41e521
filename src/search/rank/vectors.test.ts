import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeVectors } from '../../../train/format.js';
import type { Tool } from '../../model/tool.js';
import { createDraft } from '../index/draft.js';
import { readAsset } from '../../kernel/package-file.js';
import { readVectors } from '../words/vector-file.js';
import { createVectorSignal, type VectorSignal } from './meaning.js';

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

/** How near each tool is to a query. */
function rate(signal: VectorSignal, query: readonly string[], tools: readonly Int8Array[]): number[] {
  const meant = signal.read(query);
  return tools.map((row) => meant?.nearness(row, 0) ?? 0);
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
      const row = vectors.row(word);
      const read = [...vectors.rows.subarray(row * 3, row * 3 + 3)].map((value) => value * vectors.scales[row]!);
      for (const [k, value] of read.entries()) expect(value).toBeCloseTo(VECTORS[i * 3 + k]!, 1);
    }
    expect(vectors.row('constructor')).toBe(-1);
    expect(vectors.row('天')).toBe(-1);
    expect(vectors.row('x'.repeat(5000))).toBe(-1);
    expect(vectors.row('天'.repeat(500))).toBe(-1);
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
        expect(() => readVectors(bad)).toThrow(
          expect.objectContaining({
            message: expect.stringMatching(/^The file assets\/words\.bin of toolscout is damaged: [^.]+\.$/) as string,
            suggestion: 'Install toolscout again.',
          }),
        );
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
    const tools = [named('weather', 'forecast'), named('invoic'), named('commit')].map((fields) =>
      signal.embed(fields),
    );
    const best = (...query: string[]): number => {
      const ratings = rate(signal, query, tools);
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
    const tools = [named('issu'), named('weather')].map((fields) => signal.embed(fields));
    const [near, far] = rate(signal, ['ticket'], tools);
    expect(near).toBeGreaterThan(0.9);
    expect(far).toBeLessThan(0.1);
  });

  it('FIND-2 lets a name count more than the text of parameters', () => {
    const tools = [
      [['ticket'], [], [], [], ['weather']],
      [['weather'], [], [], [], ['ticket']],
    ].map((fields) => signal.embed(fields));
    const [first, second] = rate(signal, ['issu'], tools);
    expect(first).toBeGreaterThan(second!);
  });

  it('FIND-2 lets a description count as much as a name', () => {
    const tools = [
      [['ticket'], [], ['weather']],
      [['weather'], [], ['ticket']],
    ].map((fields) => signal.embed(fields));
    const [first, second] = rate(signal, ['issu'], tools);
    expect(first).toBeGreaterThan(0);
    expect(second).toBeCloseTo(first!, 1);
  });

  it('FIND-4 rates 0 where nothing has a vector, and never below', () => {
    const tools = [named('unheard'), named('weather'), []].map((fields) => signal.embed(fields));
    expect(rate(signal, ['unheard'], tools)).toEqual([0, 0, 0]);
    expect(rate(signal, [], tools)).toEqual([0, 0, 0]);
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...WORDS, '__proto__', 'x')), (query) => {
        for (const rating of rate(signal, query, tools)) {
          expect(rating).toBeGreaterThanOrEqual(0);
          expect(rating).toBeLessThanOrEqual(1.000001);
        }
      }),
    );
  });

  it('FIND-3 sketches of tools put those that are near before those that are not', () => {
    const shipped = createVectorSignal(readVectors(readAsset('words.bin')!));
    const draft = createDraft();
    const names = ['weather', 'invoic', 'commit', 'unheard'];
    for (const name of names) draft.add({ name } as Tool, [], 0, shipped.embed(named(name)));
    const estimates = new Float32Array(names.length);
    shipped.read(['rain', 'temperatur'])!.estimate(Uint32Array.from(draft.sketches), estimates);
    expect(estimates.indexOf(Math.max(...estimates))).toBe(0);
    expect(Math.min(...estimates)).toBeGreaterThanOrEqual(0);
  });
});
