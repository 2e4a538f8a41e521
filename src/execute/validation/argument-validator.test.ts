import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testTool } from '../../../test/support/test-tool.js';
import { COMPUTES_LONG } from '../../../test/support/patience.js';
import { repetitions } from '../../../test/support/long-form.js';
import type { Problem } from '../../kernel/errors.js';
import { hashJson } from '../../kernel/hash.js';
import type { JsonObject, JsonValue } from '../../kernel/json.js';
import type { Tool } from '../../model/tool.js';
import { createArgumentValidator } from './argument-validator.js';

const toolOf = (inputSchema: JsonValue, hash = hashJson(inputSchema)): Tool =>
  testTool('s', 't', { hash, definition: { name: 't', inputSchema } });

const toolWithNetworkRef = (hash: string): Tool => toolOf({ $ref: 'https://x.example' }, hash);

/** The problems as `path message` lines, and the warnings about parts that are not checked. */
async function check(schema: JsonValue, args: JsonValue) {
  const unchecked: string[] = [];
  const validator = createArgumentValidator({ onUnchecked: (_tool, reason) => unchecked.push(reason) });
  const problems = await validator.validate(toolOf(schema), args as JsonObject);
  return { lines: problems.map(({ path, message }) => `${path} ${message}`), unchecked };
}

const linesOf = async (schema: JsonValue, args: JsonValue): Promise<string[]> => (await check(schema, args)).lines;

describe('argument validator', () => {
  it('EXEC-2 good arguments have no problems', async () => {
    const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
    expect(await linesOf(schema, { path: '/a' })).toEqual([]);
    expect(await linesOf({}, {})).toEqual([]);
  });

  it('EXEC-3 each problem has its path and says what to do', async () => {
    const schema = {
      type: 'object',
      properties: {
        path: { type: 'string' },
        limit: { type: 'integer', minimum: 1 },
        mode: { type: 'string', enum: ['read', 'write'] },
        items: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
      },
      required: ['path'],
      additionalProperties: false,
    };
    const args = { limit: 0, mode: 'raed', items: [{ name: 5 }], pth: '/a' };
    expect((await linesOf(schema, args)).toSorted()).toEqual([
      '/items/0/name must be string, not number',
      '/limit must be >= 1',
      '/mode must be one of "read", "write"; did you mean "read"?',
      '/path is required',
      '/pth is not a known parameter; did you mean "path"?',
    ]);
  });

  it('EXEC-3 an unknown name without a likeness lists the known ones', async () => {
    const schema = { properties: { alpha: {}, beta: {} }, additionalProperties: false };
    expect(await linesOf(schema, { zzzzzz: 1 })).toEqual(['/zzzzzz is not a known parameter; known are alpha, beta']);
    expect(await linesOf({ additionalProperties: false }, { x: 1 })).toEqual(['/x is not a known parameter']);
    expect(await linesOf({ properties: { alpha: {} }, unevaluatedProperties: false }, { alpah: 1 })).toEqual([
      '/alpah is not a known parameter; did you mean "alpha"?',
    ]);
  });

  it('EXEC-2 a member that only a failing form of a union defines is refused where unevaluated ones are', async () => {
    const failing = { allOf: [{ anyOf: [{ additionalProperties: true }] }], not: { minimum: 1 } };
    const schema = { anyOf: [failing, { items: {} }], unevaluatedProperties: false };
    expect(await linesOf(schema, { a: {} })).not.toEqual([]);
  });

  it('EXEC-3 names with slashes are escaped in paths', async () => {
    expect(await linesOf({ required: ['a/b~c'] }, {})).toEqual(['/a~1b~0c is required']);
  });

  it('EXEC-3 reports a union once', async () => {
    const either = { properties: { x: { anyOf: [{ type: 'string' }, { type: 'null' }] } } };
    expect(await linesOf(either, { x: 5 })).toEqual(['/x must be string or null, not number']);
    const values = { properties: { x: { anyOf: [{ const: 'a' }, { const: 'b' }, { type: 'null' }] } } };
    expect(await linesOf(values, { x: 5 })).toEqual(['/x must be one of "a", "b", or null']);
    const forms = { properties: { x: { oneOf: [{ required: ['a'] }, { required: ['b'] }] } } };
    expect((await linesOf(forms, { x: {} })).toSorted()).toEqual([
      '/x must match one of the allowed forms',
      '/x/a is required',
      '/x/b is required',
    ]);
    expect(await linesOf(forms, { x: { a: 1, b: 1 } })).toEqual(['/x matches more than one of the allowed forms']);
  });

  it('EXEC-3 every other keyword gives a readable line', async () => {
    const schema = {
      properties: {
        a: { uniqueItems: true },
        b: { not: { type: 'string' } },
        c: false,
        d: { propertyNames: { pattern: '^x' } },
        e: { pattern: '^[a-z]+$' },
        f: { dependencies: { g: ['h'] } },
        i: { const: 3 },
        j: { maxLength: 2 },
      },
      ...(JSON.parse('{"if":{"required":["a"]},"then":{"required":["z"]}}') as JsonObject),
    };
    const args = {
      a: [
        { x: 1, y: 2 },
        { y: 2, x: 1 },
      ],
      b: '',
      c: 1,
      d: { y: 1 },
      e: 'A',
      f: { g: 1 },
      i: 4,
      j: 'abc',
    };
    expect((await linesOf(schema, args)).toSorted()).toEqual([
      '/a must not contain the same item twice',
      '/b has a form that is not allowed',
      '/c is not allowed',
      '/d/y is not an allowed name',
      '/e must match pattern "^[a-z]+$"',
      '/f/h is required together with "g"',
      '/i must be 3',
      '/j must not have more than 2 characters',
      '/z is required',
    ]);
  });

  it('EXEC-3 the list of problems is bounded', async () => {
    const schema = { properties: { a: { items: { type: 'string' } } } };
    const lines = await linesOf(schema, { a: Array.from({ length: 10_000 }, () => 1) });
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe('(arguments) have more problems; the first 20 are listed');
    expect(await linesOf(schema, { a: Array.from({ length: 20 }, () => 1) })).toHaveLength(20);
  });

  it('A45 of large arguments only what a problem names is printed', async () => {
    let reads = 0;
    const args: JsonObject = {};
    for (let index = 0; index < 1000; index++) {
      Object.defineProperty(args, `key${index}`, { enumerable: true, get: () => (reads++, 'v') });
    }
    const schemas: JsonObject[] = [
      { properties: { a: { type: 'string' } }, additionalProperties: false },
      { propertyNames: { maxLength: 2 } },
      { required: Array.from({ length: 100 }, (_, index) => `r${index}`) },
      { maxProperties: 1 },
    ];
    for (const schema of schemas) {
      reads = 0;
      expect((await linesOf(schema, args)).length).toBeLessThanOrEqual(21);
      // One read of each member is for the depth of the arguments.
      expect(reads).toBe(1000);
    }
    const fixed: JsonObject = { properties: { a: { const: 1 } } };
    reads = 0;
    expect(await linesOf(fixed, { a: args })).toEqual(['/a must be 1']);
    expect(reads).toBeLessThan(1100);
  });

  it('A45 a large enum that many references lead to is read once', async () => {
    let reads = 0;
    const values = Array.from({ length: 900 }, (_, index) => ({
      get id() {
        reads++;
        return index;
      },
    }));
    const refs = Array.from({ length: 400 }, () => ({ $ref: '#/$defs/e' }));
    const lines = await linesOf({ properties: { a: { allOf: refs } }, $defs: { e: { enum: values } } }, { a: 1 });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('(900 in all)');
    expect(reads).toBeLessThan(10_000);
  });

  it('EXEC-2 arguments are never changed', async () => {
    const schema = {
      properties: { a: { type: 'number', default: 5 }, b: { type: 'string', default: 'x' } },
      additionalProperties: false,
    };
    const args = { a: '7', extra: true };
    const problems = await linesOf(schema, args);
    expect(problems).toHaveLength(2);
    expect(args).toEqual({ a: '7', extra: true });
  });

  it('EXEC-2 the dialect decides what a keyword means', async () => {
    const items = [{ type: 'string' }];
    const tuple = { properties: { a: { items } } };
    expect(await linesOf(tuple, { a: [1] })).toEqual(['/a/0 must be string, not number']);
    const modern = { properties: { a: { prefixItems: items } } };
    expect(await linesOf(modern, { a: [1] })).toEqual(['/a/0 must be string, not number']);
    const old = { $schema: 'http://json-schema.org/draft-07/schema#', ...modern };
    expect(await linesOf(old, { a: [1] })).toEqual([]);
  });

  it('EXEC-2 formats are not checked, and recursion through the data is', async () => {
    expect(await linesOf({ properties: { a: { type: 'string', format: 'email' } } }, { a: 'no' })).toEqual([]);
    const tree = { properties: { name: { type: 'string' }, children: { items: { $ref: '#' } } } };
    const args = { name: 'a', children: [{ name: 'b', children: [{ name: 5 }] }] };
    expect(await linesOf(tree, args)).toEqual(['/children/0/children/0/name must be string, not number']);
  });

  it('EXEC-2 only the first call of all has to wait', async () => {
    const validator = createArgumentValidator();
    const tool = toolOf({ required: ['a'] });
    const first = validator.validate(tool, {});
    expect(first).toBeInstanceOf(Promise);
    expect(await first).toHaveLength(1);
    expect(validator.validate(tool, {})).toHaveLength(1);
    expect(validator.validate(toolOf({ required: ['b'] }), {})).toEqual([{ path: '/b', message: 'is required' }]);
  });

  it('EXEC-2 a schema is compiled once a hash, and the ones used longest ago are forgotten', async () => {
    let compiled = 0;
    const validator = createArgumentValidator({ maxCompiled: 2, onUnchecked: () => compiled++ });
    for (const hash of ['a', 'b', 'a', 'a', 'c', 'a']) await validator.validate(toolWithNetworkRef(hash), {});
    expect(compiled).toBe(3);
    await validator.validate(toolWithNetworkRef('b'), {});
    expect(compiled).toBe(4);
    await validator.validate(toolWithNetworkRef('a'), {});
    expect(compiled).toBe(4);
  });

  it('A30 refuses arguments that nest too deep or are not an object', async () => {
    let deep: JsonObject = {};
    for (let i = 0; i < 10_000; i++) deep = { a: deep };
    expect(await linesOf({}, deep)).toEqual(['(arguments) must not nest deeper than 64 levels']);
    expect(await linesOf({}, [])).toEqual(['(arguments) must be an object']);
    expect(await linesOf({}, null)).toEqual(['(arguments) must be an object']);
    expect(await linesOf({ minProperties: 1 }, {})).toEqual(['(arguments) must not have fewer than 1 properties']);
  });

  it('A27 names of the prototype are names like any other', async () => {
    const schema = JSON.parse(
      '{"properties":{"constructor":{"type":"string"},"toString":{"type":"string"}},"required":["valueOf"]}',
    ) as JsonObject;
    expect(await linesOf(schema, {})).toEqual(['/valueOf is required']);
    const args = JSON.parse('{"__proto__":{"x":1},"constructor":5,"valueOf":1}') as JsonObject;
    expect(await linesOf(schema, args)).toEqual(['/constructor must be string, not number']);
    const strict = JSON.parse(
      '{"properties":{"__proto__":{"type":"number"}},"additionalProperties":false}',
    ) as JsonObject;
    await linesOf(strict, args);
    expect(({} as JsonObject)['x']).toBeUndefined();
  });

  it('S19 what lies elsewhere is not fetched and not checked, the rest is', async () => {
    const schema = { properties: { a: { $ref: 'https://evil.example/s.json' }, b: { type: 'string' } } };
    const { lines, unchecked } = await check(schema, { a: 1, b: 1 });
    expect(lines).toEqual(['/b must be string, not number']);
    expect(unchecked).toEqual(['$ref https://evil.example/s.json: it points outside the schema']);
  });

  it('A24 a pattern runs in linear time, and one that cannot is not checked', async () => {
    const evil = { properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
    expect(await linesOf(evil, { a: `${'a'.repeat(50_000)}!` })).toEqual(['/a must match pattern "^(a+)+$"']);
    const lookahead = { properties: { a: { type: 'string', pattern: '^(?!x)' } } };
    const { lines, unchecked } = await check(lookahead, { a: 'x' });
    expect(lines).toEqual([]);
    expect(unchecked[0]).toMatch(/lookahead/);
  });

  it('A24 several patterns of one schema stay apart', async () => {
    const schema = {
      properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } },
      patternProperties: { '^x': { type: 'string' } },
    };
    expect(await linesOf(schema, { a: 'a', b: 'b', x1: 's', y: 1 })).toEqual([]);
    expect(await linesOf(schema, { a: 'b', b: 'a', x1: 1 })).toHaveLength(3);
  });

  it('A25 a schema that cannot be checked lets arguments pass, and says so once', async () => {
    const unchecked: string[] = [];
    const validator = createArgumentValidator({ onUnchecked: (_tool, reason) => unchecked.push(reason) });
    const bombs: JsonValue[] = [
      { $ref: '#' },
      { properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, {}])) },
    ];
    for (const bomb of bombs) {
      expect(await validator.validate(toolOf(bomb), { a: 1 })).toEqual([]);
      expect(await validator.validate(toolOf(bomb), { a: 1 })).toEqual([]);
    }
    expect(unchecked).toHaveLength(2);
    expect(await validator.validate(toolOf({ required: ['a'] }), {})).toHaveLength(1);
  });

  it('A25 A45 a run that would visit too much ends, and the arguments are refused', async () => {
    const tooLarge = [expect.stringContaining('must be smaller to be checked against the input schema') as string];
    const doubling = {
      type: 'object',
      properties: { k: { anyOf: [{ $ref: '#' }, { $ref: '#' }, { type: 'null' }] } },
      additionalProperties: false,
    };
    let args: JsonObject = { k: 5 };
    for (let depth = 0; depth < 50; depth++) args = { k: args };
    expect(await linesOf(doubling, args)).toEqual(tooLarge);
    expect(await linesOf(doubling, { k: null })).toEqual([]);

    const enumerated = { properties: { a: { items: { enum: Array.from({ length: 10_000 }, (_, i) => i) } } } };
    expect(await linesOf(enumerated, { a: Array.from({ length: 100_000 }, () => -1) })).toEqual(tooLarge);
    const long = { properties: { a: { items: { pattern: 'a.*b' } } } };
    expect(await linesOf(long, { a: Array.from({ length: 100 }, () => 'a'.repeat(10_000)) })).toEqual(tooLarge);
  });

  it('A45 keywords that take longer the larger a value is are paid by its size', COMPUTES_LONG, async () => {
    const tooLarge = [expect.stringContaining('must be smaller to be checked against the input schema') as string];
    const times = (count: number, schema: JsonObject): JsonObject => ({
      properties: { v: { allOf: Array.from({ length: count }, () => ({ ...schema })) } },
    });
    const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]));
    const names = Array.from({ length: 1900 }, (_, index) => `r${index}`);
    const objects = Array.from({ length: 1000 }, (_, index) => ({ id: index }));
    const hostile: Array<readonly [schema: JsonObject, value: JsonValue]> = [
      [times(100, { maxLength: 5_000_000 }), 'é'.repeat(300_000)],
      [times(100, { uniqueItems: true }), ['x'.repeat(50_000), 'y'.repeat(50_000)]],
      [times(100, { minProperties: 1 }), keys(5000)],
      [times(100, { additionalProperties: false }), keys(5000)],
      [times(100, { propertyNames: false }), keys(5000)],
      [times(100, { contains: false }), Array.from({ length: 5000 }, () => 1)],
      [times(1, { items: { required: names } }), Array.from({ length: 200 }, () => ({}))],
      [times(1, { items: { dependentRequired: { a: names } } }), Array.from({ length: 200 }, () => ({ a: 1 }))],
      [times(1, { enum: objects }), keys(5000)],
      [times(1, { pattern: '^(\\p{L}|\\p{N}|[^x])*(\\w|\\W){0,1000}$' }), 'ж'.repeat(5000)],
    ];
    for (const [schema, v] of hostile)
      expect(await linesOf(schema, { v }), JSON.stringify(schema).slice(0, 80)).toEqual(tooLarge);
  });

  it('EXEC-2 large values under one keyword each are checked and pass', async () => {
    const schema = {
      properties: {
        text: { type: 'string', maxLength: 5_000_000, minLength: 1 },
        map: { type: 'object', minProperties: 1, additionalProperties: { type: 'number' } },
        rows: { uniqueItems: true, items: { properties: { id: { type: 'number' } }, additionalProperties: false } },
      },
      additionalProperties: false,
    };
    const rows = Array.from({ length: 50_000 }, (_, id) => ({ id }));
    const map = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`key${index}`, index]));
    expect(await linesOf(schema, { text: 'x'.repeat(1_000_000), map, rows })).toEqual([]);
    expect(await linesOf(schema, { rows: [...rows, { id: 1 }] })).toEqual([
      '/rows must not contain the same item twice',
    ]);
  });

  it('A45 padding one field does not carry another past its pattern', async () => {
    const schema = {
      type: 'object',
      properties: { path: { type: 'string', pattern: '^/safe/' }, note: { type: 'string', pattern: '^[ -~]*$' } },
    };
    expect(await linesOf(schema, { path: '/etc/passwd', note: 'x'.repeat(1000) })).toHaveLength(1);
    expect(await linesOf(schema, { path: '/etc/passwd', note: 'x'.repeat(500_000) })).toHaveLength(1);
    const rows = {
      ...schema,
      properties: { ...schema.properties, rows: { type: 'array', items: { type: 'number' } } },
    };
    expect(await linesOf(rows, { path: '/etc/passwd', rows: Array.from({ length: 500_000 }, () => 1) })).toHaveLength(
      1,
    );
  });

  it('EXEC-2 ordinary large arguments are checked and pass', async () => {
    const row = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['a'] };
    const schema = { properties: { rows: { type: 'array', items: row }, text: { type: 'string', pattern: '^x' } } };
    const rows = Array.from({ length: 50_000 }, (_, index) => ({ a: 'x', b: index }));
    expect(await linesOf(schema, { rows, text: `x${'y'.repeat(100_000)}` })).toEqual([]);
    expect(await linesOf(schema, { rows: [...rows, { b: 1 }] })).toHaveLength(1);
  });

  it('EXEC-2 says yes and no exactly where a plain validator does', COMPUTES_LONG, async () => {
    const leaf = fc.constantFrom<JsonObject>(
      { type: 'string' },
      { type: ['integer', 'null'] },
      { enum: ['a', 1, null] },
      { const: 'a' },
      { minimum: 1 },
      { type: 'string', minLength: 1, pattern: '^a' },
      { $ref: '#/$defs/r' },
    );
    const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leaf,
        fc.record({
          properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')),
          required: fc.subarray(['a', 'b']),
        }),
        fc.record({
          type: fc.constant('object'),
          properties: fc.record({ a: tie('schema') }),
          additionalProperties: fc.boolean(),
        }),
        fc.record({ items: tie('schema'), uniqueItems: fc.boolean(), maxItems: fc.nat(3) }),
        fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
        fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1 }), unevaluatedProperties: fc.constant(false) }),
        fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
        fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }), not: tie('schema') }),
        fc
          .tuple(tie('schema'), tie('schema'), tie('schema'))
          .map((forms) => forms.map((form) => JSON.stringify(form)))
          .map(([a, b, c]) => JSON.parse(`{"if":${a},"then":${b},"else":${c}}`) as JsonObject),
        fc.record({ additionalProperties: tie('schema'), patternProperties: fc.record({ '^a': tie('schema') }) }),
      ),
    }));
    const { data } = fc.letrec<{ data: JsonValue }>((tie) => ({
      data: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<JsonValue>('a', 'b', '', 0, 1, 1.5, null, true),
        fc.array(tie('data'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('data'), { noNullPrototype: true }),
      ),
    }));
    const validator = createArgumentValidator();
    const found = { valid: 0, invalid: 0 };
    await fc.assert(
      fc.asyncProperty(schema, data, async (inner, value) => {
        const whole = {
          properties: { v: inner },
          $defs: { r: { type: 'object', properties: { a: { $ref: '#/$defs/r' } } } },
        };
        const plain = new Ajv2020({ strict: false, validateFormats: false, logger: false }).validate(whole, {
          v: value,
        });
        const problems: Problem[] = await validator.validate(toolOf(whole), { v: value });
        expect(problems.length === 0).toBe(plain);
        found[plain ? 'valid' : 'invalid']++;
      }),
      { numRuns: repetitions(40, 100) },
    );
    expect(found.valid).toBeGreaterThan(3);
    expect(found.invalid).toBeGreaterThan(3);
  });
});
