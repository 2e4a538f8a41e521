import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../../test/support/any-text.js';
import { repetitions } from '../../test/support/long-form.js';
import { fileNameOf } from './file-name.js';

/** What a file system that is easy about names takes for the same. */
const folded = (name: string): string => name.normalize('NFKC').toLowerCase();

/** Names that are nearly the same, and names that mean something to a file system. */
const anyName = fc.oneof(
  anyText({ maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom('a', 'A', '.', '/', '=', '+', '-', '_', '2', 'f', 'u', 'é', 'e\u0301', 'ſ', 'K', '\0'),
    maxLength: 6,
  }),
  fc.constantFrom('con', 'CON', 'nul', 'com1', 'con.x', 'server', 'Server', '.', '..', '', ' '),
  fc
    .tuple(anyText({ maxLength: 4 }), fc.integer({ min: 90, max: 400 }))
    .map(([text, count]) => `${text}x`.repeat(count)),
);

describe('file names', () => {
  it.each([
    ['list_issues', 'list_issues'],
    ['get-sum', 'get-sum'],
    ['v1.read', 'v1.read'],
    ['getIssue', 'get+Issue'],
    ['a/b', 'a=2fb'],
    ['a_b', 'a_b'],
    ['../../x', '=2e.=2f..=2fx'],
    ['..\\x', '=2e.=5cx'],
    ['.', '=2e'],
    ['..', '=2e=2e'],
    ['a\0b', 'a=00b'],
    ['CON', '+C+O+N'],
    ['con', '=63on'],
    ['nul.txt', '=6eul.txt'],
    ['lpt9', '=6cpt9'],
    ['console', 'console'],
    ['falcon', 'falcon'],
    ['com12', 'com12'],
    ['x.nul', 'x.nul'],
    ['\u00ff', '=ff'],
    ['\u0100', '=u0100'],
    ['server', '=73erver'],
    ['naïve', 'na=efve'],
    ['工具', '=u5de5=u5177'],
    ['-rf', '=2drf'],
    ['x.', 'x=2e'],
    ['x ', 'x=20'],
    ['', '='],
  ])('SCH-3 A20 %j is the file %s', (name, file) => {
    expect(fileNameOf(name)).toBe(file);
  });

  it('SCH-3 A20 a name of 300 bytes is cut and stays its own', () => {
    const [one, two] = [`${'x'.repeat(299)}a`, `${'x'.repeat(299)}b`].map((name) => fileNameOf(name));
    expect(one).not.toBe(two);
    expect(one).toMatch(/^x{100}==[0-9a-f]{64}$/);
  });

  it('SCH-3 a name whose file name has 180 characters keeps all of them, one more is cut', () => {
    expect(fileNameOf('x'.repeat(180))).toBe('x'.repeat(180));
    expect(fileNameOf(`a/${'x'.repeat(176)}`)).toBe(`a=2f${'x'.repeat(176)}`);
    for (const name of ['x'.repeat(181), `a/${'x'.repeat(177)}`]) expect(fileNameOf(name)).toMatch(/x==[0-9a-f]{64}$/);
  });

  it('SCH-3 A20 any name is one safe file name below 255 bytes', () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const file = fileNameOf(name);
        expect(file).toMatch(/^[\w=+][\w=+.-]*$/);
        expect(file).not.toMatch(/\.$/);
        expect(Buffer.byteLength(`${file}.rtfs`)).toBeLessThanOrEqual(255);
        expect(`${file}.rtfs`).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d|server)\./i);
      }),
      { numRuns: repetitions(400, 2000) },
    );
  });

  it('SCH-3 A20 two names never share a file, on file systems that fold case and Unicode either', () => {
    fc.assert(
      fc.property(anyName, anyName, (a, b) => {
        if (a !== b) expect(folded(fileNameOf(a))).not.toBe(folded(fileNameOf(b)));
      }),
      { numRuns: repetitions(1000, 5000) },
    );
    for (const [a, b] of [
      ['é', 'e\u0301'],
      ['K', '\u212a'],
      ['getIssue', 'getissue'],
      ['a/b', 'a=2fb'],
      ['\ud800', '\ud801'],
      ['\ud800'.repeat(300), '\ud801'.repeat(300)],
    ] as const) {
      expect(folded(fileNameOf(a))).not.toBe(folded(fileNameOf(b)));
    }
  });
});
