import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.js';
import { sleep } from '../kernel/clock.js';
import { silentLog } from '../kernel/log.js';
import type { InventoryItem } from './inventory.js';
import { createProbe, type Probe, type ProbeResult } from './probe.js';
import { createRegistry, type LocalState, type ReadInventory, type Registry, type RegistryDeps } from './registry.js';
import { createSafeFetch } from '../net/safe-fetch.js';
import { patient } from '../../test/support/patience.js';

const item = (id: string, more: Partial<InventoryItem> = {}): InventoryItem => ({
  id,
  name: id.toUpperCase(),
  transport: 'http',
  baseUrl: `http://${id}.example`,
  shownUrl: `http://${id}.example`,
  headers: {},
  tags: [],
  own: false,
  ...more,
});

const good = (name: string): ProbeResult => ({
  alive: true,
  reason: null,
  latencyMs: 3,
  locations: ['p'],
  description: { name, version: '1', capabilities: ['c'] },
});
const BAD: ProbeResult = { alive: false, reason: 'well_known_error:timeout', latencyMs: 1500, locations: [] };

interface Bench {
  readonly registry: Registry;
  readonly clock: FakeClock;
  readonly probed: string[];
  inventory: ReadInventory;
  answer: (id: string) => ProbeResult | Promise<ProbeResult>;
  local: (item: InventoryItem) => LocalState | undefined;
}

function bench(items: readonly InventoryItem[], more: Partial<RegistryDeps> = {}): Bench {
  const clock = createFakeClock();
  const probed: string[] = [];
  const it: { -readonly [K in keyof Bench]: Bench[K] } = {
    clock,
    probed,
    inventory: { items, problems: [] },
    answer: (id) => good(id),
    local: () => undefined,
    registry: undefined as unknown as Registry,
  };
  const probe: Probe = async ({ id }) => {
    probed.push(id);
    return it.answer(id);
  };
  it.registry = createRegistry({
    clock,
    log: silentLog,
    random: () => 0.5,
    probe,
    policy: { refreshMs: 60_000, staleMaxMs: 3_600_000 },
    parallel: 4,
    lendAfterMs: 200,
    enabled: true,
    readInventory: async () => it.inventory,
    localState: (each) => it.local(each),
    ...more,
  });
  onTestFinished(() => it.registry.stop());
  return it;
}

describe('the registry', () => {
  it('REG-4 without a file and without servers it is misconfigured, before the first check unavailable', async () => {
    const empty = bench([]);
    expect(() => empty.registry.snapshot()).toThrow(expect.objectContaining({ code: 'REGISTRY_UNAVAILABLE' }));
    empty.inventory = { items: [], problems: [], missing: 'tools/tools.yaml is not there' };
    await empty.registry.refresh();
    expect(() => empty.registry.snapshot()).toThrow(expect.objectContaining({ code: 'REGISTRY_MISCONFIGURED' }));
    empty.inventory = { items: [], problems: [] };
    await empty.registry.refresh();
    expect(empty.registry.snapshot().items).toEqual([]);

    const { registry } = bench([item('a')]);
    await registry.sync();
    expect(() => registry.snapshot()).toThrow(expect.objectContaining({ code: 'REGISTRY_UNAVAILABLE' }));
    await registry.refresh();
    expect(registry.snapshot().items).toMatchObject([{ id: 'a', name: 'a', alive: true }]);
    expect(registry.snapshot({ alive: false }).items).toEqual([]);
    expect(registry.snapshot(new URLSearchParams('alive=yes&capability=c')).items).toHaveLength(1);
    expect(() => registry.snapshot(new URLSearchParams('alive=perhaps'))).toThrow(/perhaps/);
  });

  it('REG-4 a file that is missing where the user named none is not worth a line of the log', async () => {
    const lines: string[] = [];
    const note = (level: string) => (event: string) => void lines.push(`${level} ${event}`);
    const log = { ...silentLog, info: note('info'), debug: note('debug') };
    for (const isUnasked of [true, false]) {
      const inventory = { items: [], problems: [], missing: 'tools/tools.yaml does not exist', isUnasked };
      await bench([], { log, readInventory: async () => inventory }).registry.refresh();
    }
    expect(lines.filter((line) => line.includes('missing'))).toEqual([
      'debug tools.registry.missing',
      'info tools.registry.missing',
    ]);
  });

  it('REG-4 a missing file is no matter when servers are configured', async () => {
    const { registry } = bench([]);
    const own = bench([item('own', { transport: 'stdio', baseUrl: undefined, shownUrl: null })]);
    own.inventory = { ...own.inventory, missing: 'tools/tools.yaml is not there' };
    await own.registry.refresh();
    expect(own.registry.snapshot().items).toMatchObject([
      { id: 'own', base_url: null, transport: 'stdio', alive: false, failure_reason: 'pending' },
    ]);
    expect(own.probed).toEqual([]);
    expect(registry.problems()).toEqual([]);
  });

  it('REG-1 A28 what a local server calls its version is bounded and printable, as what is asked over HTTP is', async () => {
    const state = bench([item('local', { transport: 'stdio', baseUrl: undefined, shownUrl: null })]);
    state.local = () => ({ alive: true, version: `1\u001b[2J\n${'9'.repeat(100_000)}`, reason: null });
    await state.registry.refresh();
    const { version } = state.registry.snapshot().items[0]!;
    expect(version!.length).toBeLessThanOrEqual(200);
    expect(version).toMatch(/^1[ -~\u00a0-\uffff]*$/);
    state.local = () => ({ alive: true, version: ' ', reason: null });
    expect(state.registry.snapshot().items[0]!.version).toBeNull();
  });

  it('REG-5 REG-1 servers over stdio take their state from the pool, remote ones when their connection is open', async () => {
    const state = bench([item('local', { transport: 'stdio', baseUrl: undefined, shownUrl: null }), item('far')]);
    state.answer = () => BAD;
    state.local = () => ({
      alive: true,
      version: '7',
      latencyMs: 2,
      checkedAt: 0,
      capabilities: ['b', 'a'],
      reason: null,
    });
    await state.registry.refresh();
    expect(state.registry.snapshot().items).toMatchObject([
      { id: 'far', alive: true, failure_reason: null, consecutive_failures: 0 },
      {
        id: 'local',
        alive: true,
        version: '7',
        latency_ms: 2,
        capabilities: ['a', 'b'],
        last_checked_ts: '1970-01-01T00:00:00.000Z',
      },
    ]);
    state.local = () => ({ alive: false, reason: 'health_error:connection' });
    expect(state.registry.snapshot().items).toMatchObject([
      { id: 'far', alive: false, failure_reason: 'well_known_error:timeout', consecutive_failures: 1 },
      { id: 'local', alive: false, failure_reason: 'health_error:connection' },
    ]);
  });

  it('REG-6 the background checks at once, then every interval, and less often after failures', async () => {
    const state = bench([item('a'), item('b')]);
    state.answer = (id) => (id === 'a' ? good('a') : BAD);
    state.registry.start();
    await state.clock.advance(0);
    expect(state.probed.toSorted()).toEqual(['a', 'b']);
    await state.clock.advance(59_000);
    expect(state.probed).toHaveLength(2);
    await state.clock.advance(1500);
    expect(state.probed.slice(2)).toEqual(['a']);
    await state.clock.advance(60_000);
    expect(state.probed.slice(3).toSorted()).toEqual(['a', 'b']);
    await state.registry.stop();
    const before = state.probed.length;
    await state.clock.advance(10_000_000);
    expect(state.probed).toHaveLength(before);
    expect(state.clock.waiting).toBe(0);
  });

  it('CFG-7 REG-6 the background can be switched off; asking by hand still works', async () => {
    const state = bench([item('a')], { enabled: false });
    state.registry.start();
    await state.clock.advance(1_000_000);
    expect(state.probed).toEqual([]);
    await state.registry.refresh();
    expect(state.registry.snapshot().items).toHaveLength(1);
  });

  it('REG-6 REG-4 the inventory is read again: removed servers go, new ones come, moved ones start anew', async () => {
    const state = bench([item('a'), item('b')]);
    state.registry.start();
    await state.clock.advance(1000);
    state.inventory = {
      items: [item('b', { baseUrl: 'http://moved.example' }), item('c')],
      problems: [{ path: 'tools[0]', message: 'has no id' }],
    };
    state.answer = (id) => (id === 'b' ? BAD : good(id));
    await state.clock.advance(61_000);
    expect(state.registry.snapshot().items).toMatchObject([
      // What the old address said does not count for the new one.
      { id: 'b', name: 'B', capabilities: [], alive: false },
      { id: 'c', alive: true },
    ]);
    expect(state.registry.problems()).toHaveLength(1);
  });

  it('REG-6 an inventory that cannot be read keeps the last one going', async () => {
    const state = bench([item('a')]);
    let broken = false;
    const { registry, clock } = bench([], {
      readInventory: async () => {
        if (broken) throw new Error('disk');
        return state.inventory;
      },
    });
    registry.start();
    await clock.advance(1000);
    broken = true;
    await clock.advance(200_000);
    expect(registry.snapshot().items).toHaveLength(1);
    await expect(registry.refresh()).rejects.toThrow('disk');
  });

  it('REG-3 reports a state that came back to a reader who saw another one meanwhile', async () => {
    const state = bench([item('local', { transport: 'stdio', baseUrl: undefined, shownUrl: null })]);
    const well: LocalState = { alive: true, reason: null };
    state.local = () => well;
    await state.registry.refresh();
    await state.clock.advance(200);
    const before = state.registry.snapshot().registry_hash;
    const hashes: string[] = [];
    state.registry.onChange((hash) => hashes.push(hash));
    state.local = () => ({ alive: false, reason: 'health_error:connection' });
    state.registry.touch();
    expect(state.registry.snapshot().registry_hash).not.toBe(before);
    state.local = () => well;
    await state.clock.advance(200);
    expect(hashes).toEqual([before]);
    state.registry.touch();
    await state.clock.advance(200);
    expect(hashes).toHaveLength(1);
  });

  it('REG-3 onChange tells a new hash once, and nothing when only latency changed', async () => {
    const state = bench([item('a')]);
    const hashes: string[] = [];
    state.registry.onChange((hash) => hashes.push(hash));
    await state.registry.refresh();
    await state.clock.advance(100);
    expect(hashes).toEqual([state.registry.snapshot().registry_hash]);
    state.answer = () => ({ ...good('a'), latencyMs: 99 });
    await state.registry.refresh();
    await state.clock.advance(100);
    expect(hashes).toHaveLength(1);
    state.answer = () => BAD;
    await state.registry.refresh();
    await state.clock.advance(100);
    expect(hashes).toHaveLength(2);
    state.local = () => ({ alive: true, reason: null });
    state.registry.touch();
    await state.clock.advance(100);
    expect(hashes).toHaveLength(3);
  });

  it('REG-5 no more than `parallel` run at once, no server is probed twice at once, and a probe that throws affects no other', async () => {
    const state = bench(Array.from({ length: 20 }, (_, at) => item(`s${at}`)));
    let running = 0;
    let most = 0;
    state.answer = async (id) => {
      running += 1;
      most = Math.max(most, running);
      await sleep(state.clock, 10);
      running -= 1;
      if (id === 's3') throw new Error('a bug');
      return good(id);
    };
    const both = Promise.all([
      state.registry.refresh(),
      state.registry.refresh(),
      state.registry.refresh(['s1', 'nobody']),
    ]);
    await state.clock.advance(1000);
    await both;
    expect(most).toBe(4);
    expect(state.probed).toHaveLength(20);
    expect(state.registry.snapshot().items.filter(({ alive }) => alive)).toHaveLength(19);
  });

  it('REG-5 A29 a server that hangs lends its place, so that the others wait a moment and not a timeout', async () => {
    const state = bench(Array.from({ length: 12 }, (_, at) => item(`s${at}`)));
    state.answer = async (id) => {
      const hangs = Number(id.slice(1)) < 8;
      if (hangs) await sleep(state.clock, 10_000);
      return hangs ? BAD : good(id);
    };
    const all = state.registry.refresh();
    await state.clock.advance(399);
    expect(state.probed).toHaveLength(8);
    await state.clock.advance(1);
    expect(state.registry.snapshot({ alive: true }).items).toHaveLength(4);
    await state.clock.advance(10_400);
    await all;
    expect(state.registry.snapshot().items.filter(({ alive }) => alive)).toHaveLength(4);
    expect(state.clock.waiting).toBeLessThanOrEqual(1);
  });

  it(
    'REG-5 A29 500 servers of which 50 hang and 50 answer garbage are done within two timeouts',
    { timeout: patient(60_000) },
    async () => {
      const server = createServer((request, response) => {
        const at = Number(/^\/(\d+)/.exec(request.url ?? '')?.[1]);
        if (at % 10 === 0) return;
        if (at % 10 === 1) return void response.end('\0garbage{');
        response.end(JSON.stringify({ name: `server ${at}`, version: '1', capabilities: ['c'], status: 'ok' }));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => {
        server.closeAllConnections();
        server.close();
      });
      const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const clock = createFakeClock();
      const fetch = createSafeFetch({ clock, userAgent: 'x', timeoutMs: 1500, maxBytes: 1000 });
      const items = Array.from({ length: 500 }, (_, at) => item(`s${at}`, { baseUrl: `${base}/${at}`, own: true }));
      const { registry } = bench(items, { clock, parallel: 64, probe: createProbe({ fetch, clock, timeoutMs: 1500 }) });
      let done = 0;
      registry.onProbe(() => (done += 1));
      const counted = (): number => done;
      const all = registry.refresh();
      // Time does not move while servers answer; then it moves by two timeouts and no more.
      while (counted() < 450) await new Promise((resolve) => setImmediate(resolve));
      expect(done).toBe(450);
      await clock.advance(1500);
      await clock.advance(1500);
      await all;
      const { items: shown } = registry.snapshot();
      const count = (reason: string | null): number => shown.filter((each) => each.failure_reason === reason).length;
      expect([count(null), count('well_known_error:timeout'), count('well_known_error:invalid_json')]).toEqual([
        400, 50, 50,
      ]);
      expect(shown.filter(({ alive }) => alive)).toHaveLength(450);
    },
  );
});
