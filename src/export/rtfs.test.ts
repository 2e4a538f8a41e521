import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../../test/support/any-text.js';
import { COMPUTES_LONG } from '../../test/support/patience.js';
import { repetitions } from '../../test/support/long-form.js';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import { Manifest } from '../model/manifest.js';
import { shapeOf } from './read-schema.js';
import { readRtfs } from './rtfs/read-rtfs.js';
import { capabilityText, rtfsFile, typeText } from './rtfs/write-rtfs.js';
import { schemaOf } from './write-schema.js';

const ISSUES: JsonObject = {
  type: 'object',
  properties: {
    owner: { type: 'string' },
    repo: { type: 'string' },
    state: { type: 'string', enum: ['open', 'closed', 'all'] },
  },
  required: ['owner', 'repo'],
};

const MANIFEST: Manifest = {
  id: 'mcp.github.list_issues',
  version: '1.0.0',
  description: 'List issues in a GitHub repository',
  inputSchema: ISSUES,
  outputSchema: {
    type: 'array',
    items: {
      type: 'object',
      properties: { id: { type: 'integer' }, title: { type: 'string' }, state: { type: 'string' } },
      required: ['id', 'title', 'state'],
    },
  },
  parameters: [],
  provider: { type: 'mcp', serverUrl: 'https://api.github.com/mcp', toolName: 'list_issues' },
  domains: ['github', 'github.issues'],
  categories: ['crud.read'],
};

const EXAMPLE = `(capability :mcp.github.list_issues
  :version "1.0.0"
  :description "List issues in a GitHub repository"
  :input-schema [:map
    [:owner :string]
    [:repo :string]
    [:state {:optional true} :string]]
  :output-schema [:vector [:map
    [:id :int]
    [:title :string]
    [:state :string]]]
  :provider {:type :mcp
             :server-url "https://api.github.com/mcp"
             :tool-name "list_issues"}
  :domains ["github" "github.issues"]
  :categories ["crud.read"])`;

const many = (length: number, value: JsonValue): JsonValue[] => Array.from({ length }, () => value);

const typeOf = (schema: JsonValue | undefined): string => typeText(shapeOf(schema)).replace(/\s+/g, ' ');

describe('JSON Schema as an RTFS type', () => {
  it('SCH-1 the example converts to exactly its text', () => {
    expect(typeText(shapeOf(ISSUES))).toBe(
      '[:map\n  [:owner :string]\n  [:repo :string]\n  [:state {:optional true} :string]]',
    );
  });

  it.each<[string, JsonValue, string]>([
    ['a string', { type: 'string' }, ':string'],
    ['an integer', { type: 'integer' }, ':int'],
    ['a number', { type: 'number' }, ':float'],
    ['a boolean', { type: 'boolean' }, ':bool'],
    ['an array', { type: 'array', items: { type: 'integer' } }, '[:vector :int]'],
    ['an array of anything', { type: 'array' }, '[:vector :any]'],
    ['a tuple', { type: 'array', items: [{ type: 'string' }, { type: 'integer' }] }, '[:vector [:union :string :int]]'],
    ['an object without properties', { type: 'object' }, '[:map]'],
    [
      'properties without a type',
      { properties: { b: { type: 'string' }, a: {} } },
      '[:map [:b {:optional true} :string] [:a {:optional true} :any]]',
    ],
    ['an enum', { enum: ['a', 'b'] }, ':string'],
    ['an enum of numbers', { type: 'integer', enum: [1, 2] }, ':int'],
    ['a mixed enum', { enum: ['a', 1] }, ':any'],
    ['a const', { const: true }, ':bool'],
    ['null', { type: 'null' }, ':any'],
    ['a nullable type', { type: 'string', nullable: true }, ':any'],
    ['a type or null', { type: ['string', 'null'] }, ':any'],
    ['two types', { type: ['string', 'integer'] }, '[:union :string :int]'],
    ['an unknown type', { type: 'date' }, ':any'],
    ['nothing', {}, ':any'],
    ['true', true, ':any'],
    ['false', false, ':any'],
    ['no schema', 'string', ':any'],
    ['anyOf without null', { anyOf: [{ type: 'string' }, { type: 'null' }] }, ':string'],
    ['anyOf null alone', { anyOf: [{ type: 'null' }] }, ':any'],
    [
      'anyOf with duplicates',
      { anyOf: [{ type: 'string' }, { enum: ['x'] }, { type: 'boolean' }] },
      '[:union :string :bool]',
    ],
    [
      'oneOf within anyOf',
      { anyOf: [{ oneOf: [{ type: 'string' }, { type: 'integer' }] }, { type: 'string' }] },
      '[:union :string :int]',
    ],
    ['anyOf with anything', { anyOf: [{ type: 'string' }, {}] }, ':any'],
    [
      'a choice of what is required',
      { type: 'object', properties: { a: {}, b: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      '[:map [:a {:optional true} :any] [:b {:optional true} :any]]',
    ],
    [
      'a choice of objects with a common part',
      {
        properties: { k: { type: 'string' } },
        required: ['k'],
        oneOf: [{ properties: { a: {} } }, { properties: { b: {} } }],
      },
      '[:union [:map [:k :string] [:a {:optional true} :any]] [:map [:k :string] [:b {:optional true} :any]]]',
    ],
    [
      'allOf',
      {
        allOf: [
          { properties: { a: { type: 'string' } } },
          { properties: { b: { type: 'integer' } }, required: ['a', 'b'] },
        ],
      },
      '[:map [:a :string] [:b :int]]',
    ],
    ['allOf of a number and an integer', { allOf: [{ type: 'number' }, { type: 'integer' }] }, ':int'],
    ['a contradiction', { allOf: [{ type: 'string' }, { type: 'integer' }] }, ':any'],
    [
      'a reference',
      { $defs: { 'a/b~c d': { type: 'integer' } }, properties: { x: { $ref: '#/$defs/a~1b~0c%20d' } } },
      '[:map [:x {:optional true} :int]]',
    ],
    ['a reference to nowhere', { $ref: '#/$defs/none' }, ':any'],
    ['a reference to elsewhere', { $ref: 'https://example.com/schema.json' }, ':any'],
    [
      'recursion',
      { $defs: { node: { properties: { next: { $ref: '#/$defs/node' } } } }, $ref: '#/$defs/node' },
      '[:map [:next {:optional true} :any]]',
    ],
    ['recursion through the root', { properties: { self: { $ref: '#' } } }, '[:map [:self {:optional true} :any]]'],
    [
      'names that are no keywords',
      { properties: { 'a b': {}, $top: {}, 'x"y': {}, '': {}, __proto__x: {} } },
      '[:map ["a b" {:optional true} :any] ["$top" {:optional true} :any] ["x\\"y" {:optional true} :any] ["" {:optional true} :any] [:__proto__x {:optional true} :any]]',
    ],
  ])('SCH-1 %s', (_what, schema, text) => {
    expect(typeOf(schema)).toBe(text);
  });

  it('SCH-1 a property called __proto__ is a property', () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"type":"integer"}},"required":["__proto__"]}') as JsonObject;
    expect(typeOf(schema)).toBe('[:map [:__proto__ :int]]');
    expect(shapeOf(schemaOf(shapeOf(schema)))).toEqual(shapeOf(schema));
    expect(({} as { type?: string }).type).toBeUndefined();
  });

  it('SCH-1 any JSON has a type, and reading its schema again gives the same', COMPUTES_LONG, () => {
    const json = fc.letrec<{ schema: JsonValue }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 5 },
        fc.jsonValue() as fc.Arbitrary<JsonValue>,
        fc.record(
          {
            type: fc.oneof(
              fc.constantFrom('string', 'integer', 'number', 'boolean', 'array', 'object', 'null', 'x'),
              fc.array(fc.constantFrom('string', 'integer', 'object', 'null'), { maxLength: 3 }),
            ),
            properties: fc.dictionary(
              fc.oneof(fc.constantFrom('a', 'b', '__proto__'), anyText({ maxLength: 5 })),
              tie('schema'),
              { maxKeys: 3 },
            ),
            required: fc.array(fc.constantFrom('a', 'b', '__proto__'), { maxLength: 3 }),
            items: tie('schema'),
            anyOf: fc.array(tie('schema'), { maxLength: 3 }),
            oneOf: fc.array(tie('schema'), { maxLength: 3 }),
            allOf: fc.array(tie('schema'), { maxLength: 2 }),
            enum: fc.array(fc.jsonValue({ maxDepth: 0 }) as fc.Arbitrary<JsonValue>, { maxLength: 3 }),
            $ref: fc.constantFrom('#', '#/properties/a', '#/items', '#/anyOf/0', '#/nope', 'x'),
            nullable: fc.boolean(),
          },
          { requiredKeys: [] },
        ) as fc.Arbitrary<JsonValue>,
      ) as fc.Arbitrary<JsonValue>,
    })).schema;
    fc.assert(
      fc.property(
        json,
        fc.constantFrom('standard' as const, 'ccos' as const),
        anyText(),
        (schema, dialect, description) => {
          const shape = shapeOf(schema);
          expect(shapeOf(schemaOf(shape))).toEqual(shape);
          const inputSchema = schemaOf(shape);
          const text = rtfsFile({ ...MANIFEST, description, inputSchema, outputSchema: inputSchema }, dialect);
          const read = readRtfs(text);
          expect(read.description).toBe(description);
          expect(shapeOf(read.inputSchema)).toEqual(shape);
          expect(rtfsFile(read, dialect)).toBe(text);
          shapeOf(schema, { rich: true });
        },
      ),
      { numRuns: repetitions(150, 500) },
    );
  });

  it('SCH-1 a schema that would fill the memory is cut to the bounds', () => {
    const $defs: JsonObject = {};
    for (let level = 0; level < 40; level++) {
      const next = { $ref: `#/$defs/d${level + 1}` };
      $defs[`d${level}`] = { type: 'object', properties: { a: next, b: next, c: next } };
    }
    const doubling = typeText(shapeOf({ $defs, $ref: '#/$defs/d0' }));
    expect(doubling.length).toBeLessThan(8_000_000);
    expect(doubling).toContain(':any');

    const choice = { anyOf: Array.from({ length: 30 }, (_, at) => ({ properties: { [`k${at}`]: {} } })) };
    const product = shapeOf({
      allOf: Array.from({ length: 12 }, (_, at) => ({
        anyOf: choice.anyOf.map((each) => ({ properties: { [`p${at}`]: each } })),
      })),
    });
    expect(typeText(product).length).toBeLessThan(8_000_000);
  });

  it.each<[string, JsonObject]>([
    [
      'a long reference',
      { $defs: { x: { $ref: `#/${'a/'.repeat(50_000)}` } }, anyOf: many(6000, { $ref: '#/$defs/x' }) },
    ],
    ['a long enum of objects', { $defs: { x: { enum: many(50_000, {}) } }, anyOf: many(6000, { $ref: '#/$defs/x' }) }],
    [
      'many members that are null',
      { $defs: { x: { anyOf: many(15_000, { type: 'null' }) } }, oneOf: many(5000, { $ref: '#/$defs/x' }) },
    ],
    [
      'many required names',
      { required: Array.from({ length: 20_000 }, (_, at) => `r${at}`), anyOf: many(7000, { required: ['a'] }) },
    ],
    [
      'many types',
      {
        $defs: { x: { type: Array.from({ length: 30_000 }, (_, at) => at) } },
        anyOf: many(6000, { $ref: '#/$defs/x' }),
      },
    ],
    [
      'required names behind references',
      Object.fromEntries([
        ['$ref', '#/l0'],
        ...Array.from({ length: 9 }, (_, level) => [`l${level}`, { allOf: many(50, { $ref: `#/l${level + 1}` }) }]),
      ]),
    ],
  ])('SCH-1 %s costs no more than its size', (_what, schema) => {
    expect(typeText(shapeOf(schema)).length).toBeLessThan(1_000_000);
    shapeOf(schema, { rich: true });
  });

  it('SCH-1 nesting beyond the bound is :any, and what is written can be read', () => {
    let deep: JsonObject = { type: 'string' };
    for (let level = 0; level < 5000; level++)
      deep = level % 2 ? { type: 'array', items: deep } : { type: 'object', properties: { a: deep }, required: ['a'] };
    const text = rtfsFile({ ...MANIFEST, inputSchema: deep });
    expect(text).toContain(':any');
    expect(rtfsFile(readRtfs(text))).toBe(text);
  });

  it('SCH-1 values of an enum are kept as validation, wherever they stand', () => {
    const inputSchema: JsonObject = {
      type: 'object',
      properties: {
        'odd name': { type: 'array', items: { enum: ['a"b', 'c\nd', '; e'] } },
        level: { anyOf: [{ type: 'string' }, { type: 'integer', enum: [1, 2] }] },
        flag: { enum: ['x', 1.5, false, null] },
      },
    };
    const text = rtfsFile({ ...MANIFEST, inputSchema });
    expect(text.split('\n').filter((line) => line.startsWith(';'))).toEqual([
      '; validation :input-schema ["odd name" :items] ["a\\"b" "c\\nd" "; e"]',
      '; validation :input-schema [:level 1] [1 2]',
      '; validation :input-schema [:flag] ["x" 1.5 false nil]',
    ]);
    expect(readRtfs(text).inputSchema).toEqual({
      type: 'object',
      properties: {
        'odd name': { type: 'array', items: { type: 'string', enum: ['a"b', 'c\nd', '; e'] } },
        level: { anyOf: [{ type: 'string' }, { type: 'integer', enum: [1, 2] }] },
        flag: { enum: ['x', 1.5, false, null] },
      },
    });
    expect(rtfsFile(readRtfs(text))).toBe(text);
  });
});

describe('RTFS files', () => {
  it('SCH-2 the example becomes exactly its text', () => {
    expect(capabilityText(MANIFEST)).toBe(EXAMPLE);
    expect(rtfsFile(MANIFEST)).toBe(`${EXAMPLE}\n; validation :input-schema [:state] ["open" "closed" "all"]\n`);
  });

  it('SCH-2 a local server has its command and arguments instead of a url', () => {
    const provider = { type: 'mcp', command: 'npx', args: ['-y', 'a "b"'], toolName: 'list_issues' } as const;
    expect(capabilityText({ ...MANIFEST, provider })).toContain(
      '  :provider {:type :mcp\n             :command "npx"\n             :args ["-y" "a \\"b\\""]\n             :tool-name "list_issues"}\n',
    );
    expect(readRtfs(rtfsFile({ ...MANIFEST, provider })).provider).toEqual(provider);
  });

  it('SCH-2 the ccos dialect prints optional entries as [:k T?]', () => {
    const inputSchema = {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'array', items: { type: 'integer' } } },
    };
    const text = capabilityText({ ...MANIFEST, inputSchema }, 'ccos');
    expect(text).toContain(':input-schema [:map\n    [:a :string?]\n    [:b [:vector :int]?]]');
    expect(capabilityText(readRtfs(text), 'ccos')).toBe(text);
  });

  it.each([
    '[:a {:optional true} :string]',
    '[:a :string?]',
    '[:a :string ?]',
    '["a" {:optional true} :string]',
    '[:a\n;; a comment\n {:optional true}, #| one more |# string]',
  ])('SCH-2 the reader takes the optional form %s', (entry) => {
    const read = readRtfs(EXAMPLE.replace('[:state {:optional true} :string]', entry));
    expect(read.inputSchema).toMatchObject({ properties: { a: { type: 'string' } }, required: ['owner', 'repo'] });
    expect(read.parameters.map(({ name, required }) => [name, required])).toEqual([
      ['owner', true],
      ['repo', true],
      ['a', false],
    ]);
  });

  it('SCH-2 what is read is a valid manifest with the same content', () => {
    const read = readRtfs(rtfsFile(MANIFEST));
    expect(Manifest.parse(read)).toMatchObject({
      id: MANIFEST.id,
      description: MANIFEST.description,
      provider: MANIFEST.provider,
      domains: MANIFEST.domains,
      categories: MANIFEST.categories,
      inputSchema: ISSUES,
      outputSchema: MANIFEST.outputSchema,
    });
  });

  it('SCH-2 a tool without an output has the type :any there, and none when it is read', () => {
    const { outputSchema: _none, ...rest } = MANIFEST;
    expect(capabilityText(rest)).toContain('\n  :output-schema :any\n');
    expect(readRtfs(rtfsFile(rest)).outputSchema).toBeUndefined();
  });

  it('SCH-2 no text of a server can leave its string', () => {
    const description =
      '"] :provider {:type :mcp :server-url "http://evil"}\n(capability :x)\\ \u202e\u0000\u2028\ud800';
    const text = rtfsFile({ ...MANIFEST, id: 'mcp.s.a) (b', description });
    expect(text).toMatch(/^[\x20-\x7e\n]*$/);
    expect(readRtfs(text)).toMatchObject({ id: 'mcp.s.a) (b', description, provider: MANIFEST.provider });
  });

  it.each([
    ['', 'line 1, column 1: expected (capability …), found nothing'],
    ['(capability :mcp.a.b', 'line 1, column 1: this bracket is not closed by ")"'],
    ['(capability\n  :mcp.a.b]', 'line 2, column 11: this "]" closes nothing'],
    ['(capability :mcp.a.b :description "x', 'line 1, column 35: this string has no end'],
    ['(capability :mcp.a.b\n :input-schema :strin)', 'line 2, column 16: there is no type the keyword "strin"'],
    ['(capability :mcp.a.b :input-schema [:map [:a]])', 'line 1, column 42: expected one type for the entry "a"'],
    [
      '(capability :mcp.a.b :input-schema [:map [:a :int] [:a :int]])',
      'line 1, column 36: duplicate entry "a" in this map',
    ],
    ['(capability :mcp.a.b :version)', 'line 1, column 22: expected a value after :version'],
    ['(capability :mcp.a.b :version "1" :version "2")', 'line 1, column 35: duplicate key :version'],
    ['(capability :mcp.a.b) (x)', 'line 1, column 23: expected one capability in a file'],
    [
      '(capability :a.b :provider {:type :mcp :command "x" :tool-name "y"})',
      'line 1, column 13: expected an id that begins with "mcp."',
    ],
    ['(capability :mcp.a.b)', 'line 1, column 1: expected a map as :provider, found nothing'],
    [
      `${EXAMPLE}\n; validation :input [] []`,
      'line 17, column 1: expected "; validation :input-schema [path] [values]"',
    ],
    [`${EXAMPLE}\n; validation :input-schema [{}] [1]`, 'line 17, column 1: expected a key'],
    [`${EXAMPLE}\n; validation :input-schema [] [:x]`, 'line 17, column 1: expected a value'],
    ['#| ', 'line 1, column 1: this comment has no end'],
  ])('SCH-2 %j is refused with its place', (text, message) => {
    expect(() => readRtfs(text)).toThrow(message);
  });

  it('SCH-2 a file with very many entries and values is read in linear time', COMPUTES_LONG, () => {
    const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, { enum: ['a'] }]));
    const text = rtfsFile({ ...MANIFEST, inputSchema: { type: 'object', properties } });
    expect(text.match(/^; validation/gm)!.length).toBeGreaterThan(5000);
    expect(rtfsFile(readRtfs(text))).toBe(text);
  });

  it('SCH-2 hostile text is refused or read, never more than that', () => {
    const brackets = '['.repeat(100_000);
    expect(() => readRtfs(`(capability :mcp.a.b :input-schema ${brackets}`)).toThrow('brackets nest deeper than');
    expect(() => readRtfs('"'.repeat(99_999))).toThrow('line 1');
    const pieces = fc.constantFrom(
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      '"',
      ':map',
      ':string?',
      '?',
      ';',
      '\n',
      'capability',
      ':mcp.a',
      '\\',
      '#|',
      '1e9',
      ' ',
      '; validation :input-schema [] []\n',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, anyText({ maxLength: 3 })), { maxLength: 30 }), (parts) => {
        try {
          readRtfs(parts.join(''));
        } catch (thrown) {
          expect(thrown).toMatchObject({ code: 'INVALID_REQUEST' });
        }
      }),
    );
  });
});
