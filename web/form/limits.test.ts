import { expect, it } from 'vitest';
import type { Json } from '../api/types.js';
import { fieldOf } from './field.js';
import { limitsText } from './limits.js';

const limitsFor = (schema: Json): string => {
  const field = fieldOf({ type: 'object', properties: { x: schema } });
  return field.kind === 'object' ? limitsText(field.fields[0]!.field) : '';
};

it.each<[string, Json]>([
  ['0 to 60000, default 5', { type: 'integer', minimum: 0, maximum: 60_000, default: 5 }],
  ['more than 0, less than 1', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }],
  ['at least 2, a multiple of 2', { type: 'number', minimum: 2, multipleOf: 2 }],
  ['at most 10 characters, default a', { type: 'string', maxLength: 10, default: 'a' }],
  ['exactly 2 characters', { type: 'string', minLength: 2, maxLength: 2 }],
  ['1 to 3 items, each once', { type: 'array', minItems: 1, maxItems: 3, uniqueItems: true }],
  ['default false', { type: 'boolean', default: false }],
  [`default ${'y'.repeat(60)}…`, { type: 'string', default: 'y'.repeat(200) }],
  ['', { type: 'string', default: '' }],
  ['', { enum: ['a'] }],
])('STUDIO-1 names limits and default: %s', (expected, schema) => {
  expect(limitsFor(schema)).toBe(expected);
});
