import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KEY_BYTES, openSealed, sealBytes } from './sealing.js';

describe('sealing', () => {
  const key = randomBytes(KEY_BYTES);

  it('S8 A48 gives back any bytes to the same key and binding, and to no other', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string(), fc.string(), (bytes, binding, other) => {
        const sealed = sealBytes(key, bytes, binding);
        expect(openSealed(key, sealed, binding)).toEqual(Buffer.from(bytes));
        expect(openSealed(randomBytes(KEY_BYTES), sealed, binding)).toBeUndefined();
        if (other !== binding) expect(openSealed(key, sealed, other)).toBeUndefined();
      }),
      { numRuns: 50 },
    );
  });

  it('S8 A48 refuses every single changed byte, and what is too short', () => {
    const sealed = sealBytes(key, Buffer.from('a text'), 'here');
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at]! ^= 1;
      expect(openSealed(key, changed, 'here')).toBeUndefined();
    }
    for (let length = 0; length < sealed.length; length++) {
      expect(openSealed(key, sealed.subarray(0, length), 'here')).toBeUndefined();
    }
  });

  it('S8 R20 opens what an earlier version sealed: nonce of 12 bytes, tag of 16, then the text', () => {
    const sealed = Buffer.from('000102030405060708090a0bde81178096d771b2094608fb90fd7f7279a19d15657d', 'hex');
    expect(openSealed(Buffer.alloc(32, 7), sealed, 'here')?.toString()).toBe('a text');
    expect(sealBytes(key, Buffer.from('a text'), 'here')).toHaveLength(12 + 16 + 6);
  });

  it('S8 A48 the same text is never sealed to the same bytes', () => {
    const sealed = Array.from({ length: 20 }, () => sealBytes(key, Buffer.from('a'), 'b').toString('hex'));
    expect(new Set(sealed).size).toBe(20);
  });
});
