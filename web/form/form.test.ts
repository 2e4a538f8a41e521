import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../api/types.js';
import { fieldOf, type Field } from './field.js';
import { checkValue, entryOf, fits, initialValue, newEntry, toArguments, withValueAt, type Draft } from './value.js';

function only(schema: Json, required = true): Field {
  const field = fieldOf({ type: 'object', properties: { x: schema }, required: required ? ['x'] : [] });
  if (field.kind !== 'object') throw new Error('no object');
  return field.fields[0]!.field;
}

describe('fieldOf', () => {
  it.each<[string, Json, Partial<Field>]>([
    [
      'a text',
      { type: 'string', minLength: 2, format: 'email', examples: ['a', 1] },
      { kind: 'text', minLength: 2, format: 'email', examples: ['a'] },
    ],
    [
      'a whole number',
      { type: 'integer', minimum: 1, exclusiveMaximum: 9 },
      { kind: 'number', integer: true, minimum: 1, below: 9 },
    ],
    ['yes or no', { type: 'boolean', default: true }, { kind: 'boolean', initial: true }],
    [
      'a choice',
      { enum: ['a', 2] },
      {
        kind: 'choice',
        options: [
          { label: 'a', value: 'a' },
          { label: '2', value: 2 },
        ],
      },
    ],
    [
      'a choice with names',
      { type: 'string', enum: ['a'], enumNames: ['Letter A'] },
      { kind: 'choice', options: [{ label: 'Letter A', value: 'a' }] },
    ],
    [
      'a choice of constants',
      { oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] },
      {
        kind: 'choice',
        options: [
          { label: 'A', value: 'a' },
          { label: 'b', value: 'b' },
        ],
      },
    ],
    ['a constant', { const: 7 }, { kind: 'choice', options: [{ label: '7', value: 7 }] }],
    ['a text or null', { type: ['string', 'null'] }, { kind: 'text', nullable: true }],
    [
      'a number or null',
      { anyOf: [{ type: 'number' }, { type: 'null' }], description: 'How many' },
      { kind: 'number', nullable: true, description: 'How many' },
    ],
    ['anything', {}, { kind: 'json' }],
    ['an object of any fields', { type: 'object' }, { kind: 'json' }],
    ['what is no schema', 'nonsense', { kind: 'json' }],
  ])('STUDIO-1 makes an input for %s', (_, schema, expected) => {
    expect(only(schema)).toMatchObject(expected);
  });

  it('STUDIO-1 makes inputs for nested objects, lists and unions', () => {
    const field = fieldOf({
      properties: {
        tags: { type: 'array', items: { type: 'string' }, minItems: 1, uniqueItems: true },
        target: {
          anyOf: [
            { title: 'File', properties: { path: { type: 'string' } }, required: ['path'] },
            { title: 'Page', properties: { url: { type: 'string' } } },
          ],
        },
        size: { type: ['string', 'integer'] },
      },
      required: ['target'],
    });
    expect(field).toMatchObject({
      kind: 'object',
      fields: [
        {
          name: 'target',
          field: {
            kind: 'union',
            variants: [
              { kind: 'object', label: 'File' },
              { kind: 'object', label: 'Page' },
            ],
          },
        },
        { name: 'tags', field: { kind: 'list', item: { kind: 'text' }, minItems: 1, unique: true } },
        { name: 'size', field: { kind: 'union', variants: [{ kind: 'text' }, { kind: 'number', integer: true }] } },
      ],
    });
  });

  it('STUDIO-1 follows references and joins allOf', () => {
    const field = fieldOf({
      $defs: {
        place: { type: 'object', properties: { lat: { type: 'number' } }, required: ['lat'] },
        'a/b': { type: 'boolean' },
      },
      properties: {
        where: {
          allOf: [{ $ref: '#/$defs/place' }, { properties: { lon: { type: 'number' } } }],
          description: 'Where',
        },
        flag: { $ref: '#/$defs/a~1b' },
        gone: { $ref: '#/$defs/missing' },
        far: { $ref: 'https://example.com/schema' },
      },
    });
    expect(field).toMatchObject({
      fields: [
        {
          name: 'where',
          field: {
            kind: 'object',
            description: 'Where',
            fields: [{ name: 'lat', field: { required: true } }, { name: 'lon' }],
          },
        },
        { name: 'flag', field: { kind: 'boolean' } },
        { name: 'gone', field: { kind: 'json' } },
        { name: 'far', field: { kind: 'json' } },
      ],
    });
  });

  it('STUDIO-1 ends with JSON where a schema contains itself or has thousands of fields', () => {
    const tree = {
      $defs: { node: { type: 'object', properties: { child: { $ref: '#/$defs/node' } } } },
      properties: { root: { $ref: '#/$defs/node' } },
    };
    expect(JSON.stringify(fieldOf(tree)).length).toBeLessThan(5000);
    expect(fieldOf({ properties: { x: { $ref: '#/properties/x' } } })).toMatchObject({
      fields: [{ field: { kind: 'json' } }],
    });
    const wide = {
      properties: Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`f${index}`, { type: 'string' }])),
    };
    const field = fieldOf(wide);
    expect(
      field.kind === 'object' && field.fields.filter((one) => one.field.kind === 'text').length,
    ).toBeLessThanOrEqual(400);
  });

  it('STUDIO-1 makes a form of any JSON whatsoever', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (schema) => {
        const field = fieldOf(schema as Json);
        checkValue(field, initialValue(field));
      }),
    );
  });
});

describe('values', () => {
  const field = fieldOf({
    properties: {
      name: { type: 'string', minLength: 2, maxLength: 4, pattern: '^[a-z]+$' },
      mail: { type: 'string', format: 'email' },
      count: { type: 'integer', minimum: 1, maximum: 10, multipleOf: 2 },
      ratio: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
      color: { enum: ['red', 'blue'], default: 'red' },
      sure: { type: 'boolean' },
      tags: { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 3, uniqueItems: true },
      deep: { type: 'object', properties: { inner: { type: 'number' } }, required: ['inner'] },
      either: { oneOf: [{ type: 'string', minLength: 3 }, { type: 'integer' }] },
    },
    required: ['name'],
  });
  const problems = (value: JsonObject): string[] =>
    checkValue(field, value).map(({ path, message }) => `${path} ${message}`);

  it.each<[JsonObject, string[]]>([
    [{ name: 'abc' }, []],
    [{}, ['/name is required']],
    [{ name: 'a' }, ['/name must have at least 2 characters']],
    [{ name: 'abcde' }, ['/name must have at most 4 characters, not 5']],
    [{ name: 'ABC' }, ['/name must match the pattern ^[a-z]+$']],
    [{ name: 'abc', mail: 'x' }, ['/mail must be an e-mail address']],
    [{ name: 'abc', count: 1.5 }, ['/count must be a whole number']],
    [{ name: 'abc', count: 0 }, ['/count must be at least 1']],
    [{ name: 'abc', count: 12 }, ['/count must be at most 10']],
    [{ name: 'abc', count: 3 }, ['/count must be a multiple of 2']],
    [{ name: 'abc', count: 'x' }, ['/count must be a number']],
    [{ name: 'abc', ratio: 0 }, ['/ratio must be more than 0']],
    [{ name: 'abc', ratio: 1 }, ['/ratio must be less than 1']],
    [{ name: 'abc', color: 'green' }, ['/color must be one of red, blue']],
    [{ name: 'abc', sure: 'yes' }, ['/sure must be true or false']],
    [{ name: 'abc', sure: null }, ['/sure must not be null']],
    [{ name: 'abc', tags: ['a'] }, ['/tags must have at least 2 items']],
    [{ name: 'abc', tags: ['a', 'b', 'c', 'd'] }, ['/tags must have at most 3 items']],
    [{ name: 'abc', tags: ['a', 'a'] }, ['/tags must not have the same item twice']],
    [{ name: 'abc', tags: ['a', 2] }, ['/tags/1 must be a text']],
    [{ name: 'abc', tags: 'a' }, ['/tags must be a list']],
    [{ name: 'abc', deep: {} }, ['/deep/inner is required']],
    [{ name: 'abc', deep: 1 }, ['/deep must be an object']],
    [{ name: 'abc', either: 'ab' }, ['/either must have at least 3 characters']],
    [{ name: 'abc', either: 5 }, []],
  ])('STUDIO-1 says before sending what is wrong with %j', (value, expected) => {
    expect(problems(value)).toEqual(expected);
  });

  it('STUDIO-1 an entry that is added to a list must be filled in before it is sent', () => {
    const list = (items: Json) => only({ type: 'array', items }) as Field & { kind: 'list' };
    const texts = list({ type: 'string' });
    const said = (entry: Draft): string[] => checkValue(texts, [entry]).map(({ message }) => message);
    expect(said(newEntry(texts))).toEqual(['is required']);
    expect([said(entryOf(texts, '')), said(entryOf(texts, 'bug'))]).toEqual([['is required'], []]);
    // What the schema offers is an entry, also where it is empty.
    expect(newEntry(list({ type: 'string', default: '' }))).toBe('');
    expect(entryOf(list({ enum: ['', 'a'] }), '')).toBe('');
  });

  it('STUDIO-1 starts with defaults and sends nothing that was left alone', () => {
    expect(toArguments(initialValue(field))).toEqual({ color: 'red' });
    expect(toArguments({ a: undefined, b: [undefined, 1], c: { d: undefined } })).toEqual({ b: [null, 1], c: {} });
    expect(
      initialValue(
        fieldOf({
          properties: {
            l: { type: 'array', minItems: 2, items: {} },
            u: { anyOf: [{ type: 'string', default: 'x' }, { type: 'number' }] },
            c: { const: 1 },
          },
          required: ['l', 'u', 'c'],
        }),
      ),
    ).toEqual({
      l: [undefined, undefined],
      u: 'x',
      c: 1,
    });
  });

  it('STUDIO-1 a name of a prototype is a name like any other', () => {
    const value = JSON.parse('{"__proto__":1}') as JsonObject;
    expect(JSON.stringify(toArguments(value))).toBe('{"__proto__":1}');
  });

  it('STUDIO-1 replaces one place of a value', () => {
    expect(withValueAt({ a: [1, { b: 2 }] }, ['a', 1, 'b'], 3)).toEqual({ a: [1, { b: 3 }] });
    expect(withValueAt(undefined, ['a', 0], 'x')).toEqual({ a: ['x'] });
  });

  it('STUDIO-1 tells the variant of a union by the constant that names it', () => {
    const union = only({
      oneOf: [
        { properties: { kind: { const: 'a' } }, required: ['kind'] },
        { properties: { kind: { const: 'b' } }, required: ['kind'] },
      ],
    });
    const which = (value: JsonObject): number =>
      union.kind === 'union' ? union.variants.findIndex((variant) => fits(variant, value)) : -1;
    expect([which({ kind: 'a' }), which({ kind: 'b' }), which({})]).toEqual([0, 1, -1]);
  });

  it('STUDIO-1 does not run patterns that could stop the page', () => {
    const evil = only({ type: 'string', pattern: '^(a+)+$' });
    expect(checkValue(evil, `${'a'.repeat(40)}!`)).toEqual([]);
    expect(checkValue(only({ type: 'string', pattern: '(' }), 'x')).toEqual([]);
  });
});
