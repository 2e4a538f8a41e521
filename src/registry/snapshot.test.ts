import * as fc from 'fast-check';
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { pathSegment } from '../../test/support/any-text.js';
import type { SnapshotItem } from '../model/snapshot.js';
import { createSnapshot, hashItems, readFilters } from './snapshot.js';

const item = (id: string, more: Partial<SnapshotItem> = {}): SnapshotItem => ({
  id,
  name: id,
  version: '1.0.0',
  base_url: `https://${id}.example`,
  transport: 'http',
  alive: true,
  latency_ms: 12,
  capabilities: [],
  tags: [],
  last_checked_ts: '2026-01-01T00:00:00.000Z',
  failure_reason: null,
  consecutive_failures: 0,
  ...more,
});

const ids = (items: readonly SnapshotItem[], query: string): string[] =>
  createSnapshot(items, 0, readFilters(new URLSearchParams(query))).items.map(({ id }) => id);

describe('a snapshot', () => {
  it('REG-1 items stand by lower-cased name, then by id', () => {
    const items = [
      item('z', { name: 'alpha' }),
      item('b', { name: 'Beta' }),
      item('a', { name: 'beta' }),
      item('0', { name: 'Zeta' }),
    ];
    expect(createSnapshot(items, 0).items.map(({ id }) => id)).toEqual(['z', 'a', 'b', '0']);
  });

  const ALL = [
    item('git', { name: 'GitHub', tags: ['scm', 'web'], capabilities: ['issue:read', 'issue:write'] }),
    item('lab', { name: 'GitLab', tags: ['scm'], capabilities: ['issue:read'], alive: false }),
    item('wx', { name: 'Weather', tags: ['web'], capabilities: ['weather:read'] }),
  ];

  it('REG-2 filters hold all together; capability and tag may be repeated', () => {
    expect(ids(ALL, '')).toEqual(['git', 'lab', 'wx']);
    for (const yes of ['true', '1', 'yes', 'on', 'TRUE']) expect(ids(ALL, `alive=${yes}`)).toEqual(['git', 'wx']);
    for (const no of ['false', '0', 'no', 'off', 'Off']) expect(ids(ALL, `alive=${no}`)).toEqual(['lab']);
    expect(ids(ALL, 'capability=issue:read')).toEqual(['git', 'lab']);
    expect(ids(ALL, 'capability=issue:read&capability=issue:write')).toEqual(['git']);
    expect(ids(ALL, 'tag=scm&tag=web')).toEqual(['git']);
    expect(ids(ALL, 'tag=scm&alive=true&capability=issue:read&q=HUB')).toEqual(['git']);
    expect(ids(ALL, 'q=git')).toEqual(['git', 'lab']);
    expect(ids(ALL, 'q=wx')).toEqual(['wx']);
    expect(ids(ALL, 'q=nothing')).toEqual([]);
    expect(ids(ALL, 'unknown=x')).toEqual(['git', 'lab', 'wx']);
  });

  it('REG-2 a value that makes no sense is named', () => {
    const wrong = (query: string) => () => readFilters(new URLSearchParams(query));
    expect(wrong('alive=maybe')).toThrow(/alive: expected .*found "maybe"/);
    expect(wrong('alive=')).toThrow(/alive/);
    expect(wrong('alive=true&alive=false')).toThrow(/alive/);
    expect(wrong('capability=')).toThrow(/capability/);
    expect(wrong('tag=+')).toThrow(/tag/);
    expect(wrong(`q=${'x'.repeat(201)}`)).toThrow(/q: expected at most 200/);
    expect(wrong('alive=%1b[2J')).toThrow(/found "\\u001b\[2J"/);
  });

  it('REG-3 the hash is sha256- and the base64 of the canonical JSON without what differs from check to check', () => {
    const one = item('a', { tags: ['t'], capabilities: ['c'] });
    const text =
      '[{"alive":true,"base_url":"https://a.example","capabilities":["c"],"failure_reason":null,"id":"a","name":"a","tags":["t"],"transport":"http","version":"1.0.0"}]';
    expect(hashItems([one])).toBe(`sha256-${createHash('sha256').update(text).digest('base64')}`);
    expect(hashItems([])).toBe(`sha256-${createHash('sha256').update('[]').digest('base64')}`);
  });

  const anyUrl = fc.tuple(fc.domain(), pathSegment).map(([host, segment]) => `https://${host}/${segment}`);
  const anyItem = fc.record({
    id: fc.string({ minLength: 1, maxLength: 4 }),
    name: fc.string({ maxLength: 4 }),
    version: fc.option(fc.string()),
    base_url: fc.option(anyUrl),
    transport: fc.constantFrom('stdio' as const, 'http' as const, 'sse' as const),
    alive: fc.boolean(),
    latency_ms: fc.option(fc.double({ noNaN: true })),
    capabilities: fc.array(fc.string()),
    tags: fc.array(fc.string()),
    last_checked_ts: fc.option(fc.string()),
    failure_reason: fc.option(fc.string()),
    consecutive_failures: fc.nat(),
  });
  const anyItems = fc.uniqueArray(anyItem, { selector: ({ id }) => id, maxLength: 8 });

  it('REG-3 R15 neither order, nor latency, nor time, nor the count of failures changes the hash', () => {
    fc.assert(
      fc.property(anyItems, fc.infiniteStream(fc.nat()), (items, noise) => {
        const next = (): number => noise.next().value as number;
        const shuffled = items
          .map((each) => ({ each, key: next() }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ each }) => ({
            ...(Object.fromEntries(Object.entries(each).toReversed()) as unknown as SnapshotItem),
            latency_ms: next(),
            last_checked_ts: String(next()),
            consecutive_failures: next(),
            tags: each.tags.toReversed(),
            capabilities: [...each.capabilities.toReversed(), ...each.capabilities],
          }));
        expect(hashItems(shuffled)).toBe(hashItems(items));
      }),
    );
  });

  it('REG-3 R15 everything else changes it', () => {
    fc.assert(
      fc.property(anyItem, fc.string(), (one, text) => {
        const before = hashItems([one]);
        expect(hashItems([{ ...one, alive: !one.alive }])).not.toBe(before);
        expect(hashItems([{ ...one, version: `${one.version}${text}x` }])).not.toBe(before);
        expect(hashItems([{ ...one, tags: [...one.tags, `${one.tags.join('')}x`] }])).not.toBe(before);
        expect(hashItems([one, { ...one, id: `${one.id}x` }])).not.toBe(before);
      }),
    );
  });
});
