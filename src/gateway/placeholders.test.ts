import { describe, expect, it } from 'vitest';
import { createPlaceholders } from './placeholders.js';

describe('placeholders', () => {
  it('STUDIO-8 CFG-4 hide credentials in a text and bring back exactly what was there', () => {
    const secrets = ['hunter2-hunter2', 'hunter2-hunter2-longer', 'with "quotes"', 'short'];
    const { hide, restore, restoreText } = createPlaceholders(() => secrets);
    const text = JSON.stringify({ a: secrets[0], b: [secrets[1]], c: secrets[2], d: 'short', e: 'x' });
    const hidden = hide(text);
    expect(hidden).not.toMatch(/hunter2|quotes/);
    expect(hidden).toContain('short');
    expect(restoreText(hidden)).toBe(text);
    expect(restore(JSON.parse(hide(JSON.stringify({ a: secrets[0], n: 1, l: [null, true] }))))).toEqual({
      a: secrets[0],
      n: 1,
      l: [null, true],
    });
  });

  it('STUDIO-8 mean the same credential however the others change, and nothing in another process', () => {
    let secrets = ['first-secret', 'second-secret'];
    const { hide, restore } = createPlaceholders(() => secrets);
    const hidden = hide('second-secret');
    secrets = ['new-secret', 'second-secret'];
    expect(restore(hidden)).toBe('second-secret');
    expect(() => createPlaceholders(() => secrets).restore(hidden)).toThrow('does not match any credential');
  });

  it('STUDIO-8 A33 a credential that is new does not break one that contains it, and the other way round', () => {
    const url = 'postgresql://app:Pa55word@db/prod';
    const { hide } = createPlaceholders(() => [url, 'known-token']);
    const shown = hide(`a ${url} b postgresql c known-token-and-more d known-token`, [
      'postgresql',
      'known-token-and-more',
    ]);
    expect(shown).toMatch(/^a TOOLSCOUT_SECRET_\w{12} b \*\*\* c \*\*\* d TOOLSCOUT_SECRET_\w{12}$/);
  });

  it.each<[string, string, string]>([
    ['single quotes of YAML', `it's-my-\\secret`, `'it''s-my-\\secret'`],
    [
      'double quotes of YAML',
      'sécret-words',
      String.raw`"s\xe9cr\u0065t\U0000002Dwo\
      rds"`,
    ],
    ['a folded text of YAML', 'first line second', '>-\n  first line\n  second'],
    ['a literal text of YAML', 'first line\nsecond\n', '|\n    first line\n    second\n'],
    ['escapes of JSON', 'to/ken-"12"\\3', String.raw`"to\/k\u0065n-\"12\"\\3"`],
    ['more escapes of JSON', `to'ken''s\\3`, String.raw`"to\u0027ken\u0027\u0027s\u005C3"`],
    ['a pair of JSON', 'smile-😀-smile', String.raw`"smile-\uD83D\ude00-smile"`],
    ['a text of TOML', 'first\nsecond\\', `'''\nfirst\nsecond\\'''`],
  ])('STUDIO-8 A33 A54 find a credential in %s and bring it back as it was written', (_what, secret, text) => {
    const { hide, restore, restoreText } = createPlaceholders(() => [secret]);
    const hidden = hide(`before ${text} after`);
    expect(hidden).toMatch(/^before \W*TOOLSCOUT_SECRET_\w{12}\W* after$/);
    expect(restoreText(hidden)).toBe(`before ${text} after`);
    expect(restore(/TOOLSCOUT_SECRET_\w{12}/.exec(hidden)![0])).toBe(secret.trim());
  });

  it('STUDIO-8 are not hidden themselves, nor taken for others when they are cut or changed', () => {
    const { hide, restore, restoreText } = createPlaceholders(() => ['first-secret', 'SECRET', '_first']);
    const hidden = hide('a first-secret b');
    expect(hidden).toMatch(/^a TOOLSCOUT_SECRET_\w{12} b$/);
    expect(restore({ [hidden]: [hidden] })).toEqual({ 'a first-secret b': ['a first-secret b'] });
    for (const near of [
      hidden.slice(0, -4),
      hidden.toLowerCase(),
      'TOOLSCOUT_SECRET_',
      hidden.replace(/.{3} b$/, 'x'),
    ]) {
      expect(() => restore({ near })).toThrow('does not match any credential');
      expect(() => restoreText(near)).toThrow('does not match any credential');
    }
  });

  it('STUDIO-8 A24 long credentials and many of them are found in a moment', () => {
    const long = Array.from({ length: 2000 }, (_, at) => `line "${at}" of 'a' \\key\\`).join('\n');
    const many = Array.from({ length: 300 }, (_, at) => `credential-number-${at}`);
    const { hide, restoreText } = createPlaceholders(() => [long, ...many]);
    const text = `${' '.repeat(100_000)}${JSON.stringify([long, ...many])}${'\\'.repeat(100_000)}`;
    const hidden = hide(text);
    expect(hidden).not.toMatch(/line|number/);
    expect(restoreText(hidden)).toBe(text);
  });
});
