import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../kernel/json.js';
import { isHealthy, WELL_KNOWN_LOCATIONS, readCapabilities, readDocument } from './documents.js';

describe('what a server says of itself', () => {
  it('REG-5 capabilities are a list, a text, a map or maps in maps', () => {
    const cases: Array<[JsonValue, string[]]> = [
      [
        ['b', 'a', 'b'],
        ['a', 'b'],
      ],
      [
        [{ name: 'x' }, { id: 'y' }, {}, null, 3],
        ['3', 'x', 'y'],
      ],
      ['incident:read', ['incident:read']],
      ['b, a;c d', ['a', 'b', 'c', 'd']],
      [{ search: true, write: false, read: {}, gone: null }, ['read', 'search']],
      [
        { tools: { call: true, list: {} }, resources: { subscribe: false } },
        ['resources', 'tools', 'tools.call', 'tools.list'],
      ],
      [{ tools: ['call', 'list'] }, ['tools', 'tools.call', 'tools.list']],
      [{ search: 'Finds things, quickly' }, ['search']],
      [{ a: { b: { c: true } } }, ['a', 'a.b', 'a.b.c']],
      [null, []],
      [true, []],
      [7, []],
    ];
    for (const [value, expected] of cases) expect(readCapabilities(value), JSON.stringify(value)).toEqual(expected);
    expect(readCapabilities(undefined)).toEqual([]);
  });

  it('A16 A26 A28 capabilities are bounded, sorted, unique and printable, whatever comes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const read = readCapabilities(value as JsonValue);
        expect(read).toEqual([...new Set(read)].toSorted((a, b) => (a < b ? -1 : 1)));
        expect(read.every((each) => each !== '')).toBe(true);
      }),
    );
    expect(readCapabilities(Array.from({ length: 5000 }, (_, at) => `c${at}`))).toHaveLength(1000);
    let deep: JsonValue = true;
    for (let depth = 0; depth < 10_000; depth++) deep = { a: deep };
    expect(readCapabilities(deep)).toEqual([]);
    expect(readCapabilities(['\u001b[2J'])[0]).not.toContain('\u001b');
    expect(readCapabilities(['x'.repeat(1000)])[0]!.length).toBeLessThanOrEqual(200);
  });

  it('REG-5 the locations are asked in the order of the drafts', () => {
    expect(
      WELL_KNOWN_LOCATIONS.map((location) => location.url('https://x.example/', 'https://x.example/v1/mcp/')),
    ).toEqual([
      'https://x.example/.well-known/ai-catalog.json',
      'https://x.example/v1/mcp/server-card',
      'https://x.example/.well-known/mcp/server-card.json',
      'https://x.example/.well-known/mcp/server-card',
      'https://x.example/.well-known/mcp.json',
      'https://x.example/.well-known/mcp',
      'https://x.example/.well-known/mcp-server-card.json',
      'https://x.example/.well-known/opencode',
    ]);
  });

  it('REG-5 name and version come from the document or its serverInfo; a card needs both', () => {
    expect(readDocument('loose', { name: 'a', version: 1.5, capabilities: [] })).toEqual({
      name: 'a',
      version: '1.5',
      capabilities: [],
    });
    expect(readDocument('loose', { serverInfo: { name: 'b', version: '2' } })).toEqual({ name: 'b', version: '2' });
    expect(readDocument('loose', { hello: 1 })).toBeUndefined();
    expect(readDocument('loose', [])).toBeUndefined();
    expect(readDocument('card', { name: 'x/y', version: '1', description: '' })).toEqual({ name: 'x/y', version: '1' });
    expect(readDocument('card', { name: 'x/y' })).toBeUndefined();
    const type = 'application/mcp-server-card+json';
    const entry = { identifier: 'urn:x', type, data: { name: 'x/y', version: '1' } };
    expect(readDocument('catalog', { entries: [{ type: 'other' }, entry] })).toEqual({ name: 'x/y', version: '1' });
    expect(readDocument('catalog', { entries: [{ type, url: '/card' }] })).toEqual({ cardUrl: '/card' });
    expect(readDocument('catalog', { entries: [] })).toBeUndefined();
  });

  it('REG-5 a health check is contradicted only by a status that is not healthy', () => {
    for (const body of [
      {},
      { status: 'OK' },
      { status: 'healthy' },
      { state: 'up' },
      { ok: true },
      { uptime: 3 },
      { status: 200 },
      [],
      null,
      true,
      'ok',
      7,
    ]) {
      expect(isHealthy(body), JSON.stringify(body)).toBe(true);
    }
    for (const body of [
      { status: 'down' },
      { status: 'degraded' },
      { ok: false },
      { healthy: false },
      false,
      'down',
      { status: 'error', ok: true },
    ]) {
      expect(isHealthy(body), JSON.stringify(body)).toBe(false);
    }
  });

  it('REG-5 of the location of opencode the block about MCP is read', () => {
    const { kind } = WELL_KNOWN_LOCATIONS.find(({ key }) => key === 'opencode')!;
    const said = { name: 'Desk', version: '1', capabilities: ['a'] };
    expect(readDocument(kind, { mcp: said, auth: { command: ['x'] } })).toEqual(said);
    expect(readDocument(kind, { config: { mcp: said } })).toEqual(said);
    expect(readDocument(kind, said)).toEqual(said);
    for (const other of [{ mcp: 7 }, { config: 7 }, { mcp: { desk: { type: 'remote', url: 'https://x' } } }, {}]) {
      expect(readDocument(kind, other)).toBeUndefined();
    }
  });
});
