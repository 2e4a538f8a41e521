import { describe, expect, it } from 'vitest';
import { compileRegex } from './regex.js';

describe('compileRegex', () => {
  it('PAT-1 is case-sensitive without flags and searches anywhere', () => {
    const regex = compileRegex(String.raw`\bread\b`);
    expect(regex.test('please read this')).toBe(true);
    expect(regex.test('please Read this')).toBe(false);
    expect(regex.test('already')).toBe(false);
    expect(regex.source).toBe(String.raw`\bread\b`);
  });

  it.each([
    ['i', 'ABC', '^abc$', true],
    ['', 'x\nabc', '^abc$', false],
    ['m', 'x\nabc', '^abc$', true],
    ['', 'a\nb', '^a.b$', false],
    ['s', 'a\nb', '^a.b$', true],
    ['gu', 'abc', 'b', true],
    ['u', '😀', '^.$', true],
  ])('PAT-1 honours the flags "%s" on %j', (flags, text, source, expected) => {
    expect(compileRegex(source, flags).test(text)).toBe(expected);
  });

  it.each([
    ['(?=a)b', /lookahead/],
    ['(?!a)b', /lookahead/],
    ['(?<=a)b', /lookbehind/],
    ['(?<!a)b', /lookbehind/],
    ['(?>a)b', /atomic/],
    [String.raw`(a)\1`, /backreference/],
    [String.raw`(?<x>a)\k<x>`, /backreference/],
    ['(a', /missing closing \)/],
    ['[a', /missing closing \]/],
    ['a**', /repetition/],
    ['(a{1000}){1000}', /repeat count/],
    ['a'.repeat(20_001), /longer than/],
    ['('.repeat(9000) + ')'.repeat(9000), /nests too deeply/],
  ])('PAT-1 refuses what is unsupported or invalid: %#', (source, message) => {
    expect(() => compileRegex(source)).toThrow(message);
  });

  it.each([
    ['x', /unknown flag "x"; use i, m, s, g, u/],
    ['y', /unknown flag "y"/],
    ['ii', /given twice/],
  ])('PAT-1 refuses the flags "%s"', (flags, message) => {
    expect(() => compileRegex('a', flags)).toThrow(message);
  });

  it('PAT-1 does not mistake text in a class or an escape for a construct', () => {
    expect(compileRegex('[(?=]').test('=')).toBe(true);
    expect(compileRegex(String.raw`\(\?=`).test('(?=')).toBe(true);
    expect(compileRegex(String.raw`(?<year>\d{4})`).test('2026')).toBe(true);
  });

  it('PAT-1 decides an expression that makes a backtracking engine hang', () => {
    expect(compileRegex('^(a+)+$').test(`${'a'.repeat(50_000)}!`)).toBe(false);
    expect(compileRegex('^(a+)+$').test('a'.repeat(50_000))).toBe(true);
    expect(compileRegex('^(([a-z])+.)+[A-Z]([a-z])+$').test('a'.repeat(50_000))).toBe(false);
  });
});
