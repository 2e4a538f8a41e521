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

  it('A54 a secret in base64, hexadecimal or percent-encoded form is in no text of an error or log', () => {
    const encodings: ReadonlyArray<(bytes: Buffer) => string> = [
      (bytes) => bytes.toString('base64'),
      (bytes) => bytes.toString('base64url'),
      (bytes) => bytes.toString('hex'),
      (bytes) => bytes.toString('hex').toUpperCase(),
      (bytes) => bytes.toString('hex').replaceAll(/../g, '%$&'),
      (bytes) => encodeURIComponent(bytes.toString()).toLowerCase(),
      (bytes) => new URLSearchParams({ x: bytes.toString() }).toString().slice(2),
    ];
    const longer = fc.string({ unit: wellFormed, minLength: 8, maxLength: 20 });
    const around = fc.string({ unit: wellFormed, maxLength: 7 });
    fc.assert(
      fc.property(longer, around, around, fc.constantFrom(...encodings), (secret, before, after, encode) => {
        const mask = createSecretMask();
        mask.add([secret]);
        // Basic credentials, for example, are encoded together with the name of the user.
        const whole = encode(Buffer.from(before + secret + after));
        const shown = mask.hideEncoded(`401: "${whole}" is wrong`);
        expect(shown).toContain(MASK);
        expect(shown).not.toContain(encode(Buffer.from(secret)).slice(3, -3));
        expect(mask.hideEncoded(shown)).toBe(shown);
      }),
    );
  });

  it('A54 nothing of an encoded secret stays, and nothing beside it goes', () => {
    const secret = 'h?>k~>r2-ü';
    const mask = createSecretMask();
    mask.add([secret]);
    const bytes = Buffer.from(secret);
    const percent = bytes.toString('hex').replaceAll(/../g, '%$&');
    for (const form of [bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex'), percent]) {
      expect(mask.hideEncoded(`a (${form}) b`), form).toBe(`a (${MASK}) b`);
    }
    expect(mask.hideEncoded(`a=1&b=${percent}&c=%20`)).toBe(`a=1&b=${MASK}&c=%20`);
  });

  it('A54 of a secret of more than 200 characters what follows its beginning goes too, of others it does not', () => {
    for (const [length, shown] of [
      [200, `${MASK}tail end`],
      [201, `${MASK} end`],
    ] as const) {
      const mask = createSecretMask();
      mask.add(['k'.repeat(length)]);
      expect(mask.hideEncoded(`${'%6b'.repeat(length)}tail end`)).toBe(shown);
    }
  });

  it('A54 a secret in base64 of several lines is hidden on all of them', () => {
    const secret = 'k3y-of-the-vault-that-is-long-enough-for-more-than-one-line-of-text';
    const mask = createSecretMask();
    mask.add([secret]);
    const encoded = Buffer.from(`${'user name '.repeat(4)}:${secret} and more`).toString('base64');
    for (const width of [64, 76]) {
      for (const end of ['\n', '\r\n', '\\n', '\n  ']) {
        const text = encoded.replaceAll(new RegExp(`.{${width}}`, 'g'), `$&${end}`);
        const shown = mask.hideEncoded(`sent: "${text}"`);
        expect(shown).toContain(MASK);
        // 24 characters of it are 18 bytes that a reader could decode.
        for (let at = 56; at < 56 + 80; at += 4) expect(shown).not.toContain(encoded.slice(at, at + 24));
      }
    }
    const lines = `${'a'.repeat(70)}\n${'b'.repeat(70)}`;
    expect(mask.hideEncoded(lines)).toBe(lines);
  });

  it('A54 a secret whose characters are escaped as in JSON, JavaScript, HTML or XML is hidden', () => {
    const secret = 'pä<ss>&"w0rd\'';
    const mask = createSecretMask();
    mask.add([secret]);
    const each = (escape: (code: number) => string): string =>
      Array.from(secret, (letter) => (/\w/.test(letter) ? letter : escape(letter.charCodeAt(0)))).join('');
    const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0');
    for (const form of [
      each((code) => `\\u${hex(code, 4)}`),
      each((code) => `\\\\u${hex(code, 4).toUpperCase()}`),
      each((code) => `\\x${hex(code, 2)}`),
      each((code) => `&#${code};`),
      each((code) => `&#x${hex(code, 1)};`),
      'p&#228;&lt;ss&gt;&amp;&quot;w0rd&apos;',
    ]) {
      expect(mask.hideEncoded(`Error: "${form}" is wrong`), form).toBe(`Error: "${MASK}" is wrong`);
    }
    const other = 'a &lt; b &amp;&amp; \\u00e4 &#x110000; &#99999999; \\ud83d\\ude00';
    expect(mask.hideEncoded(other)).toBe(other);
  });

  it('A54 many and long secrets are found too', () => {
    const mask = createSecretMask();
    const secrets = Array.from({ length: 520 }, (_, at) => `${at}-`.padStart(at % 200 === 2 ? 3000 : 8, `key${at}`));
    mask.add(secrets);
    for (const secret of [secrets[0]!, secrets[2]!, secrets[519]!]) {
      const forms = [Buffer.from(secret).toString('base64'), [...Buffer.from(secret)].map((b) => `%${b.toString(16)}`)];
      for (const form of forms.flatMap((each) => [each].flat().join('')))
        expect(mask.hideEncoded(`x ${form}`)).toBe(`x ${MASK}`);
    }
  });

  it('A54 CFG-4 encoded forms of short values, and ordinary texts, are left alone', () => {
    const mask = createSecretMask();
    mask.add(['1234567', 'hunter2-hunter2']);
    const text = `${Buffer.from('1234567').toString('hex')} 100% of aHVudGVyMQ== https://a.example/?q=%20x 🎉`;
    expect(mask.hideEncoded(text)).toBe(text);
    expect(createSecretMask().hideEncoded(text)).toBe(text);
  });

  it('A33 A44 secrets that are renewed take the place of older ones of their owner, and of no others', () => {
    const mask = createSecretMask();
    mask.add(['of-the-config']);
    for (let at = 0; at < 100; at++) mask.renew('mail', [`access-token-${at}`, 'refresh-token']);
    mask.renew('mail', ['access-token-98', 'refresh-token']);
    mask.renew('files', ['token-of-files']);
    const text = [
      'access-token-99',
      'access-token-98',
      'access-token-97',
      'refresh-token',
      'token-of-files',
      'of-the-config',
    ];
    for (const secret of text) {
      expect(mask.hide(`a ${secret}.`)).toBe(`a ${MASK}.`);
      expect(mask.hideEncoded(`a ${Buffer.from(secret).toString('hex')}.`)).toBe(`a ${MASK}.`);
      expect(mask.hideEncoded(`a=${encodeURIComponent(secret).replaceAll('-', '%2D')}&b`)).toBe(`a=${MASK}&b`);
    }
    const old = 'access-token-9 access-token-50 access-token-96';
    expect(mask.hide(old)).toBe(old);
  });

  it('A54 what only begins like a secret is left alone in an encoded form too', () => {
    const mask = createSecretMask();
    mask.add(['hunter2-hunter2-x']);
    for (const before of ['', 'a', 'ab']) {
      for (const encoding of ['base64', 'hex'] as const) {
        const text = Buffer.from(`${before}hunter2-hunter2!!`).toString(encoding);
        expect(mask.hideEncoded(text)).toBe(text);
      }
    }
  });

  it('A54 CFG-4 a renewed value too short to be hidden hides nothing else', () => {
    const mask = createSecretMask();
    mask.renew('mail', ['short']);
    expect(mask.hideEncoded('a short text with cafe01 in it')).toBe('a short text with cafe01 in it');
  });
});
