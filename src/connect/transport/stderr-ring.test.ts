import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createStderrRing } from './stderr-ring.js';

describe('stderr ring', () => {
  it('CONN-4 keeps everything while it fits', () => {
    const ring = createStderrRing(16);
    expect(ring.text()).toBe('');
    ring.append('one ');
    ring.append(Buffer.from('two'));
    ring.append('');
    expect(ring.text()).toBe('one two');
  });

  it('CONN-4 keeps exactly the last bytes, however they arrive', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme-ascii', maxLength: 40 })), (chunks) => {
        const ring = createStderrRing(16);
        for (const chunk of chunks) ring.append(chunk);
        expect(ring.text()).toBe(chunks.join('').slice(-16));
      }),
    );
  });

  it('CONN-4 never begins with half a character', () => {
    const ring = createStderrRing(7);
    ring.append('ééééé');
    expect(ring.text()).toBe('ééé');
    ring.append('😀😀');
    expect(ring.text()).toBe('😀');
  });
});
