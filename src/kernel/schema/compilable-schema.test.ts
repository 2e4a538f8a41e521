import { AjvJsonSchemaValidator as ValidatorV2 } from '@modelcontextprotocol/client/validators/ajv';
import { AjvJsonSchemaValidator as ValidatorV1 } from '@modelcontextprotocol/sdk/validation/ajv';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCompilable } from './compilable-schema.js';
import type { JsonObject } from '../json.js';
import { COMPUTES_LONG } from '../../../test/support/patience.js';
import { repetitions } from '../../../test/support/long-form.js';

const DRAFT_7 = 'http://json-schema.org/draft-07/schema#';

const keywords = [
  'type', 'enum', 'const', 'properties', 'patternProperties', 'additionalProperties', 'items', 'prefixItems', 'additionalItems',
  'anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else', 'required', 'minimum', 'exclusiveMinimum', 'multipleOf', 'minLength',
  'pattern', 'format', 'uniqueItems', 'dependencies', 'dependentRequired', 'dependentSchemas', '$ref', '$defs', 'definitions',
  '$id', 'id', '$schema', '$anchor', '$dynamicRef', '$recursiveRef', '$comment', 'nullable', 'default', 'title', 'contains',
  'minContains', 'unevaluatedProperties', 'propertyNames', '$async', 'discriminator', 'formatMinimum', '$vocabulary', 'examples',
]; // prettier-ignore
const { schema } = fc.letrec<{ schema: unknown; value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>(null, true, false, 0, 1, -1, 1.5, 'object', 'string', 'null', 'any', '[a-z', '^a$', '(?<n>a)', 'email', '#', '#/$defs/a', '#/definitions/a', '#/properties/a', 'https://example.com/x', DRAFT_7, 'https://json-schema.org/draft/2020-12/schema'), // prettier-ignore
    fc.constantFrom<unknown>([], ['a'], [null], {}, { a: {} }, { a: ['b'] }, ['object', 'null'], ['string', 'strin']),
    fc.array(tie('schema'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'type', '[a'), tie('schema'), { maxKeys: 2 }),
    tie('schema'),
  ),
  schema: fc.dictionary(fc.constantFrom(...keywords), tie('value'), { maxKeys: 4 }),
}));

describe('an output schema', () => {
  it('META-5 that counts as compilable compiles in the clients of both SDKs', COMPUTES_LONG, () => {
    let compiled = 0;
    fc.assert(
      fc.property(schema, (raw) => {
        const candidate = JSON.parse(JSON.stringify(raw)) as JsonObject;
        if (!isCompilable(candidate)) return;
        compiled++;
        expect(() => new ValidatorV1().getValidator(candidate as never)).not.toThrow();
        expect(() => new ValidatorV2().getValidator(candidate as never)).not.toThrow();
      }),
      { numRuns: repetitions(200, 800) },
    );
    expect(compiled).toBeGreaterThan(20);
  });

  it.each<[string, JsonObject]>([
    ['local references', { type: 'object', properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: { $ref: '#' } } }],
    ['tuples of draft 7', { $schema: DRAFT_7, type: 'array', items: [{ type: 'string' }], additionalItems: false }],
    [
      'unions, formats, patterns',
      { anyOf: [{ type: 'string', format: 'email', pattern: '^a' }, true], nullable: true, type: 'string' },
    ],
  ])('META-5 with %s is compilable', (_, candidate) => {
    expect(isCompilable(candidate)).toBe(true);
  });

  it.each<[string, JsonObject]>([
    ['a reference to nothing', { properties: { a: { $ref: '#/$defs/missing' } } }],
    ['a reference to elsewhere', { $ref: 'https://example.com/schema.json' }],
    ['a pattern of another language', { type: 'object', properties: { a: { pattern: '(?i)abc' } } }],
    ['an unknown type', { properties: { a: { type: 'date' } } }],
    ['an unknown dialect', { $schema: 'https://example.com/dialect' }],
    ['draft 3 required', { properties: { a: { type: 'string', required: true } } }],
    ['draft 4 id', { id: 'x' }],
  ])('META-5 with %s is not', (_, candidate) => {
    expect(isCompilable(candidate)).toBe(false);
  });
});
