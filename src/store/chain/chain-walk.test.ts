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

  it('SEC-12 A35 a head that was kept elsewhere is compared by its chain and number', () => {
    const step = (known: { chain: string; number: number; hash: string }) =>
      createChainWalk({}, [known]).step(block('a', 1), whole);
    expect(step({ chain: 'a', number: 1, hash: 'a1' })).toBeUndefined();
    expect(step({ chain: 'a', number: 1, hash: 'forged' })).toMatchObject({ damage: 'changed', block: { number: 1 } });
    expect(step({ chain: 'b', number: 1, hash: 'b1' })).toBeUndefined();
    expect(step({ chain: 'a', number: 2, hash: 'a2' })).toBeUndefined();
  });

  it('SEC-12 A35 the end is compared with every head that was noted or kept; a chain without a note is found', () => {
    const walked = (...known: Array<{ chain: string; number: number; hash: string }>) => {
      const walk = createChainWalk({ z: [3, 'z3'] }, known);
      for (const each of [block('b', 1), block('a', 1), block('b', 2)]) walk.step(each, whole);
      return walk;
    };
    const heads = [
      { chain: 'a', number: 1, hash: 'a1' },
      { chain: 'b', number: 2, hash: 'b2' },
    ];
    expect(walked().end(heads)).toBeUndefined();
    // What retention took away is part of the chain; what was never walked needs no note.
    expect(walked().heads()).toEqual([...heads, { chain: 'z', number: 3, hash: 'z3' }]);
    expect(walked().end(heads.slice(1))).toMatchObject({
      damage: 'removed',
      block: { chain: 'a', number: 1 },
      detail: 'The note of where the chain ends is missing.',
    });
    const cut = { damage: 'removed', block: { chain: 'b', number: 2 } };
    expect(walked().end([heads[0]!, { ...heads[1]!, number: 3 }])).toMatchObject({
      ...cut,
      detail: 'The log ends at block 2, and block 3 was written: the last records are missing.',
    });
    expect(walked({ chain: 'b', number: 3, hash: 'b3' }).end(heads)).toMatchObject(cut);
    expect(walked({ chain: 'c', number: 1, hash: 'c1' }).end(heads)).toMatchObject({
      damage: 'removed',
      block: { chain: 'c', number: 0 },
    });
  });

  it('SEC-12 a block that is not whole is named with the record that differs, or its first', () => {
    const walk = createChainWalk({}, []);
    expect(walk.step(block('a', 1), { ...whole, isWhole: false })).toEqual({
      damage: 'changed',
      id: 'r',
      time: 1,
      block: { chain: 'a', number: 1 },
      detail: 'Block 1 was changed after it was written.',
    });
    const problem = { damage: 'changed', id: 'q', detail: '' } as const;
    expect(walk.step(block('a', 1), { ...whole, isWhole: false, compared: { unchained: [], problem } })).toMatchObject({
      id: 'q',
    });
    expect(walk.begin(block('a', 0, { hash: 'unchained:2:0' }))).toBeUndefined();
    expect(walk.begin(block('a', 0, { hash: 'unchained:2:7' }))).toMatchObject({ damage: 'changed' });
    expect(walk.begin(block('a', 0, { hash: 'x' }))).toMatchObject({ damage: 'changed' });
  });

  it('SEC-12 one missing block, several, and whether their records are gone with them', () => {
    const detailOf = (number: number, look: Partial<Look>) =>
      createChainWalk({}, []).step(block('a', number), { ...whole, ...look })?.detail;
    expect(detailOf(2, {})).toBe('Block 1 is missing, and the records with it.');
    expect(detailOf(3, {})).toBe('Blocks 1 to 2 are missing, and the records with it.');
    const stranger = { seq: 1, id: 'x', fits: true };
    expect(detailOf(2, { compared: { unchained: [], stranger } })).toBe('Block 1 is missing.');
  });
});
