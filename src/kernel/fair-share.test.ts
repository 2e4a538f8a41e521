import { describe, expect, it } from 'vitest';
import { surplusOf } from './fair-share.js';

describe('surplusOf', () => {
  const ownerOf = (each: string): string => each[0]!;

  it('A43 the owner that has most loses its oldest, however old those of others are', () => {
    expect(surplusOf(['a1', 'b1', 'b2', 'b3', 'c1'], ownerOf, 3)).toEqual(['b1', 'b2']);
    expect(surplusOf(['a1', 'b1', 'b2', 'b3', 'c1'], ownerOf, 2)).toEqual(['b1', 'b2', 'a1']);
  });

  it('A43 one owner loses the oldest; nothing gives way while there is room', () => {
    expect(surplusOf(['a1', 'a2', 'a3'], ownerOf, 1)).toEqual(['a1', 'a2']);
    expect(surplusOf(['a1', 'a2'], ownerOf, 2)).toEqual([]);
    expect(surplusOf(['a1', 'b1'], ownerOf, -1)).toEqual(['a1', 'b1']);
    expect(surplusOf([], ownerOf, 0)).toEqual([]);
  });

  it('A43 entries of different weight: the owner that weighs most loses its oldest', () => {
    const weightOf = (each: string): number => Number(each.slice(1));
    expect(surplusOf(['a1', 'b5', 'a2', 'b6', 'c0'], ownerOf, 9, weightOf)).toEqual(['b5']);
    expect(surplusOf(['a1', 'b5', 'a2', 'b6', 'c0'], ownerOf, 8, weightOf)).toEqual(['b5', 'b6']);
    expect(surplusOf(['c0', 'c0'], ownerOf, 0, weightOf)).toEqual([]);
  });
});
