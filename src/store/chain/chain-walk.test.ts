import { describe, expect, it } from 'vitest';
import type { Block } from './block.js';
import { createChainWalk, type Look } from './chain-walk.js';

const whole: Look = { first: { id: 'r', time: 1, digest: 'd' }, rows: [], isWhole: true, compared: { unchained: [] } };
const block = (chain: string, number: number, more: Partial<Block> = {}): Block => ({
  chain,
  number,
  lastSeq: number,
  previous: number === 1 ? '' : `${chain}${number - 1}`,
  joined: '',
  body: '[]',
  hash: `${chain}${number}`,
  ...more,
});

describe('a walk along chains', () => {
  it('SEC-12 a block that names another block of another chain than the one that is there shows a change', () => {
    const walk = createChainWalk({}, []);
    expect(walk.step(block('a', 1), whole)).toBeUndefined();
    expect(walk.step(block('b', 1, { joined: 'a 1 a1' }), whole)).toBeUndefined();
    expect(walk.step(block('b', 2, { joined: 'a 1 other' }), whole)).toMatchObject({ damage: 'changed', id: 'r' });
    expect(walk.step(block('b', 2, { joined: 'a 7 a7' }), whole)).toMatchObject({ damage: 'removed' });
    expect(walk.step(block('b', 2, { joined: 'c 1 c1' }), whole)).toMatchObject({ damage: 'removed' });
  });

  it('SEC-12 a block that comes again behind a later one, or before an earlier one, is out of order', () => {
    const walk = createChainWalk({}, []);
    walk.step(block('a', 1), whole);
    walk.step(block('a', 2), whole);
    expect(walk.step(block('a', 1), whole)).toMatchObject({ damage: 'reordered', id: 'r' });
    expect(walk.outOfOrder(block('a', 2), undefined)).toMatchObject({ damage: 'reordered', block: { number: 2 } });
  });

  it('SEC-12 it goes on behind what retention took away, and only there', () => {
    const through = { a: [4, 'a4'] as const };
    expect(createChainWalk(through, []).step(block('a', 5), whole)).toBeUndefined();
    expect(createChainWalk(through, []).step(block('a', 6), whole)).toMatchObject({ damage: 'removed' });
    expect(createChainWalk(through, []).step(block('a', 5, { previous: 'x' }), whole)).toMatchObject({
      damage: 'changed',
      block: { number: 4 },
    });
    expect(createChainWalk({}, []).step(block('a', 1, { previous: 'x' }), whole)).toMatchObject({ damage: 'removed' });
    const rows = [{ seq: 1, id: 'lone', fits: true }];
    expect(createChainWalk({}, []).step(block('a', 3), { ...whole, first: undefined, rows })).toMatchObject({
      damage: 'removed',
      id: 'lone',
      detail: 'Blocks 1 to 2 are missing.',
    });
  });
});
