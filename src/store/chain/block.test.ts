import { describe, expect, it } from 'vitest';
import {
  blockHash,
  digestOf,
  genesisHash,
  isSpent,
  noteBody,
  noteOf,
  proofsBody,
  readBody,
  readGenesis,
  type Block,
} from './block.js';

const PROOFS = [
  { id: 'a', time: 1, digest: 'x' },
  { id: 'b', time: 5, digest: 'y' },
];
const NOTE = { before: 7, removed: 2, through: { main: [3, 'hash'] as const } };
const block = (body: string, number = 4): Block => ({
  chain: 'main',
  number,
  lastSeq: 9,
  previous: 'p',
  joined: '',
  body,
  hash: 'h',
});

describe('a block of the audit chain', () => {
  it('SEC-12 A35 its body is read as what was written, and as nothing when a part is of another kind', () => {
    expect(readBody(proofsBody(PROOFS))).toEqual(PROOFS);
    expect(readBody(proofsBody([]))).toEqual([]);
    expect(readBody(noteBody(NOTE))).toEqual(NOTE);
    const wrong = [
      '["a",1]',
      '["a",1,"x","b"]',
      '[1,1,"x"]',
      '["a","1","x"]',
      '["a",1,2]',
      '["a",1,"x","b",5,null]',
      '{"removed":2,"through":{}}',
      '{"before":7,"through":{}}',
      '{"before":7,"removed":2}',
      '{"before":"7","removed":2,"through":{}}',
      '{"before":7,"removed":"2","through":{}}',
      '{"before":7,"removed":2,"through":[]}',
      'null',
      '"text"',
      'no JSON',
    ];
    for (const body of wrong) expect(readBody(body), body).toBeUndefined();
  });

  it('SEC-12 only a note is read as one', () => {
    expect(noteOf(block(noteBody(NOTE)))).toEqual(NOTE);
    expect(noteOf(block(proofsBody(PROOFS)))).toBeUndefined();
    expect(noteOf(block('no JSON'))).toBeUndefined();
    expect(noteOf(undefined)).toBeUndefined();
  });

  it('SEC-12 A35 retention may take a block only when every record of it is older', () => {
    expect(isSpent(block(proofsBody(PROOFS)), 6)).toBe(true);
    expect(isSpent(block(proofsBody(PROOFS)), 5)).toBe(false);
    expect(isSpent(block(proofsBody(PROOFS)), 2)).toBe(false);
    expect(isSpent(block(noteBody(NOTE)), 0)).toBe(true);
    // What cannot be read proves nothing, and stays as the sign of that.
    expect(isSpent(block('no JSON'), 100)).toBe(false);
    expect(isSpent(block('no JSON', 0), 0)).toBe(true);
    expect(isSpent(block('no JSON', 1), 100)).toBe(false);
  });

  it('SEC-12 A35 its hash depends on every field', () => {
    const fields = { chain: 'main', number: 1, previous: 'p', joined: 'j', body: 'b' };
    const hashes = [
      fields,
      { ...fields, chain: 'other' },
      { ...fields, number: 2 },
      { ...fields, previous: '' },
      { ...fields, joined: '' },
      { ...fields, body: '' },
      { ...fields, previous: 'j', joined: 'p' },
    ].map(blockHash);
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(digestOf('x')).toMatch(/^[0-9a-f]{32}$/);
    expect(digestOf('x')).not.toBe(digestOf('y'));
  });

  it('SEC-12 what stands before the chain is read as it was written, and nothing else is', () => {
    expect(readGenesis(genesisHash(12, 345))).toEqual({ records: 12, lastSeq: 345 });
    for (const wrong of [
      '',
      'x',
      'unchained:1',
      'unchained:1:',
      'unchained:-1:2',
      ' unchained:1:2',
      'unchained:1:2 ',
      'unchained:1:2:3',
    ]) {
      expect(readGenesis(wrong), wrong).toBeUndefined();
    }
    expect(readGenesis(`unchained:${'9'.repeat(16)}:1`)).toBeUndefined();
    expect(readGenesis(`unchained:1:${'9'.repeat(16)}`)).toBeUndefined();
  });
});
