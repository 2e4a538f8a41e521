import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InventoryItem } from './inventory.js';
import type { ProbeResult } from './probe.js';
import { afterProbe, delayAfter, dueNow, itemOf, newState, syncStates, type CheckState } from './schedule.js';

const POLICY = { refreshMs: 60_000, staleMaxMs: 3_600_000 };
const ITEM: InventoryItem = {
  id: 'x',
  name: 'X',
  transport: 'http',
  baseUrl: 'http://x',
  shownUrl: 'http://x',
  headers: {},
  tags: ['b', 'a'],
  own: false,
};
const GOOD: ProbeResult = {
  alive: true,
  reason: null,
  latencyMs: 5,
  locations: ['p'],
  description: { name: 'Said', version: '2', capabilities: ['b', 'a'] },
};
const BAD: ProbeResult = { alive: false, reason: 'well_known_error:timeout', latencyMs: 9, locations: [] };
const step = (state: CheckState, result: ProbeResult, at: number, random = 0.5): CheckState =>
  afterProbe(state, result, { monotonic: at, wall: at + 1_000_000 }, POLICY, random);

describe('the schedule', () => {
  it('REG-6 the interval strays by a tenth to either side, and grows with failures up to tenfold', () => {
    expect(delayAfter(0, POLICY, 0.5)).toBe(60_000);
    expect(delayAfter(0, POLICY, 0)).toBe(54_000);
    expect([1, 2, 3, 4, 5, 2000].map((n) => delayAfter(n, POLICY, 0.5) / 60_000)).toEqual([2, 4, 8, 10, 10, 10]);
    fc.assert(
      fc.property(fc.nat(5000), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (failures, random) => {
        const factor = failures === 0 ? 1 : Math.min(2 ** failures, 10);
        const delay = delayAfter(failures, POLICY, random) / (POLICY.refreshMs * factor);
        expect(delay).toBeGreaterThanOrEqual(0.9 - 1e-9);
        expect(delay).toBeLessThanOrEqual(1.1 + 1e-9);
      }),
    );
  });

  it('REG-6 a server that was never checked is pending and due at once', () => {
    const state = newState(7);
    expect(itemOf(ITEM, state, 7, POLICY)).toEqual({
      id: 'x',
      name: 'X',
      version: null,
      base_url: 'http://x',
      transport: 'http',
      alive: false,
      latency_ms: null,
      capabilities: [],
      tags: ['a', 'b'],
      last_checked_ts: null,
      failure_reason: 'pending',
      consecutive_failures: 0,
    });
    expect(dueNow(new Map([['x', state]]), 7)).toEqual({ due: ['x'], nextAt: undefined });
  });

  it('REG-6 what a server said is kept while it fails, for as long as it may be stale and no longer', () => {
    let state = step(newState(0), GOOD, 1000);
    expect(itemOf(ITEM, state, 1000, POLICY)).toMatchObject({
      name: 'Said',
      version: '2',
      capabilities: ['a', 'b'],
      alive: true,
      failure_reason: null,
    });
    state = step(state, BAD, 61_000);
    state = step(state, BAD, 200_000);
    const kept = {
      name: 'Said',
      version: '2',
      capabilities: ['a', 'b'],
      alive: false,
      failure_reason: 'well_known_error:timeout',
      consecutive_failures: 2,
    };
    expect(itemOf(ITEM, state, 1000 + 3_600_000, POLICY)).toMatchObject(kept);
    expect(itemOf(ITEM, state, 1001 + 3_600_000, POLICY)).toMatchObject({
      ...kept,
      name: 'X',
      version: null,
      capabilities: [],
    });
    expect(state.locations).toEqual(['p']);
    expect(step(state, GOOD, 5_000_000)).toMatchObject({ failures: 0, reason: null });
  });

  it('REG-6 removed servers are forgotten, new ones are due, the others stay as they are', () => {
    const old = step(newState(0), GOOD, 1000);
    const states = syncStates(
      new Map([
        ['gone', old],
        ['kept', old],
      ]),
      ['kept', 'new'],
      5000,
    );
    expect([...states.keys()]).toEqual(['kept', 'new']);
    expect(states.get('kept')).toBe(old);
    expect(dueNow(states, 5000)).toEqual({ due: ['new'], nextAt: 61_000 });
    expect(dueNow(states, 61_000).due).toEqual(['new', 'kept']);
  });

  it('REG-6 a server that does not fail is not stale, however rarely it is checked', () => {
    const policy = { refreshMs: 7_200_000, staleMaxMs: 1000 };
    const state = afterProbe(newState(0), GOOD, { monotonic: 0, wall: 0 }, policy, 0.5);
    const said = { name: 'Said', version: '2', capabilities: ['a', 'b'], alive: true };
    expect(itemOf(ITEM, state, 7_199_999, policy)).toMatchObject(said);
    const failed = afterProbe(state, BAD, { monotonic: 7_200_000, wall: 0 }, policy, 0.5);
    expect(itemOf(ITEM, failed, 7_200_000, policy)).toMatchObject({ name: 'X', version: null, capabilities: [] });
  });
});
