import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, isDeeperThan, isObject, type JsonValue } from './json.js';

const json = fc.jsonValue({ maxDepth: 5 }) as fc.Arbitrary<JsonValue>;

/** The same value with the keys of every object in the opposite order. */
function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, child]) => [key, reversed(child as JsonValue)]),
  );
}

/** How deep a value nests, by the plain recursive definition: a scalar 0, `{}` 1, `{a: {}}` 2. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('json', () => {
  it('R15 canonical JSON is JSON of the same value', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('R15 A12 the order of keys does not matter, everything else does', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      }),
    );
    fc.assert(
      fc.property(json, json, (a, b) => {
        const same = JSON.stringify(reversed(reversed(a))) === JSON.stringify(b);
        if (same) expect(canonicalJson(a)).toBe(canonicalJson(b));
        else if (canonicalJson(a) === canonicalJson(b)) expect(JSON.parse(JSON.stringify(a))).toEqual(b);
      }),
    );
  });

  it('REG-3 keys are sorted, nothing is padded, undefined fields are left out', () => {
    expect(canonicalJson({ b: 1, a: [true, null, { d: 'x', c: undefined }], Ä: 0 })).toBe(
      '{"a":[true,null,{"d":"x"}],"b":1,"Ä":0}',
    );
    expect(canonicalJson(undefined)).toBe('null');
    expect(canonicalJson([undefined as unknown as JsonValue])).toBe('[null]');
    expect(canonicalJson(JSON.parse('{"__proto__":1,"a":2}') as JsonValue)).toBe('{"__proto__":1,"a":2}');
  });

  it('R15 a value is deeper than a limit exactly when its depth is greater', () => {
    fc.assert(
      fc.property(json, fc.integer({ min: 0, max: 7 }), (value, limit) => {
        expect(isDeeperThan(value, limit)).toBe(depthOf(value) > limit);
      }),
    );
  });

  it('A26 depth is measured without recursion: a hundred thousand levels do not overflow the stack', () => {
    let deep: JsonValue = [];
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(isDeeperThan(deep, 64)).toBe(true);
    expect(isDeeperThan(deep, 200_000)).toBe(false);
  });

  it('A27 only plain objects are objects', () => {
    expect([{}, Object.create(null), { a: 1 }].every(isObject)).toBe(true);
    expect([null, [], 'x', 1, true, undefined].some(isObject)).toBe(false);
  });
});
