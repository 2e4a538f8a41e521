import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alternativesOf, coversTokens, literalOf } from './glob-cover.js';
import { compileGlob } from './pattern.js';
import { repetitions } from '../../../test/support/long-form.js';

/** Every alternative of the one is covered by one of the other. */
const covers = (wide: string, narrow: string): boolean =>
  (alternativesOf(narrow) ?? []).every((each) =>
    (alternativesOf(wide) ?? []).some((other) => coversTokens(other, each)),
  );

describe('coverage of globs', () => {
  it.each([
    ['get*', 'get_*'],
    ['*', 'a?b*[xy]'],
    ['?*', '*?'],
    ['*?*', '?'],
    ['*a*', 'ba*'],
    ['*a*b*', 'xaxbx'],
    ['a*c', 'a*b*c'],
    ['a?c', 'a[xy]c'],
    ['[a-z]*', 'get*'],
    ['[ab]', '[ab]'],
    ['{get,list}_*', 'list_{a,b}'],
    ['get_{a,b}', 'get_a'],
    [String.raw`\**`, String.raw`\*a`],
    ['**', '*'],
    ['a**', 'a*?'],
    ['*', ''],
    ['{a,b}{c,d}', '{ac,bd}'],
    ['a{b,{c,d}}', 'ad'],
    ['😀?', '😀😀'],
  ])('PAT-4 %s covers %s', (wide, narrow) => {
    expect(covers(wide, narrow)).toBe(true);
  });

  it.each([
    ['get_*', 'get*'],
    ['?', '*'],
    ['a?', 'a*'],
    ['a', 'a?'],
    ['a*b', 'a*'],
    ['[a-z]', '?'],
    ['[a-c]', '[a-z]'],
    ['', '*'],
    ['a', 'b'],
    ['*a', 'a*'],
    [String.raw`\*`, 'a'],
  ])('PAT-4 %s does not cover %s', (wide, narrow) => {
    expect(covers(wide, narrow)).toBe(false);
  });

  it('PAT-4 what is too large to be looked into is left alone', () => {
    expect(alternativesOf('{a,b}'.repeat(300))).toBeUndefined();
    expect(alternativesOf('a'.repeat(1999))).toBeUndefined();
    expect(alternativesOf(`${'{'.repeat(900)}a${'}'.repeat(900)}`)).toEqual([[{ is: 'char', char: 'a' }]]);
  });

  const piece = fc.constantFrom('a', 'b', '*', '?', '[ab]', '[!a]', '{a,b}', '{a*,}', String.raw`\*`, '**', '[a-z]');
  const glob = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''));
  const texts: string[] = [''];
  for (let i = 0; texts.length < 400; i++) for (const letter of ['a', 'b', '*', 'Z']) texts.push(texts[i]! + letter);

  it('PAT-4 what is said to be covered is, whatever the text', () => {
    fc.assert(
      fc.property(glob, glob, (wide, narrow) => {
        if (!covers(wide, narrow)) return;
        const [outer, inner] = [compileGlob(wide), compileGlob(narrow)];
        expect(texts.filter((text) => inner.matches(text) && !outer.matches(text))).toEqual([]);
      }),
      { numRuns: repetitions(1000, 5000) },
    );
  });

  it('PAT-4 of globs with nothing but stars and letters, what is not said to be covered is not', () => {
    const plain = fc.array(fc.constantFrom('a', 'b', '*'), { maxLength: 4 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(plain, plain, (wide, narrow) => {
        if (covers(wide, narrow)) return;
        const [outer, inner] = [compileGlob(wide), compileGlob(narrow)];
        // A star filled with a letter that no glob contains shows the difference, if there is one.
        const witnesses = ['', 'Z'].map((fill) => narrow.replaceAll('*', fill));
        expect(witnesses.some((text) => inner.matches(text) && !outer.matches(text))).toBe(true);
      }),
      { numRuns: repetitions(1000, 5000) },
    );
  });

  it('PAT-4 the alternatives of a glob together match what it matches', () => {
    fc.assert(
      fc.property(glob, (text) => {
        const literals = (alternativesOf(text) ?? []).map((places) => literalOf(places));
        const whole = compileGlob(text);
        for (const literal of literals) if (literal !== undefined) expect(whole.matches(literal)).toBe(true);
      }),
    );
  });
});
