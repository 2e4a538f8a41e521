import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import { toCheckable } from './checkable-schema.js';
import { withoutPatterns } from './pattern-free.js';

const allows = (schema: JsonObject | boolean, value: JsonValue): boolean =>
  new Ajv2020({ strict: false, meta: false, validateSchema: false, logger: false }).validate(schema, value);
const relaxed = (schema: JsonObject): JsonObject | boolean => withoutPatterns(toCheckable(schema).schema);

describe('a schema without its patterns', () => {
  it('EXEC-2 still asks for everything else', () => {
    const schema = {
      properties: { content: { type: 'string', pattern: '^a' }, mode: { enum: ['read'] } },
      required: ['content'],
      additionalProperties: false,
    };
    expect(allows(relaxed(schema), { content: 'b', mode: 'read' })).toBe(true);
    for (const wrong of [{ content: 'b', mode: 'destroy' }, { content: 1 }, {}, { content: 'b', extra: 1 }]) {
      expect(allows(relaxed(schema), wrong)).toBe(false);
    }
  });

  it('EXEC-2 does not refuse for want of knowledge', () => {
    const pattern = '^a';
    const cases: ReadonlyArray<readonly [JsonObject, JsonValue]> = [
      [{ not: { pattern } }, 'b'],
      [{ oneOf: [{ pattern }, { type: 'string' }] }, 'b'],
      [JSON.parse('{"if":{"pattern":"^a"},"then":{"maxLength":1}}') as JsonObject, 'bbb'],
      [{ contains: { pattern }, maxContains: 1 }, ['a', 'b']],
      [{ patternProperties: { [pattern]: true }, additionalProperties: false }, { a: 1 }],
      [{ allOf: [{ patternProperties: { [pattern]: true } }], unevaluatedProperties: false }, { a: 1 }],
      [{ not: { $ref: '#/$defs/x' }, $defs: { x: { pattern } } }, 'b'],
      [{ contains: { pattern }, unevaluatedItems: false }, ['a', 'a']],
    ];
    for (const [schema, value] of cases) {
      expect(allows(schema, value), JSON.stringify(schema)).toBe(true);
      expect(allows(relaxed(schema), value), JSON.stringify(schema)).toBe(true);
    }
  });

  it('A27 members named like those of a prototype stay members', () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"type":"string","pattern":"a"}}}') as JsonObject;
    expect(JSON.stringify(relaxed(schema))).toContain('"__proto__":{"type":"string"');
    expect(({} as JsonObject)['type']).toBeUndefined();
  });

  it('EXEC-2 allows whatever the whole schema allows', () => {
    const leaf = fc.constantFrom<JsonObject>(
      { type: 'string' },
      { enum: ['a', 1, null] },
      { pattern: '^a' },
      { type: 'string', pattern: '^b' },
      { required: ['a'] },
      { $ref: '#/$defs/r' },
    );
    const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.record({ properties: fc.record({ a: tie('schema') }), additionalProperties: fc.boolean() }),
        fc.record({ items: tie('schema') }),
        fc.record({ contains: tie('schema'), maxContains: fc.nat(2) }),
        fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
        fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
        fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }), not: tie('schema') }),
        fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1 }), unevaluatedProperties: fc.constant(false) }),
        fc.record({ contains: tie('schema'), unevaluatedItems: fc.constant(false) }),
        fc
          .tuple(tie('schema'), tie('schema'), tie('schema'))
          .map((forms) => forms.map((form) => JSON.stringify(form)))
          .map(([a, b, c]) => JSON.parse(`{"if":${a},"then":${b},"else":${c}}`) as JsonObject),
        fc.record({
          additionalProperties: tie('schema'),
          patternProperties: fc.record({ '^a': tie('schema') }),
          propertyNames: tie('schema'),
        }),
      ),
    }));
    const { data } = fc.letrec<{ data: JsonValue }>((tie) => ({
      data: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<JsonValue>('a', 'b', '', 1, null),
        fc.array(tie('data'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b'), tie('data'), { noNullPrototype: true }),
      ),
    }));
    let refused = 0;
    fc.assert(
      fc.property(schema, data, (inner, value) => {
        const whole = { allOf: [inner], $defs: { r: { pattern: '^a', properties: { a: { $ref: '#/$defs/r' } } } } };
        if (allows(relaxed(whole), value)) return;
        refused++;
        expect(allows(whole, value)).toBe(false);
      }),
      { numRuns: 300 },
    );
    expect(refused).toBeGreaterThan(5);
  });
});
