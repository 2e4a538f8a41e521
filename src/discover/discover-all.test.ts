import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { ToolscoutError } from '../kernel/errors.js';
import { discoverAll, type DiscoverAllOptions, type DiscoverProgress } from './discover-all.js';

const serversOf = (count: number): Array<{ id: string }> => Array.from({ length: count }, (_, i) => ({ id: `s${i}` }));

/** A task that takes as long as `durations` says (`Infinity`: for ever) and notes how many run at once. */
function setUp(count: number, duration: (id: string) => number, options: Partial<DiscoverAllOptions> = {}) {
  const clock = createFakeClock(0);
  const started: string[] = [];
  const progress: DiscoverProgress[] = [];
  let running = 0;
  let most = 0;
  const results = discoverAll(
    serversOf(count),
    (server) =>
      new Promise<string>((resolve) => {
        started.push(server.id);
        most = Math.max(most, ++running);
        const ms = duration(server.id);
        const finish = (): void => {
          running--;
          resolve(`${server.id} at ${clock.now()}`);
        };
        if (ms < Infinity) clock.after(ms, finish);
      }),
    { clock, parallel: 5, onProgress: (step) => progress.push(step), ...options },
  );
  return { clock, started, progress, results, most: () => most };
}

const hangs = (id: string): boolean => Number(id.slice(1)) % 10 === 0;

describe('discoverAll', () => {
  it('DISC-3 runs at most `parallel` at once and answers in the order of the servers', async () => {
    const bench = setUp(20, (id) => 100 - Number(id.slice(1)));
    await bench.clock.advance(1000);
    const results = await bench.results;
    expect(bench.most()).toBe(5);
    expect(results.map((result) => result.server)).toEqual(serversOf(20).map((server) => server.id));
    expect(results.every((result) => result.ok)).toBe(true);
    expect(bench.clock.waiting).toBe(0);
  });

  it('DISC-3 one failure never fails the others, and says what happened', async () => {
    const clock = createFakeClock(0);
    const known = new ToolscoutError('AUTHENTICATION_FAILED', 'no');
    const results = await discoverAll(
      serversOf(4),
      (server) => {
        if (server.id === 's0') return Promise.reject(known);
        if (server.id === 's1') throw new TypeError('sync');
        return Promise.resolve(server.id);
      },
      { clock, parallel: 2 },
    );
    expect(results[0]).toEqual({ server: 's0', ok: false, error: known });
    expect(results[1]).toMatchObject({
      server: 's1',
      ok: false,
      error: { code: 'TOOLS_LIST_FAILED', message: 'sync' },
    });
    expect(results.slice(2)).toEqual([
      { server: 's2', ok: true, value: 's2' },
      { server: 's3', ok: true, value: 's3' },
    ]);
  });

  it('DISC-3 reports progress once for each server', async () => {
    const bench = setUp(3, (id) => 30 - 10 * Number(id.slice(1)));
    await bench.clock.advance(100);
    await bench.results;
    expect(bench.progress).toEqual([
      { done: 1, total: 3, server: 's2', ok: true },
      { done: 2, total: 3, server: 's1', ok: true },
      { done: 3, total: 3, server: 's0', ok: true },
    ]);
  });

  it('DISC-3 a listener of progress that throws harms nothing', async () => {
    const clock = createFakeClock(0);
    const results = await discoverAll(serversOf(2), (server) => Promise.resolve(server.id), {
      clock,
      parallel: 1,
      onProgress: () => {
        throw new Error('listener');
      },
    });
    expect(results.map((result) => result.ok)).toEqual([true, true]);
  });

  it('DISC-3 of 1,000 servers 100 hang, and the other 900 are done in their own time', async () => {
    const stop = new AbortController();
    const bench = setUp(1000, (id) => (hangs(id) ? Infinity : 10), { signal: stop.signal, lendSlots: true });
    // 900 servers of 10 ms each over 5 places need 1.8 s; the hanging ones may cost some patience on top.
    await bench.clock.advance(10_000);
    expect(bench.progress.filter((step) => step.ok)).toHaveLength(900);
    expect(bench.started).toHaveLength(1000);
    stop.abort();
    const results = await bench.results;
    expect(results.filter((result) => !result.ok).map((result) => result.server)).toEqual(
      serversOf(1000)
        .map((server) => server.id)
        .filter(hangs),
    );
  });

  it('DISC-2 DISC-3 without lendSlots the bound holds however long a server takes', async () => {
    const bench = setUp(12, (id) => (Number(id.slice(1)) < 5 ? 60_000 : 10), { patienceMs: 500 });
    await bench.clock.advance(59_000);
    expect(bench.started).toHaveLength(5);
    await bench.clock.advance(2000);
    expect((await bench.results).every(({ ok }) => ok)).toBe(true);
    expect(bench.most()).toBe(5);
  });

  it('DISC-3 a place is lent only after the patience has run out', async () => {
    const bench = setUp(3, (id) => (id === 's0' ? Infinity : 10), { parallel: 1, lendSlots: true, patienceMs: 500 });
    await bench.clock.advance(499);
    expect(bench.started).toEqual(['s0']);
    await bench.clock.advance(1);
    expect(bench.started).toEqual(['s0', 's1']);
    await bench.clock.advance(20);
    expect(bench.started).toEqual(['s0', 's1', 's2']);
  });

  it('DISC-3 patience wears thin while others hang', async () => {
    const bench = setUp(3, () => Infinity, { parallel: 1, lendSlots: true, patienceMs: 600 });
    await bench.clock.advance(600);
    expect(bench.started).toEqual(['s0', 's1']);
    await bench.clock.advance(300);
    expect(bench.started).toEqual(['s0', 's1', 's2']);
  });

  it('DISC-3 a late task is still waited for and its place is not given back twice', async () => {
    const bench = setUp(6, (id) => (id === 's0' ? 700 : 100), { parallel: 1, lendSlots: true, patienceMs: 500 });
    await bench.clock.advance(5000);
    const results = await bench.results;
    expect(results[0]).toEqual({ server: 's0', ok: true, value: 's0 at 700' });
    expect(results[5]).toEqual({ server: 's5', ok: true, value: 's5 at 1000' });
    expect(bench.most()).toBe(2);
  });

  it('DISC-3 the number of lent places is bounded, and a freed one is lent again', async () => {
    const bench = setUp(4, (id) => (id === 's0' ? 2000 : Infinity), {
      parallel: 1,
      lendSlots: true,
      patienceMs: 500,
      sleepers: 1,
    });
    await bench.clock.advance(1500);
    expect(bench.started).toEqual(['s0', 's1']);
    await bench.clock.advance(600);
    expect(bench.started).toEqual(['s0', 's1', 's2']);
    await bench.clock.advance(10_000);
    expect(bench.started).toEqual(['s0', 's1', 's2']);
  });

  it('DISC-3 an abort settles running and waiting servers at once and starts nothing more', async () => {
    const stop = new AbortController();
    const bench = setUp(4, () => Infinity, { parallel: 2, signal: stop.signal });
    await bench.clock.advance(10);
    stop.abort();
    const results = await bench.results;
    expect(results).toHaveLength(4);
    for (const result of results) expect(result).toMatchObject({ ok: false, error: { code: 'CANCELLED' } });
    expect(bench.started).toEqual(['s0', 's1']);
  });

  it('DISC-3 a signal that was aborted before starts nothing', async () => {
    const bench = setUp(2, () => 1, { signal: AbortSignal.abort() });
    expect((await bench.results).every((result) => !result.ok)).toBe(true);
    expect(bench.started).toEqual([]);
  });

  it('DISC-3 hands the signal to the task', async () => {
    const { signal } = new AbortController();
    const seen: AbortSignal[] = [];
    const task = (_server: unknown, given: AbortSignal): Promise<void> => {
      seen.push(given);
      return Promise.resolve();
    };
    await discoverAll(serversOf(1), task, { clock: createFakeClock(0), parallel: 1, signal });
    expect(seen).toEqual([signal]);
  });

  it.each([0, -1, Number.NaN])('DISC-3 a parallel of %d still makes progress', async (parallel) => {
    const results = await discoverAll(serversOf(3), (server) => Promise.resolve(server.id), {
      clock: createFakeClock(0),
      parallel,
    });
    expect(results).toHaveLength(3);
  });

  it('DISC-3 no servers give no results', async () => {
    expect(await discoverAll([], () => Promise.resolve(1), { clock: createFakeClock(0), parallel: 5 })).toEqual([]);
  });
});
