import { describe, expect, it } from 'vitest';
import { readTokenCorpus } from '../../test/support/token-corpus.js';
import type { JsonObject, JsonValue } from './json.js';
import { countLater, sampleResultTokens, sampleTokens } from './token-sample.js';
import { estimateJsonTokens, estimateReadTokens, estimateResultTokens } from './tokens.js';
import { COMPUTES_LONG } from '../../test/support/patience.js';

const textResult = (text: string): JsonObject => ({ content: [{ type: 'text', text }] });
const off = (sampled: number, whole: number): number => Math.abs(sampled / whole - 1);

describe('sampling of tokens', COMPUTES_LONG, () => {
  it('ANS-7 ANS-6 reads what is small whole', () => {
    const small = { content: [{ type: 'text', text: 'One note, two notes.' }], structuredContent: { notes: [1, 2] } };
    expect(sampleResultTokens(small)).toBe(estimateReadTokens(small));
    expect(sampleTokens({ path: '/tmp/a', depth: 3 })).toBe(estimateJsonTokens({ path: '/tmp/a', depth: 3 }));
    expect(sampleTokens(undefined)).toBe(estimateJsonTokens(undefined));
  });

  it('ANS-7 ANS-6 is within 10 % of the whole estimate in the median, 25 % at p95, for long texts of every kind', () => {
    const kinds = new Map<string, string>();
    for (const { kind, text } of readTokenCorpus()) kinds.set(kind, `${kinds.get(kind) ?? ''}${text}\n`);
    const errors = [...kinds.values()]
      .flatMap((text) => [8_000, 20_000, 60_000].map((length) => text.slice(0, length)))
      .filter((text) => text.length > 5000)
      .map((text) => off(sampleResultTokens(textResult(text)), estimateResultTokens(textResult(text))))
      .toSorted((a, b) => a - b);
    expect(errors.length).toBeGreaterThan(10);
    expect(errors[Math.floor(errors.length / 2)]).toBeLessThan(0.1);
    expect(errors[Math.floor(errors.length * 0.95)]).toBeLessThan(0.25);
  });

  it('ANS-7 takes the rest of a long list or a large object to be like what it read', () => {
    const rows = Array.from({ length: 3000 }, (_, id) => ({
      id,
      name: `row ${id}`,
      tags: ['a', 'b'],
      text: 'x '.repeat(id % 9),
    }));
    const byName = Object.fromEntries(rows.map((row) => [row.name, row]));
    for (const value of [rows, { items: rows, more: null }, byName, [rows, rows]] as JsonValue[]) {
      expect(off(sampleTokens(value), estimateJsonTokens(value))).toBeLessThan(0.15);
      const result = { content: [], structuredContent: value };
      expect(off(sampleResultTokens(result), estimateResultTokens(result))).toBeLessThan(0.15);
    }
  });

  it('ANS-7 the same data as text and as structured content counts once, the larger of the two', () => {
    for (const length of [3, 3000]) {
      const structuredContent = { items: Array.from({ length }, (_, id) => ({ id, name: `item ${id}` })) };
      const written = textResult(JSON.stringify(structuredContent));
      const both = { ...written, structuredContent };
      expect(estimateReadTokens(both)).toBe(
        Math.max(estimateReadTokens(written), estimateJsonTokens(structuredContent)),
      );
      expect(off(sampleResultTokens(both), estimateReadTokens(both))).toBeLessThan(0.15);
      expect(estimateResultTokens(both)).toBeGreaterThan(1.8 * estimateReadTokens(both));
      const brief = { content: [{ type: 'text', text: 'ok' }], structuredContent };
      expect(off(sampleResultTokens(brief), estimateJsonTokens(structuredContent))).toBeLessThan(0.15);
    }
  });

  it('ANS-7 an image costs what an image costs, however large it is', () => {
    const image = { content: [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(3_000_000) }] };
    expect(sampleResultTokens(image)).toBe(estimateResultTokens({ content: [{ type: 'image', data: '' }] }));
  });

  it('A45 ANS-7 ends for values that hold themselves, nest deep or are hostile', () => {
    const circular: JsonObject = {};
    for (let at = 0; at < 40; at++) circular[`self${at}`] = circular;
    let deep: JsonValue = 'x'.repeat(5000);
    for (let level = 0; level < 5000; level++) deep = [deep, 'y'.repeat(100)];
    const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, { at }]));
    for (const value of [circular, deep, wide, ['\ud800'.repeat(10_000)]]) {
      expect(sampleTokens(value)).toBeGreaterThan(100);
      expect(sampleResultTokens({ content: [], structuredContent: value })).toBeGreaterThan(100);
      expect(sampleResultTokens({ content: 'no list', [JSON.stringify('odd')]: value })).toBeGreaterThan(100);
    }
  });

  it('ANS-7 what is large is counted at once, so that it is not held', () => {
    let counted = 0;
    const count = (): number => ++counted;
    expect(countLater(100_000, count)).toEqual({ tokens: 1 });
    expect(countLater(100, count)).toEqual({ countTokens: count });
    expect(counted).toBe(1);
  });
});
