import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { excessIn } from './json-bounds.js';
import type { JsonValue } from './json.js';
import { COMPUTES_LONG } from '../../test/support/patience.js';

/** Commas, lists and objects of a value, and its depth, counted in the value itself. */
function measure(value: JsonValue): { readonly values: number; readonly depth: number } {
  if (typeof value !== 'object' || value === null) return { values: 0, depth: 0 };
  const members = Object.values(value).map((each) => measure(each as JsonValue));
  const inside = members.reduce((sum, each) => sum + each.values, 0);
  return {
    values: 1 + Math.max(0, members.length - 1) + inside,
    depth: 1 + Math.max(0, ...members.map(({ depth }) => depth)),
  };
}

describe('excessIn', () => {
  it('A28 A44 many values or deep nesting are refused, whatever they are made of', COMPUTES_LONG, () => {
    const many = Array.from({ length: 1_000_001 }, () => '[]');
    expect(excessIn(`[${many.join(',')}]`)).toBe('has more than 1000000 values');
    expect(excessIn(`[${many.map(() => '1').join(', ')}]`)).toBe('has more than 1000000 values');
    expect(excessIn(`{${many.map((_, index) => `"k${index}":0`).join(',')}}`)).toBe('has more than 1000000 values');
    expect(excessIn('['.repeat(300_000))).toBe('nests deeper than 10000 levels');
    expect(excessIn('{"a":'.repeat(300_000))).toBe('nests deeper than 10000 levels');
  });

  it('A28 a large text in one value is no excess, whatever it says', () => {
    expect(excessIn(JSON.stringify({ text: '[{,'.repeat(1_000_000) }))).toBeUndefined();
    expect(excessIn(JSON.stringify({ text: '"[,\\"'.repeat(1_000_000) }))).toBeUndefined();
    expect(excessIn(JSON.stringify({ text: '\\'.repeat(1_000_001), more: '[' }))).toBeUndefined();
    expect(excessIn(`"${'['.repeat(2_000_000)}`)).toBeUndefined();
    expect(excessIn(JSON.stringify(Array.from({ length: 100_000 }, (_, id) => ({ id, name: 'a' }))))).toBeUndefined();
  });

  it('A28 an escaped quote at the end of a string does not hide what comes after', () => {
    const bounds = { smallChars: 0, values: 99, depth: 2 };
    expect(excessIn(String.raw`["\"",[["a"]]]`, bounds)).toBe('nests deeper than 2 levels');
    expect(excessIn(String.raw`["",[["a"]]]`, bounds)).toBe('nests deeper than 2 levels');
    expect(excessIn(String.raw`["\\",["[["]]`, bounds)).toBeUndefined();
  });

  it('A28 a short text is left to the parser', () => {
    expect(excessIn('['.repeat(256 * 1024))).toBeUndefined();
    expect(excessIn('['.repeat(256 * 1024 + 1))).toBe('nests deeper than 10000 levels');
  });

  it('A28 refuses a text exactly when what it parses to is beyond the bounds', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('\\', '"', '[', '{', ',', ']', '}', 'a') }));
    const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        text,
        fc.constantFrom<JsonValue>(1, -0.5, null, true),
        fc.array(tie('value')),
        fc.dictionary(text, tie('value'), { noNullPrototype: true }),
      ),
    }));
    const found = { refused: 0, taken: 0 };
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1), fc.nat(8), fc.nat(4), (each, indent, values, depth) => {
        const json = JSON.stringify(each, undefined, indent);
        const measured = measure(JSON.parse(json) as JsonValue);
        const isBeyond = measured.values > values || measured.depth > depth;
        expect(excessIn(json, { smallChars: 0, values, depth }) !== undefined).toBe(isBeyond);
        found[isBeyond ? 'refused' : 'taken']++;
      }),
      { numRuns: 500 },
    );
    expect(found.refused).toBeGreaterThan(10);
    expect(found.taken).toBeGreaterThan(10);
  });
});
