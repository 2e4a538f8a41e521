import { describe, expect, it } from 'vitest';
import { createPlaces } from './places.js';

describe('createPlaces', () => {
  it('A43 each principal has its own places, within those of all', () => {
    const places = createPlaces({ total: 3, each: 2 });
    const first = places.enter('a');
    expect([first, places.enter('a'), places.enter('a')].map(Boolean)).toEqual([true, true, false]);
    expect([places.enter('b'), places.enter('c')].map(Boolean)).toEqual([true, false]);
    first?.();
    first?.();
    expect([places.enter('c'), places.enter('a')].map(Boolean)).toEqual([true, false]);
  });
});
