import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashTerms, recall, remember, type Usage } from './usage.js';

const DAY = 86_400_000;
const KEY = 'key';
const nothing: Usage = new Map();

function credit(usage: Usage, address: string, words: string, at = 0): Usage {
  return remember(usage, { address, terms: hashTerms(words.split(' '), KEY), at });
}

describe('usage memory', () => {
  it('FIND-2 terms are stored as hashes under a key: the same word again is known, the word itself is not there', () => {
    const [hash] = hashTerms(['passport'], KEY);
    expect(hashTerms(['passport', 'passport'], KEY)).toEqual([hash]);
    expect(hashTerms(['passport'], 'another key')).not.toEqual([hash]);
    const usage = credit(nothing, 'a:b', 'renew passport');
    expect(JSON.stringify([...usage].map(([address, { terms }]) => [address, ...terms.keys()]))).not.toContain(
      'passport',
    );
  });

  it('FIND-2 a term leads to the tools it led to before, more so the more often', () => {
    let usage = credit(nothing, 'files:read', 'open letter');
    usage = credit(usage, 'files:write', 'save letter');
    usage = credit(usage, 'files:write', 'save draft');
    const found = recall(usage, hashTerms(['save', 'letter', 'moon'], KEY), 0);
    expect([...found.keys()].toSorted()).toEqual(['files:read', 'files:write']);
    expect(found.get('files:read')).toEqual([0, expect.any(Number), 0]);
    const [save, letter, moon] = found.get('files:write')!;
    expect(save).toBeGreaterThan(letter!);
    expect(moon).toBe(0);
    expect(recall(usage, hashTerms(['moon'], KEY), 0).size).toBe(0);
  });

  it('FIND-2 what was remembered fades: half after thirty days, gone when next to nothing is left', () => {
    const usage = credit(nothing, 'a:b', 'old word');
    const asked = hashTerms(['old'], KEY);
    const now = recall(usage, asked, 0).get('a:b')![0]!;
    expect(recall(usage, asked, 30 * DAY).get('a:b')![0]!).toBeCloseTo(now / 2);
    const renewed = credit(usage, 'a:b', 'new word', 365 * DAY);
    expect(renewed.get('a:b')!.terms.has(asked[0]!)).toBe(false);
  });

  it('FIND-2 a clock that goes backwards does not make a memory heavier', () => {
    const usage = credit(nothing, 'a:b', 'word', 10 * DAY);
    const asked = hashTerms(['word'], KEY);
    expect(recall(usage, asked, 0)).toEqual(recall(usage, asked, 10 * DAY));
  });

  it('A28 what is remembered is bounded, whatever is called how often', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 400 }), fc.array(fc.string({ maxLength: 3 }), { maxLength: 30 })), {
          maxLength: 400,
        }),
        (credits) => {
          let usage: Usage = nothing;
          for (const [at, [tool, words]] of credits.entries()) usage = credit(usage, `s:${tool}`, words.join(' '), at);
          expect(usage.size).toBeLessThanOrEqual(300);
          for (const { terms } of usage.values()) {
            expect(terms.size).toBeLessThanOrEqual(48);
            for (const weight of terms.values()) expect(weight).toBeLessThanOrEqual(5);
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it('A28 beyond its bound the tool that was used longest ago is forgotten first', () => {
    let usage: Usage = nothing;
    for (let i = 0; i < 301; i++) usage = credit(usage, `s:tool${i}`, 'word', i);
    expect(usage.has('s:tool0')).toBe(false);
    expect(usage.has('s:tool1')).toBe(true);
    expect(usage.has('s:tool300')).toBe(true);
  });
});
