import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSecretMask, MASK } from './secrets.js';

/** Letters of several alphabets and whatever must be escaped in a URL or in JSON. */
const wellFormed = fc.constantFrom(...'abcXYZ019 ü漢👋"\\/%&=+?\n\t-_.');
const secretText = fc.string({ unit: wellFormed, minLength: 6, maxLength: 20 });
const otherText = fc.string({ unit: wellFormed, maxLength: 40 });

function maskOf(...secrets: string[]): (text: string) => string {
  const mask = createSecretMask();
  mask.add(secrets);
  return (text) => mask.hide(text);
}

describe('secret mask', () => {
  it('A33 a known secret is in no text, plain, in a URL or in JSON', () => {
    fc.assert(
      fc.property(secretText, otherText, otherText, (secret, before, after) => {
        const hide = maskOf(secret);
        expect(hide(before + secret + after)).not.toContain(secret);
        const url = `https://example.org/?token=${encodeURIComponent(secret)}`;
        expect(hide(url)).not.toContain(encodeURIComponent(secret));
        const inJson = JSON.stringify(secret).slice(1, -1);
        expect(hide(JSON.stringify({ token: secret }))).not.toContain(inJson);
      }),
    );
  });

  it('A33 R15 hiding twice changes nothing more', () => {
    fc.assert(
      fc.property(fc.array(secretText, { maxLength: 4 }), otherText, (secrets, text) => {
        const hide = maskOf(...secrets);
        const once = hide(secrets.join(text) + text);
        expect(hide(once)).toBe(once);
      }),
    );
  });

  it('A33 text without a secret is not touched', () => {
    const hide = maskOf('hunter2-hunter2');
    expect(hide('an ordinary text')).toBe('an ordinary text');
    expect(createSecretMask().hide('an ordinary text')).toBe('an ordinary text');
  });

  it('A33 a secret that contains another one is hidden whole, in whichever order they came', () => {
    const mask = createSecretMask();
    mask.add(['secret']);
    mask.add(['my-secret-token']);
    expect(mask.hide('x my-secret-token y secret z')).toBe(`x ${MASK} y ${MASK} z`);
  });

  it('CFG-4 values too short to tell from ordinary text are left alone', () => {
    expect(maskOf('abc', '12345')('abc 12345')).toBe('abc 12345');
    expect(maskOf('123456')('x123456x')).toBe(`x${MASK}x`);
  });

  it('A33 a secret of several lines is hidden in a log line too', () => {
    const key = '-----BEGIN KEY-----\nabc"def\n-----END KEY-----';
    expect(maskOf(key)(JSON.stringify({ key }))).toBe(`{"key":"${MASK}"}`);
  });

  it('A33 any text can be a secret: half of a surrogate pair does not stop the start', () => {
    expect(maskOf('pass\ud800word')('a pass\ud800word')).toBe(`a ${MASK}`);
  });
});
