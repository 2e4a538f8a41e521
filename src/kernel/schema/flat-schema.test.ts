import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { flattenSchema } from './flat-schema.js';
import type { JsonObject, JsonValue } from '../json.js';
import { COMPUTES_LONG } from '../../../test/support/patience.js';

const string = { type: 'string' };
const number = { type: 'number' };

describe('a schema with a union at its root', () => {
  it('META-5 has the members of all branches; required is what every branch of oneOf and anyOf requires', () => {
    expect(
      flattenSchema({
        description: 'a or b',
        type: 'object',
        properties: { id: string },
        required: ['id'],
        oneOf: [
          { properties: { kind: { const: 'a' }, text: string }, required: ['kind', 'text'] },
          { properties: { kind: { const: 'b' }, count: number }, required: ['kind', 'count'] },
        ],
      }),
    ).toEqual({
      description: 'a or b',
      type: 'object',
      properties: { id: string, kind: { enum: ['a', 'b'] }, text: string, count: number },
      required: ['id', 'kind'],
    });
  });

  it('META-5 allOf adds the members and the requirements of every part; references are followed', () => {
    expect(
      flattenSchema({
        allOf: [{ $ref: '#/$defs/Base' }, { properties: { b: number }, required: ['b'] }],
        $defs: { Base: { type: 'object', properties: { a: string }, required: ['a'] } },
      }),
    ).toEqual({
      type: 'object',
      properties: { a: string, b: number },
      required: ['a', 'b'],
      $defs: { Base: { type: 'object', properties: { a: string }, required: ['a'] } },
    });
  });

  it('META-5 "at least one of" keeps the members and loses the demand', () => {
    const properties = { a: string, b: string };
    expect(
      flattenSchema({
        type: 'object',
        properties,
        anyOf: [{ required: ['a'] }, { required: ['b'] }],
        not: { required: ['c'] },
      }),
    ).toEqual({ type: 'object', properties });
  });

  it('META-5 a member that branches describe differently may be either; branches that are no object do not count', () => {
    expect(
      flattenSchema({
        anyOf: [
          { properties: { a: string }, required: ['a'] },
          { properties: { a: number }, required: ['a'] },
          { type: 'null' },
          false,
        ],
      }),
    ).toEqual({ type: 'object', properties: { a: { anyOf: [string, number] } }, required: ['a'] });
  });

  it('META-5 without one it stays the very same', () => {
    const schema = { type: 'object', properties: { a: { anyOf: [string, number] } } };
    expect(flattenSchema(schema)).toBe(schema);
  });

  it('A26 references in a circle, or many, end', () => {
    const circle = { anyOf: [{ $ref: '#/$defs/a' }], $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } };
    expect(flattenSchema(circle)).toMatchObject({ type: 'object', properties: {} });
    const own: JsonObject = {
      anyOf: [{ $ref: '#/$defs/a' }],
      $defs: { a: { anyOf: Array.from({ length: 20 }, () => ({ $ref: '#/$defs/a' })) } },
    };
    expect(flattenSchema(own)).toMatchObject({ type: 'object' });
    const chain = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, at) => [`a${at}`, { anyOf: [{ $ref: `#/$defs/a${at + 1}` }] }]),
    );
    expect(flattenSchema({ anyOf: [{ $ref: '#/$defs/a0' }], $defs: chain })).toMatchObject({ type: 'object' });
  });

  it('META-5 allows whatever the original allows of what one branch describes', COMPUTES_LONG, () => {
    const ajv = new Ajv2020({ strict: false });
    const members = fc.dictionary(
      fc.constantFrom('a', 'b', 'c', 'd'),
      fc.constantFrom<JsonObject>(string, number, { const: 'x' }, {}),
      { maxKeys: 3 },
    );
    const branch = fc.tuple(members, fc.boolean()).map(([properties, isRequired]) => ({
      type: 'object',
      properties,
      ...(isRequired && { required: Object.keys(properties) }),
      additionalProperties: false,
    }));
    const value = fc.constantFrom<JsonValue>('x', 'y', 1, null);
    fc.assert(
      fc.property(
        fc.constantFrom('anyOf', 'oneOf'),
        fc.array(branch, { minLength: 1, maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), value, { maxKeys: 4 }),
        (keyword, branches, instance) => {
          const original = { type: 'object', [keyword]: branches } as JsonObject;
          const flat = flattenSchema(original);
          for (const refused of ['oneOf', 'anyOf', 'allOf', 'not', 'enum']) expect(flat).not.toHaveProperty(refused);
          if (ajv.validate(original, instance)) expect(ajv.validate(flat, instance)).toBe(true);
        },
      ),
      { numRuns: 150 },
    );
  });
});
