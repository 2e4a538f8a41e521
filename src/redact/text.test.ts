import { describe, expect, it } from 'vitest';
import { hashMark } from './hash-marks.js';
import { createTextRedactor, type RedactText, type TextRule } from './text.js';

type Span = readonly [start: number, end: number];

/** A rule that finds an expression wherever it is. */
const rule = (pattern: RegExp, action: TextRule['action'] = 'mask'): TextRule => ({
  action,
  spans: (text) => Array.from(text.matchAll(pattern), ({ 0: found, index }) => [index, index + found.length] as const),
});
const redactor = (...rules: TextRule[]): RedactText => createTextRedactor(rules, (text) => text);

describe('a text without what rules find in it', () => {
  it('NEG-6 a hash is that of what was found, and of nothing around it', () => {
    expect(redactor(rule(/b\d/g, 'hash'))('a b1 c b2 d')).toBe(`a ${hashMark('b1')} c ${hashMark('b2')} d`);
  });

  it('NEG-6 a mark beside what is found stays as it is, on both sides', () => {
    const redact = redactor(rule(/ab/g, 'hash'));
    const [mark, found] = [hashMark('x'), hashMark('ab')];
    expect(redact(`${mark}ab${mark}`)).toBe(`${mark}${found}${mark}`);
    expect(redactor(rule(/ab/g))('***ab***')).toBe('*********');
  });

  it('NEG-6 what reaches into a mark takes all of it, and what lies within marks is left alone', () => {
    const mark = hashMark('x');
    expect(redactor(rule(/a\*/g))('1 a*** 2')).toBe('1 *** 2');
    expect(redactor(rule(/\*a/g))('1 ***a 2')).toBe('1 *** 2');
    expect(redactor(rule(/\*+|sha|[0-9a-f]{4}/g))(`*** ${mark} ******`)).toBe(`*** ${mark} ******`);
    // Marks alone are no reason to drop a value.
    expect(redactor(rule(/\*/g, 'drop'))('1 *** 2')).toBe('1 *** 2');
    expect(redactor(rule(/2/g, 'drop'))('1 *** 2')).toBeUndefined();
  });

  it.each<[spans: Span[], shown: string]>([
    [
      [
        [0, 4],
        [2, 3],
        [4, 5],
      ],
      '******f',
    ],
    [
      [
        [0, 4],
        [3, 4],
      ],
      '***ef',
    ],
    [
      [
        [0, 4],
        [2, 6],
      ],
      '******',
    ],
    [[[1, 2]], 'a***cdef'],
  ])('NEG-6 A33 of finds that overlap nothing is left between them: %j', (spans, shown) => {
    const once: TextRule = { action: 'mask', spans: (text) => (text === 'abcdef' ? [...spans] : []) };
    expect(redactor(once)('abcdef')).toBe(shown);
  });

  it('NEG-6 what a replacement joins is found as well', () => {
    expect(redactor(rule(/b/g, 'drop'))('abc')).toBeUndefined();
    const shrinking = createTextRedactor([rule(/ab/g)], (text) => text.replaceAll('x', ''));
    expect(shrinking('axb axxb c')).toBe('*** *** c');
  });

  it('NEG-6 A24 a text that never comes to rest goes whole, after eight rounds', () => {
    let rounds = 0;
    const restless = createTextRedactor([], (text) => ((rounds += 1), `${text}x`));
    expect([restless('a'), rounds]).toEqual(['***', 8]);
    rounds = 0;
    const last = createTextRedactor([], (text) => ((rounds += 1), text.length < 8 ? `${text}x` : text));
    expect([last('a'), rounds]).toEqual(['axxxxxxx', 8]);
  });
});
