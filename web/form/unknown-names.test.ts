import { describe, expect, it } from 'vitest';
import type { Json } from '../api/types.js';
import { fieldOf } from './field.js';
import { unknownNames, unknownText } from './unknown-names.js';
import { checkValue, type Draft } from './value.js';

const DAYS = { days: { type: 'integer' }, city: { type: 'string' } };
const textsFor = (schema: Json, value: Draft): string[] => unknownNames(fieldOf(schema), value).map(unknownText);

describe('arguments that a tool does not name', () => {
  it('STUDIO-1 are remarked on, with the name that was probably meant', () => {
    const schema = { type: 'object', properties: DAYS };
    expect(textsFor(schema, { days: 1, city: 'x' })).toEqual([]);
    expect(textsFor(schema, { dayz: 1, colour: 'x', left: undefined })).toEqual([
      'dayz is not in the schema of this tool. It is sent as it is. Did you mean days?',
      'colour is not in the schema of this tool. It is sent as it is.',
    ]);
    // The server decides about them.
    expect(checkValue(fieldOf(schema), { dayz: 1 })).toEqual([]);
  });

  it('STUDIO-1 stop the call where the schema allows no others, also inside a group or a list', () => {
    const inner = { type: 'object', properties: DAYS, additionalProperties: false };
    const schema = { type: 'object', properties: { trips: { type: 'array', items: inner } } };
    const value = { trips: [{ city: 'a' }, { citty: 'b' }] };
    expect(textsFor(schema, value)).toEqual([
      'trips.1.citty is not in the schema of this tool, which allows no other arguments. Did you mean city?',
    ]);
    expect(checkValue(fieldOf(schema), value)).toEqual([
      { path: '/trips/1/citty', message: 'is not in the schema of this tool' },
    ]);
  });

  it.each<[string, Json]>([
    ['any others', { type: 'object', properties: DAYS, additionalProperties: true }],
    ['others of a type', { type: 'object', properties: DAYS, additionalProperties: { type: 'string' } }],
    ['a pattern of names', { type: 'object', properties: DAYS, patternProperties: { '^x-': {} } }],
    ['several forms', { type: 'object', properties: DAYS, anyOf: [{ properties: { dayz: {} } }, {}] }],
    ['no names at all', { type: 'object' }],
  ])('STUDIO-1 are none where the schema has %s', (_what, schema) => {
    expect(textsFor(schema, { dayz: 1 })).toEqual([]);
  });
});
