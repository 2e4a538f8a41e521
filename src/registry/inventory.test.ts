import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveConfig } from '../config/index.js';
import { createInventory, type Expand } from './inventory.js';

const expand: Expand = (text) =>
  text.includes('${MISSING}')
    ? { text, problems: ['needs the environment variable MISSING, which is not set'] }
    : { text: text.replaceAll('${TOKEN}', 'tok'), problems: [] };
const read = (raw: unknown, servers: Parameters<typeof createInventory>[1] = []) =>
  createInventory(raw, servers, expand);
const ENTRY = {
  id: 'github-mcp',
  name: 'GitHub MCP',
  base_url: 'https://github.example',
  tags: ['scm', 'internal', 'scm'],
};
const ids = ({ items }: ReturnType<typeof read>): string[] => items.map(({ id }) => id);

describe('the inventory', () => {
  it('REG-4 is a list, or a mapping with tools or servers, or by id', () => {
    for (const raw of [
      [ENTRY],
      { tools: [ENTRY] },
      { servers: [ENTRY] },
      { tools: { 'github-mcp': { ...ENTRY, id: undefined } } },
    ]) {
      expect(read(raw).items, JSON.stringify(raw)).toMatchObject([
        { name: 'GitHub MCP', tags: ['internal', 'scm'], own: false },
      ]);
    }
    expect(ids(read({ a: { base_url: 'http://a.example' }, b: { base_url: 'http://b.example' } }))).toEqual(['a', 'b']);
    expect(ids(read({ tools: [ENTRY], servers: [{ ...ENTRY, id: 'other' }] }))).toEqual(['github-mcp', 'other']);
    for (const raw of [undefined, null, [], {}, { tools: [] }]) expect(read(raw)).toEqual({ items: [], problems: [] });
  });

  it('REG-4 bad entries are named and skipped', () => {
    const { items, problems } = read({
      tools: [
        1,
        null,
        'x',
        {},
        { id: 'a' },
        { id: 'b', base_url: {} },
        { ...ENTRY, headers: 'x' },
        { ...ENTRY, headers: { 'a b': 'x' } },
        { ...ENTRY, headers: { A: '${MISSING}' } },
        ENTRY,
        ENTRY,
      ],
    });
    expect(items).toHaveLength(1);
    expect(problems.map(({ path }) => path)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 10].map((at) => `tools[${at}]`));
    expect(problems.at(-2)?.message).toContain('MISSING');
    expect(read('nonsense').problems).toHaveLength(1);
  });

  it('REG-4 A33 headers are filled in, and what is shown has no credential', () => {
    const [item] = read([
      { ...ENTRY, base_url: 'https://me:pw@x.example/a?key=1#f', headers: { Authorization: 'Bearer ${TOKEN}' } },
    ]).items;
    expect(item?.headers).toEqual(Object.assign(Object.create(null) as object, { Authorization: 'Bearer tok' }));
    expect(item?.shownUrl).toBe('https://x.example/a');
  });

  it('REG-4 REG-1 every configured server is in it, unless it is off; it wins over the file', () => {
    const { servers } = resolveConfig(
      {
        servers: {
          local: { command: 'x', title: 'Local', tags: ['b', 'a'] },
          far: { url: 'https://far.example/v1/mcp?key=secret-secret', headers: { A: 'b' } },
          old: { url: 'http://old.example/sse', type: 'sse' },
          off: { command: 'x', enabled: false },
          broken: { command: '${NOT_THERE}' },
        },
      },
      { source: 'test', env: {} },
    );
    const { items, problems } = read([{ id: 'local', base_url: 'http://evil.example' }], servers);
    expect(items).toEqual([
      expect.objectContaining({
        id: 'local',
        name: 'Local',
        transport: 'stdio',
        shownUrl: null,
        tags: ['a', 'b'],
        own: true,
      }),
      expect.objectContaining({
        id: 'far',
        transport: 'http',
        baseUrl: 'https://far.example',
        mcpUrl: 'https://far.example/v1/mcp?key=secret-secret',
        shownUrl: 'https://far.example/v1/mcp',
      }),
      expect.objectContaining({ id: 'old', transport: 'sse' }),
    ]);
    expect(problems).toEqual([{ path: '[0]', message: 'duplicate id "local"' }]);
  });

  it('A27 nothing that a file can hold throws or pollutes', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void read(value)));
    const raw = JSON.parse(
      '{"tools":[{"id":"__proto__","base_url":"http://x.example","headers":{"__proto__":{"polluted":1}}},{"id":"constructor","base_url":"http://y.example"}]}',
    ) as unknown;
    expect(ids(read(raw))).toEqual(['constructor']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('REG-4 A16 what cannot be seen is no part of an id, and of a name or a tag it is shown', () => {
    const at = { base_url: 'https://x.example' };
    const { items, problems } = createInventory(
      [
        { id: '\u202eevil', ...at },
        { id: 'two\nlines', ...at },
        { id: 'bell\u0007', ...at },
        { id: 'fine', name: 'Red\u001b[31m\nName', tags: ['a\nb', '\u202ec', 'é'], ...at },
      ],
      [],
      (text) => ({ text, problems: [] }),
    );
    expect(items.map(({ id }) => id)).toEqual(['fine']);
    expect(problems.map(({ path }) => path)).toEqual(['[0]', '[1]', '[2]']);
    for (const text of [items[0]!.name, ...items[0]!.tags, ...problems.map(({ message }) => message)]) {
      expect(text).not.toMatch(/\p{C}/u);
    }
    expect(items[0]!.tags).toContain('é');
  });
});
