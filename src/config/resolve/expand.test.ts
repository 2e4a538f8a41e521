import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expand, hideDefaults, isReference } from './expand.js';

const env = { A: 'one', B: '${A}', EMPTY: '', BLANK: ' \t\n\u00a0', HOME: '/home/me', ID: '$(id)' };

describe('expand', () => {
  it.each([
    ['plain', 'plain'],
    ['${A}', 'one'],
    ['x${A}y${A}z', 'xoneyonez'],
    ['${env:A}', 'one'],
    ['${NO:-two}', 'two'],
    ['${env:NO:-two}', 'two'],
    ['${A:-two}', 'one'],
    ['${EMPTY:-two}', 'two'],
    ['${BLANK:-two}', 'two'],
    ['${BLANK:-}', ''],
    ['${NO:-}', ''],
    ['${NO:-a:-b}', 'a:-b'],
    ['$A $$ {A} $', '$A $$ {A} $'],
  ])('CFG-4 %s becomes %s', (text, expected) => {
    expect(expand(text, env)).toMatchObject({ text: expected, problems: [] });
  });

  it.each([
    ['${B}', '${A}'],
    ['${HOME:-$(id)}', '/home/me'],
    ['${NO:-$(id)}', '$(id)'],
    ['${ID}', '$(id)'],
  ])('A31 %s is one pass and runs nothing', (text, expected) => {
    expect(expand(text, env)).toMatchObject({ text: expected, problems: [] });
  });

  it('CFG-4 a missing variable is named and its text stays as written, never empty', () => {
    expect(expand('Bearer ${NO}', env)).toMatchObject({
      text: 'Bearer ${NO}',
      values: [],
      problems: ['needs the environment variable NO, which is not set'],
    });
    expect(expand('${EMPTY}', env).problems).toEqual(['needs the environment variable EMPTY, which is empty']);
    expect(expand('Bearer ${BLANK}', env)).toMatchObject({
      text: 'Bearer ${BLANK}',
      values: [],
      problems: ['needs the environment variable BLANK, which is blank'],
    });
  });

  it.each(['${input:token}', '${A:?secret-word}', '${A-secret-word}', '${}', '${1}', '${A:-${B}}', '${A', '${a b}'])(
    'CFG-4 the unknown form %s is a problem that repeats no default',
    (text) => {
      const { problems } = expand(text, env);
      expect(problems).toHaveLength(1);
      expect(problems[0]).toContain('cannot be expanded');
      expect(problems[0]).not.toContain('secret-word');
    },
  );

  it.each(['toString', 'constructor', '__proto__', 'hasOwnProperty'])(
    'A27 ${%s} is not found on a prototype',
    (name) => {
      expect(expand(`\${${name}}`, {}).problems).toHaveLength(1);
    },
  );

  it('CFG-4 a variable alone is a reference; one with a default or other text is not', () => {
    expect(['${A}', '${env:A}', '${A:-x}', 'x${A}', 'A'].map(isReference)).toEqual([true, true, false, false, false]);
  });

  it('CFG-4 hides defaults when it shows what was written', () => {
    expect(hideDefaults('a ${A} ${env:A} ${A:-secret} ${input:secret}')).toBe('a ${A} ${env:A} ${A:-***} ${input:…}');
  });

  const piece = fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.constantFrom('${', '}', '${A}', '${B}', '${env:A}', '${NO:-x}', ':-', '$', '${NO}', '${A:-${B}}'),
  );
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

  it('A31 expansion never throws, and what comes out of a variable is never read again', () => {
    fc.assert(
      fc.property(text, text, (written, value) => {
        const marked = expand(written, { A: '\ue001', B: '\ue002', NO: undefined });
        const filled = expand(written, { A: value, B: value, NO: undefined });
        // A variable that holds only blanks counts as not set.
        fc.pre(value.trim() !== '' && !/[\ue001\ue002]/.test(written));
        expect(filled.text).toBe(marked.text.replaceAll(/[\ue001\ue002]/g, () => value));
        expect(filled.problems).toEqual(marked.problems);
      }),
      { numRuns: 2000 },
    );
  });

  it('CFG-4 text without variables is never touched', () => {
    fc.assert(
      fc.property(fc.string(), (plain) => {
        fc.pre(!plain.includes('${'));
        expect(expand(plain, env)).toEqual({ text: plain, values: [], used: [], problems: [] });
        expect(hideDefaults(plain)).toBe(plain);
      }),
    );
  });
});
