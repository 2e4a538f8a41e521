import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stdioServer } from '../../test/support/test-server.js';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import { leanDefinition } from './lean-definition.js';
import { normalizeTool } from './normalize.js';
import { readParameters } from './parameters.js';
import { compileRules } from './rules.js';
import { signatureOf } from './signature.js';

const server = stdioServer('github', { command: 'x' }, { tags: ['dev', 'safe'] });

const none = compileRules([]);

/** Nested objects without recursion, deeper than any walker may recurse. */
function nest(depth: number): JsonObject {
  let value: JsonObject = { type: 'string' };
  for (let i = 0; i < depth; i++) value = { type: 'object', properties: { a: value } };
  return value;
}

const shapes = (properties: Record<string, JsonValue>, rest: JsonObject = {}): Record<string, string> =>
  Object.fromEntries(
    readParameters({ type: 'object', properties, ...rest }).map((p) => [
      p.name,
      p.values ? `${p.type} ${p.values.join('|')}` : p.type,
    ]),
  );

const hash = (definition: JsonObject): string => normalizeTool(server, definition, none).hash;

const signature = (properties: Record<string, JsonValue>, required: string[] = []): string =>
  signatureOf(
    normalizeTool(server, { name: 'read_file', inputSchema: { type: 'object', properties, required } }, none),
  );

/** Any UTF-16 text, lone surrogates included. */
const anyText = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 127 }), fc.integer({ min: 0, max: 0xffff })), { maxLength: 60 })
  .map((codes) => String.fromCharCode(...codes));

describe('normalizeTool', () => {
  it('DISC-1 turns a listed tool into a Tool and keeps the definition untouched', () => {
    const definition: JsonObject = {
      name: 'list_issues',
      description: 'Lists issues. Slowly.',
      annotations: { title: 'List issues' },
      inputSchema: {
        type: 'object',
        properties: { repo: { type: 'string', description: ' The\nrepo ' } },
        required: ['repo'],
      },
      'x-vendor': { kept: true },
    };
    const rules = compileRules([{ pattern: 'list_*', tags: ['safe', 'read'] }]);
    const tool = normalizeTool(server, definition, rules);
    expect(tool).toMatchObject({
      server: 'github',
      name: 'list_issues',
      title: 'List issues',
      description: 'Lists issues. Slowly.',
      summary: 'Lists issues',
      parameters: [{ name: 'repo', type: 'string', required: true, description: 'The repo' }],
      domains: ['github', 'github.issues'],
      categories: ['crud.read'],
      tags: ['safe', 'read', 'dev'],
      status: 'enabled',
      provenance: 'protocol',
    });
    expect(tool.definition).toBe(definition);
    expect(tool.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('SCH-8 is marked as auto-approved exactly when the list of the client names it or has a pattern for it', () => {
    const marked = (autoApproved: string[] | undefined, name: string): boolean =>
      normalizeTool({ id: 's', tags: [], autoApproved }, { name }, compileRules([])).autoApproved === true;
    expect(marked(undefined, 'read_file')).toBe(false);
    expect(marked([], 'read_file')).toBe(false);
    expect(marked(['write_file'], 'read_file')).toBe(false);
    expect(marked(['write_file', 'read_file'], 'read_file')).toBe(true);
    expect(marked(['*'], 'read_file')).toBe(true);
    expect(marked(['read_*'], 'read_file')).toBe(true);
    expect(marked(['read_?ile'], 'read_file')).toBe(true);
    expect(marked(['read_*'], 'write_read_file')).toBe(false);
    // Nothing else is special in the lists of clients.
    expect(marked(['{read,write}*'], 'read_file')).toBe(false);
    expect(marked(['!*'], 'read_file')).toBe(false);
    expect(marked(['/read/'], 'read_file')).toBe(false);
  });

  it('PAT-5 a tool that a rule disables is disabled and says why', () => {
    const tool = normalizeTool(server, { name: 'x' }, compileRules([{ pattern: 'x', enabled: false }]));
    expect(tool).toMatchObject({ status: 'disabled', decision: { rule: 0, reason: 'rule 1 (pattern "x")' } });
  });

  it('A12 the hash changes with one byte and not with the order of keys', () => {
    const base = hash({ name: 'x', description: 'a', inputSchema: { type: 'object' } });
    expect(hash({ inputSchema: { type: 'object' }, description: 'a', name: 'x' })).toBe(base);
    expect(hash({ name: 'x', description: 'b', inputSchema: { type: 'object' } })).not.toBe(base);
  });

  it('A26 a definition that nests too deep becomes a disabled tool, not a crash', () => {
    const tool = normalizeTool(server, { name: 'deep', inputSchema: nest(20_000) }, none);
    expect(tool.status).toBe('disabled');
    expect(tool.decision.reason).toContain('nests deeper');
    expect(leanDefinition(tool.definition).name).toBe('deep');
  });

  it('A27 names of prototype members are ordinary names', () => {
    const definition = JSON.parse(
      '{"name":"__proto__","inputSchema":{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"integer"}},"required":["__proto__"]}}',
    ) as JsonObject;
    const tool = normalizeTool(server, definition, none);
    expect(signatureOf(tool)).toBe('__proto__(__proto__: string, constructor?: integer)');
    expect(({} as Record<string, unknown>).type).toBeUndefined();
  });

  it('DISC-1 is total: any JSON gives a tool, a signature and a lean definition within their bounds', () => {
    const schemaKeys = fc.constantFrom(
      'type',
      'properties',
      'items',
      'anyOf',
      'allOf',
      'enum',
      '$ref',
      'required',
      'const',
    );
    const json = fc.letrec<{ any: JsonValue }>((tie) => ({
      any: fc.oneof(
        { maxDepth: 5, withCrossShrink: true },
        fc.constantFrom<JsonValue>(null, true, 0, 'string', 'array', '#', '#/properties/a', ''),
        anyText,
        fc.array(tie('any'), { maxLength: 4 }),
        fc.dictionary(fc.oneof(schemaKeys, fc.string()), tie('any'), { maxKeys: 5 }),
      ),
    })).any;
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('name', 'title', 'description', 'inputSchema', 'annotations'), json),
        (raw) => {
          const tool = normalizeTool(server, raw, none);
          expect(tool.summary.length).toBeLessThanOrEqual(100);
          expect(signatureOf(tool).length).toBeLessThanOrEqual(300);
          expect(leanDefinition(raw).inputSchema).toBeTypeOf('object');
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe('readParameters', () => {
  it('FIND-1 names types the short way', () => {
    expect(
      shapes(
        {
          text: { type: 'string' },
          list: { type: 'array', items: { type: 'string' } },
          lists: { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
          mixed: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
          loose: { type: 'array' },
          choice: { type: 'string', enum: ['a', 'b'] },
          choices: { type: 'array', items: { enum: ['a', 'b'] } },
          fixed: { const: 5 },
          union: { anyOf: [{ type: 'string' }, { type: 'null' }, { type: 'boolean' }] },
          consts: { oneOf: [{ const: 'x' }, { const: 'y' }] },
          nullable: { type: ['integer', 'null'] },
          whole: { allOf: [{ description: 'x' }, { type: 'object' }] },
          implied: { properties: { a: {} } },
          ref: { $ref: '#/$defs/T' },
          lost: { $ref: '#/$defs/none' },
          far: { $ref: 'https://example.com/x' },
          loop: { $ref: '#/properties/loop' },
          odd: { type: 'date' },
          yes: true,
        },
        { $defs: { T: { type: 'string', enum: ['t'] } } },
      ),
    ).toEqual({
      text: 'string',
      list: 'string[]',
      lists: 'integer[][]',
      mixed: '(string|number)[]',
      loose: 'any[]',
      choice: 'string a|b',
      choices: 'string[] a|b',
      fixed: 'number 5',
      union: 'string|boolean',
      consts: 'string x|y',
      nullable: 'integer',
      whole: 'object',
      implied: 'object',
      ref: 'string t',
      lost: 'any',
      far: 'any',
      loop: 'any',
      odd: 'any',
      yes: 'any',
    });
  });

  it('DISC-1 finds properties of parts, and a branch of a choice requires nothing', () => {
    const found = readParameters({
      properties: { a: { type: 'string' } },
      required: ['a', 'c', 'missing'],
      allOf: [{ properties: { b: { type: 'string' } }, required: ['b'] }],
      anyOf: [{ properties: { c: { type: 'string' } } }, { properties: { d: { type: 'string' } }, required: ['d'] }],
    });
    expect(found.map((p) => [p.name, p.required])).toEqual([
      ['a', true],
      ['b', true],
      ['c', true],
      ['d', false],
    ]);
  });

  it('A25 a schema that doubles itself 60 times is read within a budget', () => {
    const $defs: JsonObject = { d0: { type: 'string' } };
    for (let i = 1; i <= 60; i++)
      $defs[`d${i}`] = { anyOf: [{ $ref: `#/$defs/d${i - 1}` }, { $ref: `#/$defs/d${i - 1}` }] };
    expect(shapes({ bomb: { $ref: '#/$defs/d60' }, x: { type: 'string' } }, { $defs }).bomb).toBe('any');
    expect(readParameters({ $ref: '#' })).toEqual([]);
    expect(readParameters({ allOf: [{ $ref: '#' }, { $ref: '#' }], properties: { a: {} } })).toHaveLength(1);
  });
});

describe('signatureOf', () => {
  it('FIND-1 required parameters come first, enums show their values', () => {
    expect(
      signature(
        { head: { type: 'number' }, path: { type: 'string' }, mode: { enum: ['r', 'w'] }, n: { enum: [1, 2] } },
        ['path'],
      ),
    ).toBe('read_file(path: string, head?: number, mode?: "r"|"w", n?: 1|2)');
    expect(signature({ s: { type: 'array', items: { enum: ['a', 'b'] } } })).toBe('read_file(s?: ("a"|"b")[])');
    expect(signature({})).toBe('read_file()');
  });

  it('FIND-1 what does not fit is counted', () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`parameter_${i}`, { type: 'string' }]));
    const text = signature(many);
    expect(text.length).toBeLessThanOrEqual(300);
    expect(text).toMatch(/, …\+\d+\)$/);
    const values = Array.from({ length: 40 }, (_, i) => `value-${i}`);
    expect(signature({ v: { enum: values } })).toMatch(/"value-0"\|.*\|…\)$/);
  });

  it('A16 control characters of names and values are shown escaped', () => {
    const text = signature({ 'a\u001b[2J': { enum: ['x\ny', '\u202e'] } });
    expect(text).not.toMatch(/[\p{Cc}\u202e]/u);
  });
});

describe('leanDefinition', () => {
  const definition: JsonObject = {
    name: 'x',
    title: 'X',
    description: 'Does x.'.repeat(40),
    inputSchema: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { $schema: { type: 'string' } },
    },
    outputSchema: { type: 'object' },
    annotations: { title: 'X', readOnlyHint: true, destructiveHint: false, openWorldHint: true },
    _meta: { a: 1 },
  };

  it('META-9 keeps what is needed to call, drops the dialect, and leaves the definition alone', () => {
    const before = structuredClone(definition);
    const lean = leanDefinition(definition);
    expect(Object.keys(lean)).toEqual(['name', 'description', 'inputSchema', 'annotations']);
    expect(lean.inputSchema).toEqual({ type: 'object', properties: { $schema: { type: 'string' } } });
    expect(definition).toEqual(before);
  });

  it('META-9 adds true hints only while they are cheap', () => {
    const long: JsonObject = { ...definition, description: 'Does x. '.repeat(400) };
    expect(leanDefinition(long).annotations).toEqual({ readOnlyHint: true, openWorldHint: true });
    const lean = JSON.stringify({ name: long.name, description: long.description, inputSchema: long.inputSchema });
    expect(JSON.stringify(leanDefinition(long)).length).toBeLessThanOrEqual(lean.length * 1.1);
  });

  it('META-9 what the dialect would have cost is room for hints, those about effects first', () => {
    const small: JsonObject = {
      name: 'write_file',
      description: 'Writes a file.',
      inputSchema: {
        type: 'object',
        properties: { path: { type: 'string' } },
        $schema: 'http://json-schema.org/draft-07/schema#',
      },
      annotations: { openWorldHint: true, idempotentHint: true, destructiveHint: true },
    };
    expect(leanDefinition(small).annotations).toEqual({ destructiveHint: true, idempotentHint: true });
  });

  it('META-10 says whether a tool reads or destroys at any cost where that decides how it is called', () => {
    const inputSchema = { type: 'object' };
    const get = { name: 'get', inputSchema, annotations: { readOnlyHint: true, openWorldHint: true } };
    expect(leanDefinition(get)).not.toHaveProperty('annotations');
    expect(leanDefinition(get, { effects: true }).annotations).toEqual({ readOnlyHint: true });
    const wipe = { name: 'wipe', inputSchema, annotations: { destructiveHint: true } };
    expect(leanDefinition(wipe, { effects: true }).annotations).toEqual({ destructiveHint: true });
  });

  it('META-9 a missing schema is the empty object schema', () => {
    expect(leanDefinition({ name: 'x' })).toEqual({ name: 'x', inputSchema: { type: 'object' } });
  });
});
