import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { assert, nat, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COMPUTES_LONG } from '../../test/support/patience.js';
import { readTokenCorpus } from '../../test/support/token-corpus.js';
import { estimateJsonTokens, estimateResultTokens, estimateTokens, fitsResult } from './tokens.js';
import { codePoint } from '../../test/support/any-text.js';

const exact = (text: string): number => countTokens(text, { disallowedSpecial: new Set() });

function quantiles(errors: number[]): { median: number; p95: number } {
  const sorted = errors.toSorted((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)]!, p95: sorted[Math.floor(sorted.length * 0.95)]! };
}

describe('estimateTokens', () => {
  it(
    'ANS-6 is within 10 % of o200k in the median and 25 % at p95 for every kind of text it was not fitted on',
    COMPUTES_LONG,
    () => {
      const errors = new Map<string, number[]>();
      readTokenCorpus()
        .filter(
          ({ half, kind }, at) => half === 'B' && (at % 3 === 0 || !['JSON', 'JSON, indented', 'code'].includes(kind)),
        )
        .forEach(({ kind, text }) => {
          errors.set(kind, [...(errors.get(kind) ?? []), Math.abs(estimateTokens(text) / exact(text) - 1)]);
        });
      expect(errors.size).toBeGreaterThan(7);
      for (const [kind, all] of errors) {
        const { median, p95 } = quantiles(all);
        expect({ kind, isClose: median <= 0.1 && p95 <= 0.25 }, `${kind}: ${median} ${p95}`).toEqual({
          kind,
          isClose: true,
        });
      }
    },
  );

  it('ANS-6 estimates a JSON value as its text, without writing it', () => {
    const errors = readTokenCorpus()
      .filter(({ half, kind }, at) => half === 'B' && kind === 'JSON' && at % 3 === 0)
      .map(({ text }) => Math.abs(estimateJsonTokens(JSON.parse(text)) / exact(text) - 1));
    const { median, p95 } = quantiles(errors);
    expect(median).toBeLessThan(0.1);
    expect(p95).toBeLessThan(0.25);
  });

  it('ANS-6 never estimates a longer text as cheaper', COMPUTES_LONG, () => {
    expect(estimateTokens('')).toBe(0);
    assert(
      property(string({ unit: codePoint }), (text) => {
        expect(estimateTokens(`${text}${text} ${text}`)).toBeGreaterThanOrEqual(estimateTokens(text));
      }),
    );
  });

  it('ANS-6 decides about a limit as the whole estimate does', () => {
    assert(
      property(string({ unit: codePoint, maxLength: 200 }), nat(120), (text, limit) => {
        const result = { content: [{ type: 'text', text }] };
        expect(fitsResult(result, limit)).toBe(estimateTokens(text) <= limit);
        expect(estimateTokens(text, limit) > limit).toBe(estimateTokens(text) > limit);
      }),
    );
  });

  it('ANS-6 A28 grows with every long run of one character', () => {
    for (const unit of ['a', 'A', '=', '[', ' ', '\n', 'é', '中', '😀', '\ud800', '0', 'a1', '\t', '\u0000']) {
      expect(estimateTokens(unit.repeat(200_000)), JSON.stringify(unit)).toBeGreaterThan(2000);
    }
  });
});

describe('estimateResultTokens', () => {
  it('ANS-6 counts texts as they are, structured content as JSON and not the data of images', () => {
    const text = 'The quick brown fox jumps over the lazy dog.\n'.repeat(20);
    expect(estimateResultTokens({ content: [{ type: 'text', text }] })).toBe(estimateTokens(text));
    const structured = { items: [1, 2, 3], name: 'box' };
    expect(estimateResultTokens({ content: [], structuredContent: structured })).toBe(estimateJsonTokens(structured));
    const image = { type: 'image', mimeType: 'image/png', data: 'A'.repeat(1_000_000) };
    expect(estimateResultTokens({ content: [image] })).toBeLessThan(2000);
    expect(estimateResultTokens({ content: [], _meta: { note: text } })).toBe(0);
  });
});
