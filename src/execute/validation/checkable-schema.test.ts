import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../kernel/json.js';
import { toCheckable } from './checkable-schema.js';

/** A chain of references where each level refers to the one below as often as `times`. */
function levels(count: number, times: number): JsonObject {
  const $defs: JsonObject = { d0: { type: 'string' } };
  for (let level = 1; level <= count; level++) {
    $defs[`d${level}`] = { anyOf: Array.from({ length: times }, () => ({ $ref: `#/$defs/d${level - 1}` })) };
  }
  return { type: 'object', properties: { x: { $ref: `#/$defs/d${count}` } }, $defs };
}

function nested(depth: number): JsonObject {
  let schema: JsonObject = { type: 'string' };
  for (let level = 0; level < depth; level++) schema = { type: 'object', properties: { a: schema } };
  return schema;
}

const many = (count: number): JsonObject => ({
  properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { type: 'string' }])),
});

describe('checkable schema', () => {
  it('EXEC-2 keeps what can be checked and drops the rest', () => {
    const { schema, skipped } = toCheckable({
      type: 'object',
      title: 'x',
      description: 'long',
      'x-vendor': { a: 1 },
      properties: { a: { type: 'string', minLength: 1, format: 'uri', default: 'd', examples: ['e'] } },
      required: ['a'],
    });
    expect(schema).toMatchObject({
      type: 'object',
      properties: { a: { type: 'string', minLength: 1 } },
      required: ['a'],
    });
    expect(JSON.stringify(schema)).not.toMatch(/vendor|long|uri|examples/);
    expect(skipped).toEqual([]);
  });

  it('EXEC-2 a malformed keyword is not checked, the others are', () => {
    const { schema } = toCheckable({
      type: 'any',
      required: true,
      minProperties: -1,
      maxProperties: 5,
      enum: [],
      properties: { a: { type: ['string', 'date'], minimum: 'low', multipleOf: 0 }, b: { type: [], pattern: 5 } },
      allOf: {},
      else: { type: 'string' },
    });
    expect(schema).toEqual({
      maxProperties: 5,
      properties: { a: {}, b: {} },
      'x-cost': expect.any(Number) as number,
      'x-value-cost': expect.objectContaining({ names: 1 }) as JsonObject,
    });
  });

  it('EXEC-2 older dialects are read as what they mean', () => {
    const old = toCheckable({
      $schema: 'http://json-schema.org/draft-07/schema#',
      properties: {
        tuple: { items: [{ type: 'string' }], additionalItems: false },
        bound: { minimum: 1, exclusiveMinimum: true },
        later: { prefixItems: [{ type: 'number' }], dependentRequired: { a: ['b'] }, unevaluatedProperties: false },
        nullable: { type: 'string', nullable: true },
      },
    }).schema as JsonObject;
    expect(old['properties']).toEqual({
      tuple: { prefixItems: [{ type: 'string' }], items: false },
      bound: { minimum: 1, exclusiveMinimum: 1 },
      later: {},
      nullable: { type: ['string', 'null'] },
    });
    const modern = toCheckable({ prefixItems: [{ type: 'number' }], dependentRequired: { a: ['b'] } }).schema;
    expect(modern).toMatchObject({ prefixItems: [{ type: 'number' }], dependentRequired: { a: ['b'] } });
  });

  it('S19 a reference to the network is never followed', () => {
    const { skipped, schema } = toCheckable({
      properties: {
        a: { $ref: 'https://evil.example/schema.json' },
        b: { $ref: 'file:///etc/passwd' },
        c: { $ref: '#/no' },
      },
    });
    expect(skipped).toHaveLength(3);
    expect(JSON.stringify(schema)).not.toContain('$ref');
  });

  it('EXEC-2 local references work by pointer, anchor and own address', () => {
    const schemas: JsonObject[] = [
      { $ref: '#/$defs/a~1b%25', $defs: { 'a/b%': { type: 'string' } } },
      { $ref: '#name', $defs: { x: { $anchor: 'name', type: 'string' } } },
      { $id: 'https://x.example/s.json', $ref: 'https://x.example/s.json#/$defs/x', $defs: { x: { type: 'string' } } },
      { $ref: '#/components/schemas/x', components: { schemas: { x: { type: 'string' } } } },
      { $ref: '#/definitions/0', definitions: [{ type: 'string' }] },
    ];
    for (const schema of schemas) {
      const checkable = toCheckable(schema);
      expect(checkable.skipped).toEqual([]);
      expect(checkable.schema).toMatchObject({ $defs: { p1: { type: 'string' } } });
    }
  });

  it('EXEC-2 a part with an address of its own makes local references uncertain, so they are not checked', () => {
    const { skipped } = toCheckable({
      properties: { a: { $id: 'https://x.example/', $ref: '#/$defs/x', $defs: { x: { type: 'string' } } } },
      $defs: { x: { type: 'number' } },
    });
    expect(skipped).toHaveLength(1);
  });

  it('A27 references and names never reach a prototype', () => {
    expect(toCheckable({ $ref: '#/__proto__' }).skipped).toHaveLength(1);
    expect(toCheckable({ $ref: '#/constructor/prototype' }).skipped).toHaveLength(1);
    const hostile = JSON.parse('{"properties":{"__proto__":{"type":"string"},"constructor":{}}}') as JsonObject;
    const { schema } = toCheckable(hostile);
    expect(Object.keys((schema as JsonObject)['properties'] as JsonObject)).toEqual(['__proto__', 'constructor']);
    expect(({} as JsonObject)['type']).toBeUndefined();
  });

  it('A25 a schema that doubles at every level is refused, a reasonable one is not', () => {
    expect(() => toCheckable(levels(22, 2))).toThrow('expands to more than 20000');
    expect(() => toCheckable(levels(10, 2))).not.toThrow();
    expect(() => toCheckable(levels(60, 1))).not.toThrow();
  });

  it('A25 a reference that never ends is refused, recursion through the data is not', () => {
    const endless: JsonValue[] = [
      { $ref: '#' },
      { anyOf: [{ $ref: '#' }, { $ref: '#' }] },
      {
        properties: { a: { $ref: '#/$defs/x' } },
        $defs: { x: { allOf: [{ $ref: '#/$defs/y' }] }, y: { $ref: '#/$defs/x' } },
      },
    ];
    for (const schema of endless) expect(() => toCheckable(schema)).toThrow('without end');
    const tree = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } };
    expect(toCheckable(tree).skipped).toEqual([]);
  });

  it('A25 too deep, too large and too many are refused', () => {
    expect(() => toCheckable(nested(500))).toThrow('nests deeper');
    expect(() => toCheckable(nested(20))).not.toThrow();
    expect(() => toCheckable(many(20_000))).toThrow('subschemas');
    expect(() => toCheckable(many(1000))).not.toThrow();
    expect(() => toCheckable({ enum: Array.from({ length: 50_000 }, (_, i) => i) })).not.toThrow();
    expect(() => toCheckable(undefined)).toThrow('not an object');
    expect(() => toCheckable(levels(1500, 1))).toThrow('references');
  });

  it('A25 what many refer to is converted once', () => {
    const big = { properties: Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`p${i}`, {}])) };
    const properties: JsonObject = { big };
    for (let i = 0; i < 200; i++) properties[`r${i}`] = { $ref: '#/properties/big' };
    const { schema } = toCheckable({ properties });
    expect(JSON.stringify(schema).match(/"p99"/g)).toHaveLength(1);
  });

  it('A24 a pattern that needs backtracking is left out, and so is what depends on it', () => {
    const { schema, skipped, patterns } = toCheckable({
      properties: { a: { pattern: '^(?!x)' }, b: { pattern: '^[a-z]+$' } },
      patternProperties: { '(?=y)': { type: 'string' }, '^z': { type: 'number' } },
      additionalProperties: false,
    });
    expect(skipped).toHaveLength(2);
    expect([...patterns.keys()]).toEqual(['^[a-z]+$', '^z']);
    expect(schema).toMatchObject({ properties: { a: {}, b: { pattern: '^[a-z]+$' } } });
    expect(schema).not.toHaveProperty('additionalProperties');
  });

  it('A24 patterns that would cost too much to compile are left out', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 50 }, (_, i) => [`p${i}`, { pattern: `${'a{1000}'.repeat(2)}${i}` }]),
    );
    const { patterns, skipped } = toCheckable({ properties });
    expect(patterns.size).toBeLessThan(5);
    expect(skipped.length + patterns.size).toBe(50);
  });
});
