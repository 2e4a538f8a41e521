import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testTool } from '../../test/support/test-tool.js';
import type { JsonObject } from '../kernel/json.js';
import type { Tool } from '../model/tool.js';
import { inferOutput, mayBeTried, safeInput } from './infer-output.js';

const tool = (name: string, definition: JsonObject = {}, rest: Partial<Tool> = {}): Tool =>
  testTool('s', name, { categories: ['crud.read'], definition: { name, ...definition }, ...rest });

const takes = (properties: JsonObject, required = Object.keys(properties)): JsonObject => ({
  inputSchema: { type: 'object', properties, required },
});

describe('which tools may be tried', () => {
  it('DISC-9 those that only read, by annotation or by category', () => {
    expect(mayBeTried(tool('list_issues'))).toBe(true);
    expect(mayBeTried(tool('whoami', { annotations: { readOnlyHint: true } }, { categories: ['other'] }))).toBe(true);
    expect(mayBeTried(tool('whoami', {}, { categories: ['other'] }))).toBe(false);
    expect(mayBeTried(tool('get_x', { annotations: { readOnlyHint: false } }))).toBe(false);
    expect(mayBeTried(tool('get_x', { annotations: { destructiveHint: true } }))).toBe(false);
  });

  it.each(['create', 'update', 'delete', 'remove', 'add', 'modify', 'write', 'post', 'put', 'patch'])(
    'DISC-9 A36 never one whose name contains %s, whatever it declares',
    (word) => {
      const annotations = { annotations: { readOnlyHint: true } };
      for (const name of [`${word}_x`, `list_${word}s`, `get${word.toUpperCase()}`]) {
        expect(mayBeTried(tool(name, annotations))).toBe(false);
      }
    },
  );

  it('DISC-9 S21 only enabled tools that the server listed and that do not say what they answer', () => {
    expect(mayBeTried(tool('get_x', {}, { status: 'pending' }))).toBe(false);
    expect(mayBeTried(tool('get_x', {}, { status: 'quarantined' }))).toBe(false);
    expect(mayBeTried(tool('get_x', {}, { provenance: 'parsed' }))).toBe(false);
    expect(mayBeTried(tool('get_x', { outputSchema: { type: 'object' } }))).toBe(false);
  });
});

describe('safe inputs', () => {
  it('DISC-9 only required fields, by default, enum, minimum, or a plausible value', () => {
    const definition = takes(
      {
        sort: { enum: ['asc', 'desc'] },
        page: { type: 'integer', minimum: 3 },
        size: { type: 'integer', default: 20 },
        deep: { type: 'object', properties: { url: { type: 'string' }, more: { type: 'string' } }, required: ['url'] },
        tags: { type: 'array' },
        flag: { type: 'boolean' },
        optional: { type: 'string' },
      },
      ['sort', 'page', 'size', 'deep', 'tags', 'flag'],
    );
    expect(safeInput(tool('list_x', definition))).toEqual({
      sort: 'asc',
      page: 3,
      size: 20,
      deep: { url: 'https://example.com' },
      tags: [],
      flag: false,
    });
    expect(safeInput(tool('list_x'))).toEqual({});
  });

  it('DISC-9 A27 does not call a tool without plausible arguments', () => {
    expect(safeInput(tool('x', takes({ a: { type: 'null' } })))).toBeUndefined();
    expect(safeInput(tool('x', { inputSchema: { required: ['__proto__'] } }))).toBeUndefined();
  });
});

describe('what an answer says of its type', () => {
  it('DISC-9 structured content, or JSON inside the one text', () => {
    expect(inferOutput({ structuredContent: { a: 1, b: ['x'] } })).toEqual({
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'array', items: { type: 'string' } } },
    });
    const text = JSON.stringify([
      { id: 1, name: 'x' },
      { id: 1.5, tags: [] },
    ]);
    expect(inferOutput({ content: [{ type: 'text', text }] })).toEqual({
      type: 'array',
      items: {
        type: 'object',
        properties: { id: { type: 'number' }, name: { type: 'string' }, tags: { type: 'array' } },
      },
    });
  });

  it('DISC-9 errors and plain text are never stored as a type', () => {
    expect(inferOutput({ isError: true, structuredContent: { a: 1 } })).toBeUndefined();
    expect(inferOutput({ content: [{ type: 'text', text: '{"error":"no"}' }] })).toBeUndefined();
    expect(inferOutput({ content: [{ type: 'text', text: 'hello' }] })).toBeUndefined();
    expect(inferOutput({ content: [{ type: 'text', text: '5' }] })).toBeUndefined();
    expect(inferOutput({ content: [] })).toBeUndefined();
  });

  it('R15 any JSON has a schema, and nothing throws', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(inferOutput({ structuredContent: value as JsonObject })).toEqual(expect.any(Object));
      }),
    );
  });
});
