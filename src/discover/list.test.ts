import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ToolscoutError } from '../kernel/errors.js';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import type { Upstream, UpstreamRequest } from '../model/upstream.js';
import { rpcErrorPrefix } from '../protocol/json-rpc.js';
import { listPrompts, listResources, listResourceTemplates, listTools } from './list.js';

interface Asked {
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly options: UpstreamRequest | undefined;
}

/** A server that answers with the given pages in turn; a page that is an error is thrown. */
function fakeUpstream(pages: readonly unknown[], over: Partial<Upstream> = {}): { upstream: Upstream; asked: Asked[] } {
  const asked: Asked[] = [];
  const upstream: Upstream = {
    server: 's',
    era: 'legacy',
    protocolVersion: '2025-11-25',
    info: { name: 'fake', version: '1' },
    capabilities: { tools: {} },
    closed: false,
    request(method, params, options) {
      const page = pages[Math.min(asked.length, pages.length - 1)];
      asked.push({ method, params, options });
      return page instanceof Error ? Promise.reject(page) : Promise.resolve(page as JsonObject);
    },
    tell: () => {},
    ping: () => Promise.resolve(),
    onNotification: () => () => {},
    onClose: () => () => {},
    close: () => Promise.resolve(),
    ...over,
  };
  return { upstream, asked };
}

const tool = (name: string, rest: JsonObject = {}): JsonObject => ({ name, inputSchema: { type: 'object' }, ...rest });

const names = (items: readonly JsonObject[]): JsonValue[] => items.map((item) => item.name ?? null);

const listOf = (tools: readonly unknown[], limits = {}): ReturnType<typeof listTools> =>
  listTools(fakeUpstream([{ tools }]).upstream, { limits });

const reasonFor = async (raw: unknown, limits = {}): Promise<string | undefined> =>
  (await listOf([tool('good'), raw, tool('also')], limits)).bad[0]?.reason;

const rpcError = (code: number): ToolscoutError =>
  new ToolscoutError('TOOL_EXECUTION_ERROR', 'nope', { upstream: { code }, delivered: true });

function nest(depth: number): JsonObject {
  let value: JsonObject = {};
  for (let i = 0; i < depth; i++) value = { a: value };
  return value;
}

const withHeader = (property: JsonObject, rest: JsonObject = {}): JsonObject =>
  tool('bad', { inputSchema: { type: 'object', properties: { p: property }, ...rest } });

describe('listTools', () => {
  it('DISC-1 walks all pages with the cursors of the server and passes the options on', async () => {
    const { upstream, asked } = fakeUpstream([
      { tools: [tool('a')], nextCursor: 'one' },
      { tools: [tool('b')], nextCursor: 'two' },
      { tools: [tool('c')] },
    ]);
    const signal = new AbortController().signal;
    const pages: unknown[] = [];
    const listed = await listTools(upstream, { signal, timeoutMs: 7, onPage: (page) => pages.push(page) });
    expect(names(listed.items)).toEqual(['a', 'b', 'c']);
    expect(asked.map((request) => request.params)).toEqual([{}, { cursor: 'one' }, { cursor: 'two' }]);
    expect(asked[2]).toMatchObject({ method: 'tools/list', options: { signal, timeoutMs: 7 } });
    expect(pages).toEqual([
      { page: 1, items: 1 },
      { page: 2, items: 2 },
      { page: 3, items: 3 },
    ]);
    expect(listed).toEqual({ items: listed.items, bad: [] });
  });

  it('DISC-1 one malformed tool is dropped and named, the rest stay in order with their vendor fields', async () => {
    const vendor = tool('a', { 'x-vendor': { deep: [1, { two: null }] }, _meta: { k: 'v' } });
    const listed = await listOf([vendor, { inputSchema: {} }, 'text', tool('b'), { name: 7 }]);
    expect(listed.items).toEqual([vendor, tool('b')]);
    expect(listed.bad).toEqual([
      { index: 1, reason: 'it has no name' },
      { index: 2, reason: 'it is not an object' },
      { index: 4, reason: 'its name is not a string' },
    ]);
  });

  it.each<[string, unknown, RegExp]>([
    ['null', null, /not an object/],
    ['an array', [], /not an object/],
    ['an empty name', tool(''), /name is empty/],
    ['a long name', tool('x'.repeat(257)), /longer than 256/],
    ['a name with a newline', tool('a\nb'), /control characters/],
    ['a name with NUL', tool('a\u0000b'), /control characters/],
    ['a name with a line separator', tool('a\u2028b'), /control characters/],
    ['a schema that is text', tool('x', { inputSchema: 'object' }), /inputSchema is not an object/],
    ['a schema that is a list', tool('x', { inputSchema: [] }), /inputSchema is not an object/],
    ['a schema of a string', tool('x', { inputSchema: { type: 'string' } }), /does not describe an object/],
    ['a schema that allows nothing', tool('x', { inputSchema: false }), /inputSchema is not an object/],
    ['a name with half a character', tool('x\ud800'), /not well-formed Unicode/],
    ['a duplicate', tool('good', { description: 'late' }), /duplicate/],
    ['a schema 65 levels deep', tool('x', { inputSchema: nest(65) }), /deeper than 64/],
    ['a schema 20,000 levels deep', tool('x', { inputSchema: nest(20_000) }), /deeper than 64/],
    ['a huge description', tool('x', { description: 'x'.repeat(256 * 1024) }), /larger than 262144 bytes/],
  ])('DISC-1 drops a tool with %s', async (_title, raw, reason) => {
    const listed = await listOf([tool('good'), raw, tool('also')]);
    expect(names(listed.items)).toEqual(['good', 'also']);
    expect(listed.bad).toHaveLength(1);
    expect(listed.bad[0]).toMatchObject({ index: 1, reason: expect.stringMatching(reason) as string });
  });

  it.each<[string, unknown, JsonObject]>([
    ['no schema', { name: 'x' }, { name: 'x', inputSchema: { type: 'object' } }],
    ['a null schema', { name: 'x', inputSchema: null }, { name: 'x', inputSchema: { type: 'object' } }],
    ['a schema without type', tool('x', { inputSchema: {} }), { name: 'x', inputSchema: {} }],
    ['null instead of absent', tool('x', { title: null, description: null, outputSchema: null }), tool('x')],
    ['a schema 64 levels deep', tool('x', { inputSchema: nest(63) }), tool('x', { inputSchema: nest(63) })],
    [
      'a schema that allows everything',
      tool('x', { inputSchema: true }),
      tool('x', { inputSchema: { type: 'object' } }),
    ],
    ['a description that is a number', tool('x', { description: 4 }), tool('x', { description: 4 })],
    ['annotations that are text', tool('x', { annotations: 'yes' }), tool('x', { annotations: 'yes' })],
    ['vendor nulls', tool('x', { 'x-v': null }), tool('x', { 'x-v': null })],
  ])('DISC-1 keeps a tool with %s', async (_title, raw, kept) => {
    expect(await listOf([raw])).toEqual({ items: [kept], bad: [] });
  });

  it('A13 of two tools with one name the first stays', async () => {
    const listed = await listOf([tool('a', { description: 'first' }), tool('a', { description: 'second' })]);
    expect(listed.items).toEqual([tool('a', { description: 'first' })]);
    expect(listed.bad).toEqual([{ index: 1, name: 'a', reason: 'its name is a duplicate' }]);
  });

  it('A16 the name of a bad tool is safe to show', async () => {
    const listed = await listOf([tool('\u001b[2J')]);
    expect(listed.bad[0]?.name).toBe('\\u001b[2J');
  });

  it('A27 names of prototype members are ordinary names', async () => {
    const raw = JSON.parse(
      '[{"name":"__proto__","__proto__":{"x":1}},{"name":"toString"},{"name":"constructor"}]',
    ) as unknown[];
    const listed = await listOf(raw);
    expect(names(listed.items)).toEqual(['__proto__', 'toString', 'constructor']);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });

  it.each<[string, JsonObject]>([
    ['an empty name', withHeader({ type: 'string', 'x-mcp-header': '' })],
    ['a line break', withHeader({ type: 'string', 'x-mcp-header': 'A\r\nB' })],
    ['a space', withHeader({ type: 'string', 'x-mcp-header': 'A B' })],
    ['a number', withHeader({ type: 'string', 'x-mcp-header': 4 })],
    ['the type number', withHeader({ type: 'number', 'x-mcp-header': 'A' })],
    ['no type', withHeader({ 'x-mcp-header': 'A' })],
    ['a place under items', withHeader({ type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } })],
    ['a place under anyOf', withHeader({ anyOf: [{ type: 'string', 'x-mcp-header': 'A' }] })],
    [
      'a place under $defs',
      withHeader({ $ref: '#/$defs/T' }, { $defs: { T: { type: 'string', 'x-mcp-header': 'A' } } }),
    ],
    ['the root', tool('bad', { inputSchema: { type: 'object', 'x-mcp-header': 'A' } })],
    [
      'a duplicate in another case',
      tool('bad', {
        inputSchema: {
          type: 'object',
          properties: { a: { type: 'string', 'x-mcp-header': 'Id' }, b: { type: 'string', 'x-mcp-header': 'ID' } },
        },
      }),
    ],
  ])('S20 an x-mcp-header with %s excludes the tool and no other', async (_title, bad) => {
    const listed = await listOf([tool('a'), bad, tool('b')]);
    expect(names(listed.items)).toEqual(['a', 'b']);
    expect(listed.bad[0]).toMatchObject({
      index: 1,
      name: 'bad',
      reason: expect.stringContaining('x-mcp-header') as string,
    });
  });

  it('S20 valid x-mcp-headers, nested ones and mere names of that kind are kept', async () => {
    const good = withHeader(
      {
        type: 'object',
        properties: { id: { type: 'integer', 'x-mcp-header': 'Id' }, 'x-mcp-header': { type: 'string' } },
      },
      { default: { 'x-mcp-header': '' } },
    );
    expect((await listOf([good])).items).toEqual([good]);
  });

  it.each([
    ['no object', 'text'],
    ['null', null],
    ['no tools', {}],
    ['tools that are no list', { tools: {} }],
  ])('DISC-1 an answer with %s is TOOLS_LIST_FAILED', async (_title, page) => {
    await expect(listTools(fakeUpstream([page]).upstream)).rejects.toMatchObject({ code: 'TOOLS_LIST_FAILED' });
  });

  it('DISC-1 an error of the server is TOOLS_LIST_FAILED and keeps its code', async () => {
    const { upstream } = fakeUpstream([rpcError(-32603)]);
    await expect(listTools(upstream)).rejects.toMatchObject({
      code: 'TOOLS_LIST_FAILED',
      upstream: { code: -32603 },
      delivered: true,
      message: expect.stringContaining('nope') as string,
    });
  });

  it('DISC-1 the message names the server once, and holds its words as they were masked', async () => {
    const refused = new ToolscoutError('TOOL_EXECUTION_ERROR', `${rpcErrorPrefix('s')}Invalid params: ***`, {
      upstream: { code: -32_602, message: 'Invalid params: canary' },
    });
    await expect(listTools(fakeUpstream([refused]).upstream)).rejects.toMatchObject({
      message: 'tools/list failed: Invalid params: ***',
    });
  });

  it('DISC-1 a failure of the connection passes unchanged', async () => {
    const lost = new ToolscoutError('SERVER_CONNECTION_ERROR', 'gone');
    await expect(listTools(fakeUpstream([lost]).upstream)).rejects.toBe(lost);
  });

  it('DISC-1 a server that never offered tools has none; one that did must list them', async () => {
    const silent = fakeUpstream([rpcError(-32601)], { capabilities: { prompts: {} } });
    expect(await listTools(silent.upstream)).toEqual({ items: [], bad: [] });
    await expect(listTools(fakeUpstream([rpcError(-32601)]).upstream)).rejects.toMatchObject({
      code: 'TOOLS_LIST_FAILED',
    });
  });

  it('DISC-1 an aborted listing asks for nothing more', async () => {
    const stop = new AbortController();
    const { upstream, asked } = fakeUpstream([{ tools: [], nextCursor: 'x' }]);
    const listing = listTools(upstream, { signal: stop.signal, onPage: () => stop.abort() });
    await expect(listing).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(asked).toHaveLength(1);
  });

  it.each<[string, unknown[], object, RegExp, number]>([
    ['a cursor that comes again', [{ tools: [tool('a')], nextCursor: 'x' }], {}, /page 2 repeated/, 1],
    ['a cursor that is no text', [{ tools: [tool('a')], nextCursor: 5 }], {}, /page 1 ended with an invalid cursor/, 1],
    ['too many tools', [{ tools: [tool('a'), tool('b'), tool('c')] }], { toolsPerServer: 2 }, /more than 2 entries/, 2],
    ['too many bytes', [{ tools: [tool('a'), tool('b'), tool('c')] }], { listBytes: 100 }, /larger than 100 bytes/, 2],
  ])('A28 %s ends the list and says so', async (_title, pages, limits, reason, kept) => {
    const listed = await listTools(fakeUpstream(pages).upstream, { limits });
    expect(listed.truncated).toMatch(reason);
    expect(listed.items).toHaveLength(kept);
  });

  it('A28 an endless list ends at the page bound', async () => {
    let page = 0;
    const { upstream } = fakeUpstream([], {
      request: () => Promise.resolve({ tools: [tool(`t${++page}`)], nextCursor: `c${page}` }),
    });
    const listed = await listTools(upstream, { limits: { pages: 5 } });
    expect(listed.truncated).toMatch(/more than 5 pages/);
    expect(listed.items).toHaveLength(5);
    expect(page).toBe(5);
  });

  it.each(['', null])('DISC-1 a cursor that is %j ends the list', async (nextCursor) => {
    const { upstream, asked } = fakeUpstream([{ tools: [tool('a')], nextCursor }]);
    expect((await listTools(upstream)).truncated).toBeUndefined();
    expect(asked).toHaveLength(1);
  });

  it.each<[string, JsonObject[], number, string]>([
    ['given', [{ ttlMs: 5000, cacheScope: 'public' }], 5000, 'public'],
    ['missing', [{}], 0, 'private'],
    ['negative', [{ ttlMs: -1 }], 0, 'private'],
    ['not a number', [{ ttlMs: '9' }], 0, 'private'],
    [
      'of several pages',
      [
        { ttlMs: 9000, cacheScope: 'private', nextCursor: 'x' },
        { ttlMs: 400, cacheScope: 'public' },
      ],
      400,
      'private',
    ],
  ])('S23 a modern ttlMs that is %s', async (_title, pages, ttlMs, cacheScope) => {
    const { upstream } = fakeUpstream(
      pages.map((page) => ({ tools: [], ...page })),
      { era: 'modern' },
    );
    expect(await listTools(upstream)).toMatchObject({ ttlMs, cacheScope });
  });

  it('S23 a legacy server says nothing about freshness', async () => {
    expect(await listTools(fakeUpstream([{ tools: [], ttlMs: 5 }]).upstream)).toEqual({ items: [], bad: [] });
  });

  it('DISC-1 any list is sorted into kept and dropped, and nothing is lost', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.jsonValue(), fc.record({ name: fc.string(), inputSchema: fc.jsonValue() }))),
        async (tools) => {
          const listed = await listOf(tools);
          expect(listed.items.length + listed.bad.length).toBe(tools.length);
          expect(new Set(names(listed.items)).size).toBe(listed.items.length);
        },
      ),
    );
  });

  it('DISC-1 the reason names the first fault only', async () => {
    expect(await reasonFor({ name: 3, inputSchema: 4 })).toBe('its name is not a string');
  });
});

describe('other lists', () => {
  it('DISC-1 resources, templates and prompts use the same pager', async () => {
    const resource = { uri: 'file:///a', name: 'a', 'x-v': 1 };
    const { upstream, asked } = fakeUpstream([
      { resources: [resource], nextCursor: 'n' },
      { resources: [{ name: 'no uri' }, resource] },
    ]);
    expect(await listResources(upstream)).toEqual({
      items: [resource],
      bad: [
        { index: 1, reason: 'it has no uri' },
        { index: 2, name: 'file:///a', reason: 'its uri is a duplicate' },
      ],
    });
    expect(asked.map((request) => request.method)).toEqual(['resources/list', 'resources/list']);

    const templates = fakeUpstream([{ resourceTemplates: [{ uriTemplate: 'x://{id}' }] }]);
    expect((await listResourceTemplates(templates.upstream)).items).toHaveLength(1);
    expect(templates.asked[0]?.method).toBe('resources/templates/list');

    const prompts = fakeUpstream([{ prompts: [{ name: 'p' }, { name: '' }] }]);
    expect((await listPrompts(prompts.upstream)).bad).toEqual([{ index: 1, reason: 'its name is empty' }]);
  });

  it('DISC-1 a server that does not know the method has an empty list', async () => {
    for (const list of [listResources, listResourceTemplates, listPrompts]) {
      const { upstream } = fakeUpstream([rpcError(-32601)], { capabilities: { resources: {}, prompts: {} } });
      expect(await list(upstream)).toEqual({ items: [], bad: [] });
    }
  });
});
