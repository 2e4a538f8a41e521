import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { stdioServer } from '../../../test/support/test-server.js';
import type { Server } from '../../model/server.js';
import { createLimiter } from './limiter.js';

const server = (id = 'one', rateLimit = { requestsPerSecond: 10, burstSize: 20 }): Server =>
  stdioServer(id, { command: 'true' }, { rateLimit });

function takes(limiter: ReturnType<typeof createLimiter>, target: Server, principal?: string): number {
  let taken = 0;
  try {
    for (; taken < 1000; taken++) limiter.take(target, principal);
  } catch {
    return taken;
  }
  return taken;
}

describe('limiter', () => {
  it('CONN-7 allows a burst, then the rate', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    expect(takes(limiter, server())).toBe(20);
    await clock.advance(1000);
    expect(takes(limiter, server())).toBe(10);
    await clock.advance(60_000);
    expect(takes(limiter, server())).toBe(20);
  });

  it('CONN-7 refuses with the time after which a token is there', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    takes(limiter, server());
    expect(() => limiter.take(server())).toThrow(
      expect.objectContaining({ code: 'RATE_LIMITED', retryAfterMs: 100, delivered: false }),
    );
    await clock.advance(40);
    expect(() => limiter.take(server())).toThrow(expect.objectContaining({ retryAfterMs: 60 }));
    await clock.advance(60);
    expect(takes(limiter, server())).toBe(1);
  });

  it('A43 CONN-7 a principal that asks without end leaves the others their share', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    expect(takes(limiter, server(), 'greedy')).toBe(20);
    expect(takes(limiter, server(), 'modest')).toBe(10);
    const taken = { greedy: 0, modest: 0 };
    for (let tenth = 0; tenth < 100; tenth++) {
      await clock.advance(100);
      taken.greedy += takes(limiter, server(), 'greedy');
      if (tenth % 10 === 0) taken.modest += takes(limiter, server(), 'modest');
    }
    expect(taken.greedy).toBeLessThanOrEqual(51);
    expect(taken.modest).toBeGreaterThanOrEqual(45);
    expect(() => limiter.take(server(), 'greedy')).toThrow(/used by 2 clients, which share it; try again in \d+ ms/);
  });

  it('A43 CONN-7 principals that wait are served in turn, each in its own order', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    takes(limiter, server());
    const served: string[] = [];
    const wait = (principal: string, name: string): void =>
      void limiter.wait(server(), undefined, principal).then(() => served.push(name));
    for (const name of ['g1', 'g2', 'g3', 'g4']) wait('greedy', name);
    wait('modest', 'm1');
    wait('other', 'o1');
    wait('modest', 'm2');
    await clock.advance(350);
    expect(served).toEqual(['g1', 'm1', 'o1']);
    // One who comes later does not overtake those who wait for the same round.
    wait('late', 'l1');
    await clock.advance(500);
    expect(served).toEqual(['g1', 'm1', 'o1', 'l1', 'g2', 'm2', 'g3', 'g4']);
  });

  it('A43 CONN-7 a principal that is alone again has the whole rate', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    takes(limiter, server(), 'a');
    takes(limiter, server(), 'b');
    await clock.advance(10_001);
    expect(takes(limiter, server(), 'a')).toBe(20);
    await clock.advance(1000);
    expect(takes(limiter, server(), 'a')).toBe(10);
  });

  it('CONN-7 has one bucket a server', () => {
    const limiter = createLimiter({ clock: createFakeClock() });
    expect(takes(limiter, server('one'))).toBe(20);
    expect(takes(limiter, server('two'))).toBe(20);
    expect(takes(limiter, server('__proto__'))).toBe(20);
  });

  it('CONN-7 takes new limits into the same bucket', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    takes(limiter, server());
    expect(takes(limiter, server('one', { requestsPerSecond: 100, burstSize: 50 }))).toBe(0);
    await clock.advance(200);
    expect(takes(limiter, server('one', { requestsPerSecond: 100, burstSize: 50 }))).toBe(20);
    await clock.advance(10_000);
    expect(takes(limiter, server('one', { requestsPerSecond: 1, burstSize: 3 }))).toBe(3);
  });

  it('CONN-7 lets discovery wait, first come first served', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    const one = server('one', { requestsPerSecond: 10, burstSize: 1 });
    const served: number[] = [];
    for (const name of [1, 2, 3]) void limiter.wait(one).then(() => served.push(name));
    await clock.advance(0);
    expect(served).toEqual([1]);
    await clock.advance(100);
    expect(served).toEqual([1, 2]);
    await clock.advance(100);
    expect(served).toEqual([1, 2, 3]);
    expect(clock.waiting).toBe(0);
  });

  it('CONN-7 does not let an execution overtake those who wait', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    const one = server('one', { requestsPerSecond: 10, burstSize: 1 });
    limiter.take(one);
    const first = limiter.wait(one);
    expect(() => limiter.take(one)).toThrow(expect.objectContaining({ retryAfterMs: 200 }));
    await clock.advance(100);
    await first;
    expect(() => limiter.take(one)).toThrow(expect.objectContaining({ retryAfterMs: 100 }));
  });

  it('CONN-7 serves those who wait at once when the limits are raised', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    const slow = server('one', { requestsPerSecond: 0.001, burstSize: 1 });
    limiter.take(slow);
    let served = 0;
    void limiter.wait(slow).then(() => served++);
    await clock.advance(1000);
    expect(served).toBe(0);
    void limiter.wait(server('one', { requestsPerSecond: 1000, burstSize: 10 })).then(() => served++);
    await clock.advance(5);
    expect(served).toBe(2);
  });

  it('CONN-7 keeps the process alive while somebody waits, and no longer', async () => {
    const clock = createFakeClock();
    const held: Array<boolean | undefined> = [];
    const limiter = createLimiter({
      clock: {
        ...clock,
        after(ms, task, options) {
          held.push(options?.awaited);
          return clock.after(ms, task, options);
        },
      },
    });
    const one = server('one', { requestsPerSecond: 10, burstSize: 1 });
    limiter.take(one);
    const leaving = new AbortController();
    const left = limiter.wait(one, leaving.signal);
    const stayed = limiter.wait(one);
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    expect(clock.waiting).toBe(1);
    await clock.advance(100);
    await stayed;
    const alone = limiter.wait(one, AbortSignal.abort(new Error('gone')));
    await expect(alone).rejects.toThrow('gone');
    const last = new AbortController();
    const waiting = limiter.wait(one, last.signal);
    last.abort(new Error('over'));
    await expect(waiting).rejects.toThrow('over');
    expect(clock.waiting).toBe(0);
    expect(new Set(held)).toEqual(new Set([true]));
  });

  it('CONN-7 forgets who stopped waiting', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    const one = server('one', { requestsPerSecond: 10, burstSize: 1 });
    limiter.take(one);
    const controller = new AbortController();
    const left = limiter.wait(one, controller.signal);
    const stayed = limiter.wait(one);
    controller.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    await clock.advance(100);
    await stayed;
    await expect(limiter.wait(one, AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
  });

  it('CONN-7 a tiny rate waits at most a day and does not spin', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    const one = server('one', { requestsPerSecond: 1e-12, burstSize: 1 });
    limiter.take(one);
    expect(() => limiter.take(one)).toThrow(expect.objectContaining({ retryAfterMs: 86_400_000 }));
  });
});
