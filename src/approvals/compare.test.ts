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
