import { describe, expect, it } from 'vitest';
import { readAsset } from '../../kernel/package-file.js';
import { createModel, FEATURES } from './rank.js';
import { MODEL_VERSION, readModel } from './model.js';

const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

describe('the learned weights', () => {
  it('FIND-6 a score is the sum of the features by weight', () => {
    const model = createModel(Float32Array.from([1, 0, 2]));
    expect([...model.score(Float32Array.from([1, 5, 2, 3, 5, 0]))]).toEqual([5, 3]);
    expect([...model.score(new Float32Array(0))]).toEqual([]);
  });

  it('FIND-6 the file that ships can be read, is small, and lets no evidence speak against a tool', () => {
    const file = readAsset('ranking.json')!;
    expect(file.length).toBeLessThan(200_000);
    expect(() => readModel(file)).not.toThrow();
    const { weights } = JSON.parse(new TextDecoder().decode(file)) as { weights: Record<string, number> };
    expect(Object.keys(weights)).toEqual(FEATURES.map(({ name }) => name));
    for (const { name, rising } of FEATURES) if (rising) expect(weights[name]).toBeGreaterThanOrEqual(0);
  });

  it.each([
    ['is not JSON', new Uint8Array([123, 0])],
    ['is of another version', bytes({ version: MODEL_VERSION + 1, weights: { signals: 1 } })],
    ['holds no weights', bytes({ version: MODEL_VERSION })],
    ['weighs nothing', bytes({ version: MODEL_VERSION, weights: {} })],
    ['has a weight that is no number', bytes({ version: MODEL_VERSION, weights: { signals: 'x' } })],
    ['has a weight without bounds', bytes({ version: MODEL_VERSION, weights: { signals: 1e308 } })],
    ['has a feature that does not exist', bytes({ version: MODEL_VERSION, weights: { signals: 1, luck: 1 } })],
  ])('FIND-6 a file that %s is refused', (_, file) => {
    expect(() => readModel(file)).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/^The file assets\/ranking\.json of toolscout is damaged: [^.]+\.$/) as string,
        suggestion: 'Install toolscout again.',
      }),
    );
  });
});
