import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import type { Host } from '../../model/host.js';
import { createInFlight, type InFlight, type Pending, type RawRequest } from './in-flight.js';

const host = (id: string): Host => ({
  id,
  era: 'legacy',
  capabilities: {},
  request: async () => ({}),
  notify: () => undefined,
});

const entry = (options: Partial<RawRequest> = {}): Pending => ({
  resolve: () => undefined,
  reject: () => undefined,
  options: { timeoutMs: 1000, ...options },
  stream: undefined,
  due: 0,
  onAbort: undefined,
  waiting: 0,
});

function setUp() {
  const clock = createFakeClock();
  const expired: number[] = [];
  const inFlight: InFlight = createInFlight(clock, (id) => {
    expired.push(id);
    inFlight.take(id);
  });
  return { clock, expired, inFlight };
}

describe('requests in flight', () => {
  it('EXEC-1 each ends when its time is up, and one that was answered never does', async () => {
    const { clock, expired, inFlight } = setUp();
    inFlight.add(1, entry());
    inFlight.add(2, entry({ timeoutMs: 3000 }));
    inFlight.add(3, entry({ timeoutMs: 9000, deadline: 2000 }));
    expect(inFlight.take(9)).toBeUndefined();
    await clock.advance(1000);
    expect(expired).toEqual([1]);
    expect([...inFlight].map(([id]) => id)).toEqual([2, 3]);
    await clock.advance(1000);
    expect(expired).toEqual([1, 3]);
    expect(inFlight.take(2)?.options.timeoutMs).toBe(3000);
    await clock.advance(10_000);
    expect(expired).toEqual([1, 3]);
    expect(clock.waiting).toBe(0);
  });

  it('EXEC-1 while the server waits for the host only the deadline counts, however many questions there are', async () => {
    const { clock, expired, inFlight } = setUp();
    inFlight.add(1, entry());
    inFlight.add(2, entry({ deadline: 5000 }));
    for (const id of [1, 2]) inFlight.pause(id);
    inFlight.pause(1);
    inFlight.pause(7);
    await clock.advance(4999);
    expect(expired).toEqual([]);
    await clock.advance(1);
    expect(expired).toEqual([2]);
    inFlight.resume(1);
    await clock.advance(5000);
    expect(expired).toEqual([2]);
    inFlight.resume(1);
    inFlight.resume(7);
    await clock.advance(1000);
    expect(expired).toEqual([2, 1]);
  });

  it('EXEC-5 tells once when questions are open and when none is any more, also when the request ends', () => {
    const { inFlight } = setUp();
    const told: boolean[] = [];
    const onAsking = (isOpen: boolean): void => void told.push(isOpen);
    inFlight.add(1, entry({ onAsking }));
    inFlight.pause(1);
    inFlight.pause(1);
    inFlight.resume(1);
    expect(told).toEqual([true]);
    inFlight.resume(1);
    expect(told).toEqual([true, false]);
    inFlight.pause(1);
    inFlight.take(1);
    inFlight.resume(1);
    expect(told).toEqual([true, false, true, false]);
    inFlight.add(2, entry({ onAsking }));
    inFlight.take(2);
    expect(told).toHaveLength(4);
  });

  it('EXEC-5 tells that a server worked while its question was open: by progress, and where it answered without waiting', () => {
    const { inFlight } = setUp();
    const told: Array<[isOpen: boolean, worked: boolean]> = [];
    const onAsking = (isOpen: boolean, worked = false): void => void told.push([isOpen, worked]);
    inFlight.add(1, entry({ onAsking }));
    inFlight.extend(inFlight.get(1)!);
    expect(told).toEqual([]);
    inFlight.pause(1);
    inFlight.extend(inFlight.get(1)!);
    inFlight.take(1, true);
    expect(told).toEqual([
      [true, false],
      [true, true],
      [false, true],
    ]);
    inFlight.add(2, entry({ onAsking }));
    inFlight.pause(2);
    inFlight.take(2);
    expect(told.at(-1)).toEqual([false, false]);
  });

  it('A50 EXEC-1 progress restarts the time limit, up to the deadline', async () => {
    const { clock, expired, inFlight } = setUp();
    inFlight.add(1, entry({ deadline: 1700 }));
    await clock.advance(900);
    inFlight.extend(inFlight.get(1)!);
    await clock.advance(799);
    expect(expired).toEqual([]);
    await clock.advance(1);
    expect(expired).toEqual([1]);
  });

  it('META-6 a question goes to the oldest call that has a host, before all others one that is free', () => {
    const { inFlight } = setUp();
    expect(inFlight.oldest()).toBeUndefined();
    inFlight.add(1, entry());
    expect(inFlight.oldest(() => true)).toBeUndefined();
    inFlight.add(2, entry({ host: host('a') }));
    inFlight.add(3, entry({ host: host('b') }));
    expect(inFlight.oldest()).toMatchObject({ id: 2, host: { id: 'a' } });
    expect(inFlight.oldest((id) => id === 3)).toMatchObject({ id: 3, host: { id: 'b' } });
    expect(inFlight.oldest(() => false)).toMatchObject({ id: 2 });
  });
});
