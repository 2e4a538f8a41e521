import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { stdioServer } from '../../test/support/test-server.js';
import type { Clock } from '../kernel/clock.js';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import type { Server } from '../model/server.js';
import type { Entry, Store } from '../model/store.js';
import type { Listed } from './list.js';
import { createToolCache, type ToolCache } from './tool-cache.js';

const HOUR = 3_600_000;

const neverAsked = (): Promise<never> => Promise.reject(new Error('the cache has no business there'));

/** A store in memory that counts what it is asked; `raw` lets a test damage it. */
function fakeStore(): Store & {
  raw: Map<string, Entry>;
  asked: string[];
  announce: (space: string) => void;
  broken: boolean;
} {
  const raw = new Map<string, Entry>();
  const asked: string[] = [];
  const listeners = new Set<(space: string) => void>();
  const ask = (verb: string): void => {
    asked.push(verb);
    if (store.broken) throw new Error('disk full');
  };
  const store = {
    raw,
    asked,
    broken: false,
    announce: (space: string) => listeners.forEach((listener) => listener(space)),
    location: 'memory',
    async get(_space: string, key: string) {
      ask('get');
      return raw.get(key);
    },
    async list() {
      ask('list');
      return [...raw.values()];
    },
    async put(
      _space: string,
      key: string,
      value: JsonValue,
      options: { expiresAt?: number; ifRevision?: number } = {},
    ) {
      ask('put');
      const revision = raw.get(key)?.revision ?? 0;
      if (options.ifRevision !== undefined && options.ifRevision !== revision) return false;
      const entry = { key, value: JSON.parse(JSON.stringify(value)) as JsonValue, storedAt: 0, revision: revision + 1 };
      raw.set(key, { ...entry, expiresAt: options.expiresAt });
      return true;
    },
    async delete(_space: string, key: string) {
      ask('delete');
      return raw.delete(key);
    },
    async revisions() {
      ask('revisions');
      return new Map([...raw].map(([key, { revision }]) => [key, revision]));
    },
    async clear() {
      ask('clear');
      const { size } = raw;
      raw.clear();
      return size;
    },
    append: neverAsked,
    audit: neverAsked,
    sumAudit: neverAsked,
    pruneAudit: neverAsked,
    auditAfter: neverAsked,
    verifyAudit: neverAsked,
    onChange(listener: (space: string) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    spaces: async () => [],
    async *auditPages() {},
    close: () => Promise.resolve(),
  };
  return store;
}

const serverOf = (id: string, digest = 'd1'): Server => stdioServer(id, { command: 'x' }, { digest });

const listedOf = (name: string, rest: Partial<Listed> = {}): Listed => ({
  items: [{ name, inputSchema: { type: 'object' } }],
  bad: [],
  ...rest,
});

interface Bench {
  readonly store: ReturnType<typeof fakeStore>;
  readonly logged: string[];
  readonly time: { now: number };
  /** Another process over the same store. */
  another(capabilities?: string): ToolCache;
  readonly cache: ToolCache;
}

function setUp(ttlMs = 24 * HOUR): Bench {
  const store = fakeStore();
  const logged: string[] = [];
  const time = { now: 1_000_000 };
  const clock: Clock = {
    now: () => time.now,
    monotonic: () => time.now,
    after: () => ({ cancel() {} }),
  };
  const log: Log = {
    debug() {},
    info() {},
    warn: (event, fields) => logged.push(`${event} ${String(fields?.reason)}`),
    error() {},
  };
  const another = (capabilities?: string): ToolCache => createToolCache({ store, clock, ttlMs, log, capabilities });
  return { store, logged, time, another, cache: another() };
}

const nameIn = (list: { readonly items: readonly JsonObject[] } | undefined): unknown => list?.items[0]?.name;

const onlyEntry = (store: ReturnType<typeof fakeStore>): Entry => [...store.raw.values()][0]!;

describe('createToolCache', () => {
  it('DISC-4 gives back what was written, from memory and from the store', async () => {
    const { cache, another, store } = setUp();
    const facts = { info: { name: 'n', version: '1' }, instructions: 'Be kind.', era: 'modern' as const };
    const bad = [{ index: 0, reason: 'x' }];
    await cache.write(serverOf('a'), listedOf('x', { bad }), facts);
    const expected = {
      items: [{ name: 'x', inputSchema: { type: 'object' } }],
      dropped: 1,
      learnedAt: 1_000_000,
      freshMs: undefined,
      validity: { server: 'a', learnedAt: 1_000_000, isInvalid: false },
      leftOut: [{ method: 'tools/list', index: 0, reason: 'x' }],
      ...facts,
    };
    expect(await cache.read(serverOf('a'))).toEqual(expected);
    expect(store.asked).toEqual(['put']);
    const cold = another();
    expect(await cold.read(serverOf('a'))).toEqual(expected);
    expect(await cold.read(serverOf('a'))).toEqual(expected);
    expect(store.asked).toEqual(['put', 'get']);
  });

  it('DISC-4 counts hits, misses and entries', async () => {
    const { cache } = setUp();
    await cache.read(serverOf('a'));
    await cache.write(serverOf('a'), listedOf('x'), {});
    await cache.read(serverOf('a'));
    await cache.readAll([serverOf('a'), serverOf('b')]);
    expect(cache.stats()).toEqual({ hits: 2, misses: 2, entries: 1 });
  });

  it('DISC-4 reads many servers with one look into the store', async () => {
    const { cache, another, store } = setUp();
    for (const id of ['a', 'b', 'c']) await cache.write(serverOf(id), listedOf(id), {});
    store.asked.length = 0;
    const cold = another();
    const lists = await cold.readAll(['a', 'b', 'c', 'd'].map((id) => serverOf(id)));
    expect([...lists].map(([id, list]) => [id, nameIn(list)])).toEqual([
      ['a', 'a'],
      ['b', 'b'],
      ['c', 'c'],
    ]);
    expect(store.asked).toEqual(['list']);
  });

  it('A22 ids that sanitise alike never share an entry', async () => {
    const { cache, another, store } = setUp();
    const ids = ['a/b', 'a_b', 'A_b', 'a b', '../a', '__proto__', 'x'.repeat(300), `${'x'.repeat(300)}y`];
    for (const id of ids) await cache.write(serverOf(id), listedOf(id), {});
    expect(store.raw.size).toBe(ids.length);
    for (const key of store.raw.keys()) expect(key).toMatch(/^tools_[A-Za-z0-9._-]{1,64}_[0-9a-f]{32}$/);
    const cold = another();
    for (const id of ids) expect(nameIn(await cold.read(serverOf(id)))).toBe(id);
  });

  it('A22 another credential or other client capabilities never read it', async () => {
    const { cache, another } = setUp();
    await cache.write(serverOf('a', 'token-1'), listedOf('secret'), {});
    expect(await cache.read(serverOf('a', 'token-2'))).toBeUndefined();
    expect(await another('elicitation').read(serverOf('a', 'token-1'))).toBeUndefined();
    expect(nameIn(await another().read(serverOf('a', 'token-1')))).toBe('secret');
  });

  it.each<[string, (value: JsonObject) => JsonValue, RegExp]>([
    ['a truncated body', (value) => ({ ...value, body: String(value.body).slice(0, -5) }), /checksum/],
    ['a flipped bit', (value) => ({ ...value, body: String(value.body).replace('"x"', '"y"') }), /checksum/],
    ['another server', (value) => ({ ...value, server: 'b' }), /another server/],
    ['a newer format', (value) => ({ ...value, format: 2 }), /another version/],
    ['no object', () => 'garbage', /not a list/],
    ['null', () => null, /not a list/],
  ])('A23 an entry with %s is a miss with a log line', async (_title, damage, reason) => {
    const { cache, another, store, logged } = setUp();
    await cache.write(serverOf('a'), listedOf('x'), {});
    const entry = onlyEntry(store);
    store.raw.set(entry.key, { ...entry, value: damage(entry.value as JsonObject) });
    const cold = another();
    expect(await cold.read(serverOf('a'))).toBeUndefined();
    expect(await cold.readAll([serverOf('a')])).toEqual(new Map());
    expect(cold.stats()).toEqual({ hits: 0, misses: 2, entries: 0 });
    expect(logged).toHaveLength(2);
    expect(logged[0]).toMatch(reason);
  });

  it('A23 a store that fails costs a listing, not the tools', async () => {
    const { cache, store, logged } = setUp();
    store.broken = true;
    expect(await cache.read(serverOf('a'))).toBeUndefined();
    expect(await cache.readAll([serverOf('a')])).toEqual(new Map());
    await cache.write(serverOf('a'), listedOf('x'), {});
    await cache.invalidate(serverOf('a'));
    expect(await cache.read(serverOf('a'))).toMatchObject({ validity: { isInvalid: true } });
    expect(logged.every((line) => line === 'cache.store-failed disk full')).toBe(true);
    expect(logged).toHaveLength(4);
  });

  it.each<[string, number | undefined, number | undefined]>([
    ['as long as its server says', 5000, 5000],
    ['not at all with ttl 0', 0, 0],
    ['a day at most', 1e15, 24 * HOUR],
    ['as the configuration says when its server says nothing', undefined, undefined],
  ])('DISC-4 a list may be kept %s', async (_title, ttlMs, freshMs) => {
    const { cache, another } = setUp(HOUR);
    await cache.write(serverOf('a'), listedOf('x', ttlMs === undefined ? {} : { ttlMs }), {});
    expect((await cache.read(serverOf('a')))?.freshMs).toBe(freshMs);
    expect((await another().read(serverOf('a')))?.freshMs).toBe(freshMs);
  });

  it('DISC-4 the store learns when a list becomes stale', async () => {
    const { cache, store } = setUp(HOUR);
    await cache.write(serverOf('a'), listedOf('x', { ttlMs: 5000 }), {});
    expect(onlyEntry(store).expiresAt).toBe(1_005_000);
  });

  it('DISC-4 a list announced as changed is stale for every process until it is written again', async () => {
    const { cache, another } = setUp();
    await cache.write(serverOf('a'), listedOf('x'), {});
    await cache.invalidate(serverOf('a'));
    expect(await cache.read(serverOf('a'))).toMatchObject({ validity: { isInvalid: true } });
    expect(await another().read(serverOf('a'))).toMatchObject({ validity: { isInvalid: true } });
    await cache.write(serverOf('a'), listedOf('y'), {});
    expect(await another().read(serverOf('a'))).toMatchObject({ validity: { isInvalid: false } });
  });

  it('DISC-4 the holder of a list sees that it was invalidated or cleared; a newer list is not affected', async () => {
    const { cache, another, store } = setUp();
    const held = await cache.write(serverOf('a'), listedOf('x'), {});
    const other = await cache.write(serverOf('b'), listedOf('x'), {});
    expect(held).toMatchObject({ validity: { isInvalid: false } });
    // What is kept in memory is dropped when another process writes; the announcement is meant all the same.
    store.announce('tools');
    await cache.invalidate(serverOf('a'));
    expect(held).toMatchObject({ validity: { isInvalid: true } });
    expect(other).toMatchObject({ validity: { isInvalid: false } });

    const next = await cache.write(serverOf('a'), listedOf('y'), {});
    expect(next).toMatchObject({ validity: { isInvalid: false } });
    expect(held.validity.isInvalid).toBe(true);
    await cache.clear('b');
    expect(other).toMatchObject({ validity: { isInvalid: true } });
    expect(next.validity.isInvalid).toBe(false);
    await cache.clear();
    expect(next).toMatchObject({ validity: { isInvalid: true } });
    expect(await another().read(serverOf('a'))).toBeUndefined();
  });

  it('DISC-4 an invalidation never replaces a newer list of another process', async () => {
    const { cache, another, store } = setUp();
    await cache.write(serverOf('a'), listedOf('old'), {});
    const original = store.get;
    store.get = async (space, key) => {
      const entry = await original(space, key);
      store.get = original;
      await another().write(serverOf('a'), listedOf('new'), {});
      return entry;
    };
    await cache.invalidate(serverOf('a'));
    expect(await another().read(serverOf('a'))).toMatchObject({
      validity: { isInvalid: false },
      items: [{ name: 'new' }],
    });
  });

  it('DISC-4 an invalidation of what is not stored does nothing', async () => {
    const { cache, store } = setUp();
    await cache.invalidate(serverOf('a'));
    expect(store.raw.size).toBe(0);
  });

  it('DISC-4 a change by another process is seen', async () => {
    const { cache, another, store } = setUp();
    await cache.write(serverOf('a'), listedOf('old'), {});
    await another().write(serverOf('a'), listedOf('new'), {});
    store.announce('audit');
    expect(nameIn(await cache.read(serverOf('a')))).toBe('old');
    store.announce('tools');
    expect(nameIn(await cache.read(serverOf('a')))).toBe('new');
    cache.close();
    await another().write(serverOf('a'), listedOf('newest'), {});
    store.announce('tools');
    expect(nameIn(await cache.read(serverOf('a')))).toBe('new');
  });

  it('DISC-4 clears one server under every credential and leaves its look-alike', async () => {
    const { cache, store } = setUp();
    await cache.write(serverOf('a/b', 'd1'), listedOf('x'), {});
    await cache.write(serverOf('a/b', 'd2'), listedOf('x'), {});
    await cache.write(serverOf('a_b'), listedOf('kept'), {});
    store.raw.set('tools_a_b_damaged', { key: 'tools_a_b_damaged', value: 'garbage', storedAt: 0, revision: 1 });
    expect(await cache.clear('a/b')).toBe(3);
    expect(await cache.read(serverOf('a/b', 'd1'))).toBeUndefined();
    expect(nameIn(await cache.read(serverOf('a_b')))).toBe('kept');
    expect(store.raw.size).toBe(1);
    expect(await cache.clear('a/b')).toBe(0);
  });

  it('DISC-4 clears everything', async () => {
    const { cache, store } = setUp();
    await cache.write(serverOf('a'), listedOf('x'), {});
    await cache.write(serverOf('b'), listedOf('x'), {});
    expect(await cache.clear()).toBe(2);
    expect(store.raw.size).toBe(0);
    expect(cache.stats().entries).toBe(0);
  });

  it('DISC-4 lists of forgotten credentials go after a month, those in use stay', async () => {
    const { cache, another, store, time } = setUp();
    await cache.write(serverOf('a', 'old'), listedOf('x'), {});
    await cache.write(serverOf('b'), listedOf('x'), {});
    time.now += 31 * 24 * HOUR;
    const lists = await another().readAll([serverOf('a', 'new'), serverOf('b')]);
    expect([...lists.keys()]).toEqual(['b']);
    expect(store.raw.size).toBe(1);
  });

  it('DISC-4 what is changed while many lists are read neither loses a list nor brings an old one back', async () => {
    const { cache, another, store } = setUp();
    const many = Array.from({ length: 40 }, (_, i) => serverOf(`s${i}`));
    for (const server of many) await cache.write(server, listedOf('old'), {});
    const last = many.at(-1)!;

    const overtaken = cache.readAll(many);
    await nextTurn();
    store.announce('tools');
    expect((await overtaken).size).toBe(40);
    expect(cache.stats().entries).toBe(0);

    const reading = another();
    const early = reading.readAll(many);
    await nextTurn();
    await reading.write(last, listedOf('new'), {});
    expect(nameIn((await early).get(last.id))).toBe('new');
    expect(nameIn(await reading.read(last))).toBe('new');

    const clearing = another();
    const late = clearing.readAll(many);
    await nextTurn();
    await clearing.clear();
    await late;
    expect(await clearing.read(last)).toBeUndefined();
  });
});
