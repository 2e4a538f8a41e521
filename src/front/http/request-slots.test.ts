import { describe, expect, it } from 'vitest';
import { createRequestSlots } from './request-slots.js';

describe('createRequestSlots', () => {
  it('A43 each principal has its own slots, within those of all', () => {
    const slots = createRequestSlots({ total: 3, each: 2 });
    const first = slots.enter('a');
    expect([first, slots.enter('a'), slots.enter('a')].map(Boolean)).toEqual([true, true, false]);
    expect([slots.enter('b'), slots.enter('c')].map(Boolean)).toEqual([true, false]);
    first?.();
    first?.();
    expect([slots.enter('c'), slots.enter('a')].map(Boolean)).toEqual([true, false]);
  });
});
