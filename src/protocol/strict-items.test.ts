import { specTypeSchemas } from '@modelcontextprotocol/client';
import {
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ListToolsResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COMPUTES_LONG } from '../../test/support/patience.js';
import type { JsonObject } from '../kernel/json.js';
import { strictPrompt, strictResource, strictResourceTemplate, strictTool, type Strict } from './strict-items.js';

const LISTS = {
  tools: {
    strict: strictTool,
    v1: ListToolsResultSchema,
    v2: specTypeSchemas.ListToolsResult,
    fields: ['name', 'inputSchema', 'outputSchema', 'annotations', 'execution'],
  },
  prompts: {
    strict: strictPrompt,
    v1: ListPromptsResultSchema,
    v2: specTypeSchemas.ListPromptsResult,
    fields: ['name', 'arguments'],
  },
  resources: {
    strict: strictResource,
    v1: ListResourcesResultSchema,
    v2: specTypeSchemas.ListResourcesResult,
    fields: ['uri', 'name', 'mimeType', 'size', 'annotations'],
  },
  resourceTemplates: {
    strict: strictResourceTemplate,
    v1: ListResourceTemplatesResultSchema,
    v2: specTypeSchemas.ListResourceTemplatesResult,
    fields: ['uriTemplate', 'name', 'mimeType', 'annotations'],
  },
} as const;

/** Before 2026-07-28 an output schema described an object; others are left out for those hosts elsewhere. */
function asLegacy(item: JsonObject): JsonObject {
  const { outputSchema, ...rest } = item as { outputSchema?: JsonObject };
  return outputSchema?.['type'] === 'object' ? item : rest;
}

const words = [
  'src', 'mimeType', 'sizes', 'theme', 'title', 'readOnlyHint', 'audience', 'priority', 'lastModified', 'taskSupport',
  'type', 'properties', 'required', 'name', 'description', '$schema', '$id', '$ref', 'enum', 'items', 'anyOf',
]; // prettier-ignore
const values = fc.oneof(
  fc.constantFrom(
    null,
    true,
    false,
    0,
    1,
    -1,
    0.5,
    2,
    '',
    'object',
    'array',
    'light',
    'user',
    'required',
    '#',
    '\ud800',
  ),
  fc.constantFrom(
    '2026-01-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2024-02-29T10:00:00.5+01:00',
    '2026-01-01',
    '48x48 96x96',
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
const { junk } = fc.letrec<{ junk: unknown }>((tie) => ({
  junk: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    values,
    fc.dictionary(fc.constantFrom(...words), tie('junk'), { maxKeys: 4 }),
    fc.array(tie('junk'), { maxLength: 3 }),
  ),
}));

const good = { name: 'ok', uri: 'file:///ok', uriTemplate: 'file:///{ok}', inputSchema: { type: 'object' } };

describe.each(Object.entries(LISTS))('%s', (field, { strict, v1, v2, fields }) => {
  const entry = fc.record(
    Object.fromEntries(
      [...fields, 'title', 'description', 'icons', '_meta', 'vendor'].map((name) => [
        name,
        fc.oneof(
          { weight: 1, arbitrary: fc.constant((good as Record<string, unknown>)[name]) },
          { weight: 1, arbitrary: junk },
        ),
      ]),
    ),
    { requiredKeys: [] },
  );

  it(
    'META-5 whatever a server sends in any field, the list parses with the schemas of both SDKs',
    COMPUTES_LONG,
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 4 }), async (raw) => {
          const sent = JSON.parse(JSON.stringify([...raw, good])) as JsonObject[];
          const items = sent.map(strict).flatMap((each) => ('item' in each ? [each.item] : []));
          const legacy = JSON.parse(JSON.stringify({ [field]: items.map(asLegacy) })) as JsonObject;
          const modern = JSON.parse(JSON.stringify({ [field]: items })) as JsonObject;
          expect(v1.safeParse(legacy).error).toBeUndefined();
          expect((await v2['~standard'].validate(modern)).issues).toBeUndefined();
          // Half a character makes a parser in Rust or Python refuse the whole message.
          expect(JSON.stringify(items)).not.toMatch(/(^|[^\\])(\\\\)*\\ud[89a-f]/);
          expect(items.length).toBeGreaterThan(0);
        }),
        { numRuns: 400 },
      );
    },
  );

  it('META-5 an entry that is right stays the very same', () => {
    const item: JsonObject = {
      ...good,
      title: 'Right',
      description: 'It is right.',
      icons: [{ src: 'data:,', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' }],
      _meta: { 'example.com/x': null },
      vendor: [null],
      ...(field === 'tools' && {
        outputSchema: { type: 'object', properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: { type: 'string' } } },
        annotations: { readOnlyHint: true, vendorHint: 'x' },
        execution: { taskSupport: 'optional' },
      }),
      ...(field === 'prompts' && { arguments: [{ name: 'a', required: true, description: 'b' }] }),
      ...(field.startsWith('resource') && {
        mimeType: 'text/plain',
        annotations: { audience: ['user'], priority: 0.5, lastModified: '2024-02-29T10:00:00.5+01:00' },
      }),
    };
    const result = strict(item) as Extract<Strict, { item: JsonObject }>;
    expect(result.item).toBe(item);
    expect(result.repairs).toEqual([]);
  });
});

function repaired(result: Strict): Extract<Strict, { item: JsonObject }> {
  if ('fault' in result) throw new Error(result.fault);
  return result;
}

describe('repairs', () => {
  it('META-5 keep the meaning of a schema and say what was done', () => {
    const { item, repairs } = repaired(
      strictTool({
        name: 'odd',
        inputSchema: {
          properties: { any: true, none: false, empty: [], text: { type: 'string' } },
          required: ['text', 5],
        },
        outputSchema: { type: 'object', properties: null, required: null },
      }),
    );
    expect(item).toEqual({
      name: 'odd',
      inputSchema: {
        type: 'object',
        properties: { any: {}, none: { not: {} }, empty: {}, text: { type: 'string' } },
        required: ['text'],
      },
      outputSchema: { type: 'object' },
    });
    expect(repairs).toEqual([
      'inputSchema.properties.any written as an object: found a boolean',
      'inputSchema.properties.none written as an object: found a boolean',
      'inputSchema.properties.empty written as an object: found a list',
      'inputSchema.required reduced to its strings',
      'inputSchema.type set to "object"',
      'outputSchema.properties removed: expected an object, found null',
      'outputSchema.required removed: expected a list of strings, found null',
    ]);
  });

  it('META-5 A55 take out the one field that is wrong, not the entry', () => {
    const { item, repairs } = repaired(
      strictResource({
        uri: 'file:///a',
        mimeType: null,
        size: 1.5,
        icons: [{ src: 'data:,', sizes: '48x48' }, { href: 'x' }],
        annotations: { audience: ['user', 'robot'], priority: 7, lastModified: 'yesterday', vendor: 1 },
      }),
    );
    expect(item).toEqual({
      uri: 'file:///a',
      name: 'file:///a',
      icons: [{ src: 'data:,', sizes: ['48x48'] }],
      annotations: { audience: ['user'], vendor: 1 },
    });
    expect(repairs).toHaveLength(8);
    const prompt = repaired(
      strictPrompt({ name: 'p', arguments: [{ name: 'a', required: 'true' }, { description: 'nameless' }], _meta: [] }),
    );
    expect(prompt.item).toEqual({ name: 'p', arguments: [{ name: 'a', required: true }] });
    expect(repaired(strictPrompt({ name: 'p', arguments: null })).item).toEqual({ name: 'p' });
    const tool = { name: 't', inputSchema: { type: 'object' } };
    expect(
      repaired(strictTool({ ...tool, annotations: { readOnlyHint: 'yes', title: 'T' }, execution: 'sync', icons: 'x' }))
        .item,
    ).toEqual({ ...tool, annotations: { title: 'T' } });
  });

  it('META-5 A55 leave out what has no name, and a tool whose schema cannot be one', () => {
    expect(strictTool({ inputSchema: { type: 'object' } })).toEqual({ fault: 'it has no name' });
    expect(strictTool({ name: 'a', inputSchema: 'none' })).toEqual({ fault: 'its inputSchema is not an object' });
    expect(strictPrompt({ name: 5 })).toEqual({ fault: 'it has no name' });
    expect(strictResource({ name: 'a' })).toEqual({ fault: 'it has no uri' });
    expect(strictResourceTemplate({ name: 'a', uriTemplate: 'x\udc00' })).toEqual({
      fault: 'its uriTemplate is not well-formed Unicode',
    });
  });
});
