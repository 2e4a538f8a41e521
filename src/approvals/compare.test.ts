import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, type JsonValue } from '../kernel/json.js';
import { compareJson } from './compare.js';

describe('the difference of two definitions', () => {
  it('SEC-9 names each place with what was there and what is there now', () => {
    const before = { description: 'a', inputSchema: { properties: { 'a/b': { type: 'string' } } }, gone: 1 };
    const after = { inputSchema: { properties: { 'a/b': { type: 'number' }, more: {} } }, description: 'a' };
    expect(compareJson(before, after)).toEqual([
      { path: '/inputSchema/properties/a~1b/type', before: '"string"', after: '"number"' },
      { path: '/inputSchema/properties/more', after: '{}' },
      { path: '/gone', before: '1' },
    ]);
  });

  it('SEC-9 a list that becomes an object, a value that becomes null, and nothing at all', () => {
    expect(compareJson({ a: [1] }, { a: { 0: 1 } })).toEqual([{ path: '/a', before: '[1]', after: '{"0":1}' }]);
    expect(compareJson({ a: 1 }, { a: null })).toEqual([{ path: '/a', before: '1', after: 'null' }]);
    expect(compareJson({}, { a: null })).toEqual([{ path: '/a', after: 'null' }]);
    expect(compareJson(undefined, { a: 1 })).toEqual([{ path: '', after: '{"a":1}' }]);
  });

  it('SEC-9 a change within a list, or behind a name with signs of a path, is named where it is', () => {
    expect(compareJson({ a: [1, { b: 2 }] }, { a: [1, { b: 3 }, 4] })).toEqual([
      { path: '/a/1/b', before: '2', after: '3' },
      { path: '/a/2', after: '4' },
    ]);
    expect(compareJson({ '~/1': 1 }, { '~/1': 2 })).toEqual([{ path: '/~0~11', before: '1', after: '2' }]);
  });

  it('A28 SEC-9 at most 500 differences are listed, changed, new and removed ones', () => {
    const fields = (count: number, value: JsonValue): JsonValue =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]));
    expect(compareJson(fields(500, 1), fields(500, 2))).toHaveLength(500);
    expect(compareJson(fields(501, 1), fields(501, 2))).toHaveLength(500);
    expect(compareJson({}, fields(501, 1))).toHaveLength(500);
    expect(compareJson(fields(501, 1), {})).toHaveLength(500);
  });

  it('A12 there is a difference exactly when the values differ, whatever the order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const [a, b] = [JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other))] as [JsonValue, JsonValue];
        expect(compareJson(a, a)).toEqual([]);
        expect(compareJson(a, b).length > 0).toBe(canonicalJson(a) !== canonicalJson(b));
      }),
    );
  });
});
