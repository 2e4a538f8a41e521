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
    expect(openSealed(key, sealed.subarray(0, 20), 'here')).toBeUndefined();
  });
});
