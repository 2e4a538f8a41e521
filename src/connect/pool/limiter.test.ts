import { describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.js';
import { stdioServer } from '../../../test/support/test-server.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { Server } from '../../model/server.js';
import { createLimiter, MAX_WAITING, type Limiter } from './limiter.js';

const server = (id = 'one', rateLimit = { requestsPerSecond: 10, burstSize: 20 }): Server =>
  stdioServer(id, { command: 'true' }, { rateLimit });

/** Takes a token that must be there now. */
function take(limiter: Limiter, target: Server, principal?: string): void {
  expect(limiter.take(target, { principal, until: 0 })).toBeUndefined();
}

function takes(limiter: Limiter, target: Server, principal?: string): number {
  let taken = 0;
  try {
    for (; taken < 1000; taken++) take(limiter, target, principal);
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
    expect(() => take(limiter, server())).toThrow(
      expect.objectContaining({ code: 'RATE_LIMITED', retryAfterMs: 100, delivered: false }),
    );
    await clock.advance(40);
    expect(() => take(limiter, server())).toThrow(expect.objectContaining({ retryAfterMs: 60 }));
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
    expect(() => take(limiter, server(), 'greedy')).toThrow(
      /shared by 2 callers; the next attempt is possible in [\d.]+ m?s/,
    );
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
    // A later call does not overtake calls that wait for the same round.
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

  it('CONN-7 does not let an execution overtake waiting calls', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    const one = server('one', { requestsPerSecond: 10, burstSize: 1 });
    take(limiter, one);
    const first = limiter.wait(one);
    expect(() => take(limiter, one)).toThrow(expect.objectContaining({ retryAfterMs: 200 }));
    await clock.advance(100);
    await first;
    expect(() => take(limiter, one)).toThrow(expect.objectContaining({ retryAfterMs: 100 }));
  });

  it('CONN-7 serves waiting calls at once when the limits are raised', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    const slow = server('one', { requestsPerSecond: 0.001, burstSize: 1 });
    take(limiter, slow);
    let served = 0;
    void limiter.wait(slow).then(() => served++);
    await clock.advance(1000);
    expect(served).toBe(0);
    void limiter.wait(server('one', { requestsPerSecond: 1000, burstSize: 10 })).then(() => served++);
    await clock.advance(5);
    expect(served).toBe(2);
  });

  it('CONN-7 keeps the process alive while a call waits, and no longer', async () => {
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
    take(limiter, one);
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

  it('CONN-7 drops calls that stopped waiting', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    const one = server('one', { requestsPerSecond: 10, burstSize: 1 });
    take(limiter, one);
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
    take(limiter, one);
    expect(() => take(limiter, one)).toThrow(expect.objectContaining({ retryAfterMs: 86_400_000 }));
  });

  /** Waiting calls, by name in the order in which they are served or refused. */
  function queueOf(limiter: Limiter, target: Server, clock: FakeClock) {
    const ended: string[] = [];
    const join = (
      name: string,
      { principal = '', ms = 30_000, signal }: { principal?: string; ms?: number; signal?: AbortSignal } = {},
    ): void => {
      try {
        const turn = limiter.take(target, { principal, until: clock.monotonic() + ms, signal });
        if (!turn) ended.push(`${name} at once`);
        else
          turn.then(
            (waited) => ended.push(`${name} after ${Math.round(waited)}`),
            (error: Error & { code?: string }) => ended.push(`${name} ${error.code ?? error.message}`),
          );
      } catch (thrown) {
        ended.push(`${name} refused at once, ${(thrown as { retryAfterMs: number }).retryAfterMs}`);
      }
    };
    return { ended, join };
  }

  it('CONN-7 a call waits for its turn, in order, and learns how long it waited', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    const { ended, join } = queueOf(limiter, server('one', { requestsPerSecond: 10, burstSize: 1 }), clock);
    for (const name of ['a', 'b', 'c']) join(name);
    expect(ended).toEqual(['a at once']);
    await clock.advance(200);
    expect(ended).toEqual(['a at once', 'b after 100', 'c after 200']);
    expect(clock.waiting).toBe(0);
  });

  it('CONN-7 EXEC-3 a call whose turn comes after its deadline is refused at once, and says when to come back', () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    const { ended, join } = queueOf(limiter, server('one', { requestsPerSecond: 1, burstSize: 1 }), clock);
    join('a');
    join('b', { ms: 1000 });
    join('c', { ms: 1999 });
    join('d', { ms: 2000 });
    expect(ended).toEqual(['a at once', 'c refused at once, 2000']);
    expect(clock.waiting).toBe(1);
  });

  it('A43 CONN-7 a call that must let another principal go first is refused as soon as that makes it too late', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    const target = server('one', { requestsPerSecond: 1, burstSize: 1 });
    const { ended, join } = queueOf(limiter, target, clock);
    join('g0', { principal: 'greedy' });
    join('g1', { principal: 'greedy' });
    join('g2', { principal: 'greedy', ms: 2000 });
    // Its share is one token, which it has at once; then each of the two has half of the rate.
    join('m0', { principal: 'modest' });
    expect(ended).toEqual(['g0 at once', 'm0 at once']);
    await clock.advance(0);
    expect(ended).toEqual(['g0 at once', 'm0 at once', 'g2 RATE_LIMITED']);
    await clock.advance(2000);
    expect(ended.at(-1)).toBe('g1 after 2000');
  });

  it('A43 CONN-7 a principal that calls again at once does not overtake waiting calls', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    const target = server('one', { requestsPerSecond: 10, burstSize: 1 });
    const served: string[] = [];
    await limiter.wait(target);
    for (const name of ['g1', 'g2', 'g3']) void limiter.wait(target, undefined, 'greedy').then(() => served.push(name));
    const again = async (count: number): Promise<void> => {
      await limiter.wait(target, undefined, 'quick');
      served.push(`q${count}`);
      if (count < 3) await again(count + 1);
    };
    void again(1);
    await clock.advance(1000);
    expect(served).toEqual(['g1', 'q1', 'g2', 'q2', 'g3', 'q3']);
  });

  it('EXEC-1 CONN-7 a call that leaves the queue gives its place to the next', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    const { ended, join } = queueOf(limiter, server('one', { requestsPerSecond: 10, burstSize: 1 }), clock);
    const leaving = new AbortController();
    join('a');
    join('b', { signal: leaving.signal });
    join('c');
    leaving.abort(new Error('left'));
    join('gone', { signal: AbortSignal.abort({ retryAfterMs: 'never queued' }) });
    await clock.advance(100);
    expect(ended).toEqual(['a at once', 'gone refused at once, never queued', 'b left', 'c after 100']);
    expect(clock.waiting).toBe(0);
  });

  it('A43 CONN-7 the queue is bounded; a full one accepts calls of other principals and drops one of the principal with the most', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    const target = server('one', { requestsPerSecond: 1000, burstSize: 1 });
    const { ended, join } = queueOf(limiter, target, clock);
    join('first', { principal: 'greedy' });
    for (let count = 0; count < MAX_WAITING; count++) join(`g${count}`, { principal: 'greedy' });
    expect(ended).toEqual(['first at once']);
    join('one too many', { principal: 'greedy' });
    expect(ended).toEqual(['first at once', 'one too many refused at once, 1000']);
    join('m0', { principal: 'modest' });
    join('m1', { principal: 'modest' });
    await clock.advance(0);
    expect(ended.slice(2)).toEqual(['m0 at once', `g${MAX_WAITING - 1} RATE_LIMITED`]);
    await clock.advance(3);
    expect(ended).toContain('m1 after 2');
  });

  it('CFG-6 CONN-7 a reload gives waiting calls the new limit: higher, lower, none', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    const slow = server('one', { requestsPerSecond: 0.1, burstSize: 1 });
    const { ended, join } = queueOf(limiter, slow, clock);
    for (const name of ['a', 'b', 'c', 'd']) join(name);
    expect(ended).toEqual(['a at once']);
    limiter.retain([server('one', { requestsPerSecond: 1, burstSize: 1 })]);
    await clock.advance(1000);
    expect(ended).toEqual(['a at once', 'b after 1000']);
    limiter.retain([server('one', { requestsPerSecond: 0.04, burstSize: 1 })]);
    await clock.advance(0);
    // The turn of c comes in 25 seconds, that of d in 50, which is after its deadline.
    expect(ended.slice(2)).toEqual(['d RATE_LIMITED']);
    limiter.retain([stdioServer('one', { command: 'true' }, { rateLimit: false })]);
    await clock.advance(0);
    expect(ended.slice(3)).toEqual(['c after 1000']);
    expect(clock.waiting).toBe(0);
  });

  it('CFG-6 CONN-7 calls for a server that was removed wait no longer', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    const { ended, join } = queueOf(limiter, server('one', { requestsPerSecond: 0.1, burstSize: 1 }), clock);
    join('a');
    join('b');
    limiter.retain([]);
    await clock.advance(0);
    expect(ended).toEqual(['a at once', 'b after 0']);
    expect(clock.waiting).toBe(0);
  });

  it('CONN-3 closing rejects all waiting calls and all later ones', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    const target = server('one', { requestsPerSecond: 0.1, burstSize: 1 });
    const { ended, join } = queueOf(limiter, target, clock);
    join('a');
    join('b');
    limiter.close(new ToolscoutError('SHUTTING_DOWN', 'over', { retryAfterMs: 7 }));
    await clock.advance(0);
    join('c');
    expect(ended).toEqual(['a at once', 'b SHUTTING_DOWN', 'c refused at once, 7']);
    expect(clock.waiting).toBe(0);
  });

  it('CONN-7 a server without a limit lets everything pass', () => {
    const limiter = createLimiter({ clock: createFakeClock() });
    expect(takes(limiter, stdioServer('one', { command: 'true' }, { rateLimit: false }))).toBe(1000);
  });

  it('A43 CONN-7 with several principals the rate holds in the long run', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter({ clock });
    const target = server('one', { requestsPerSecond: 10, burstSize: 20 });
    const served = new Map<string, number>();
    const busy = async (principal: string): Promise<void> => {
      for (;;) {
        await limiter.take(target, { principal, until: Infinity });
        served.set(principal, (served.get(principal) ?? 0) + 1);
        if (clock.monotonic() > 60_000) return;
      }
    };
    for (const principal of ['a', 'b', 'c']) void busy(principal);
    await clock.advance(61_000);
    const counts = [...served.values()];
    const sum = counts.reduce((total, count) => total + count, 0);
    // A burst, what shares may owe, and ten a second.
    expect(sum).toBeLessThanOrEqual(20 + 20 + 610);
    expect(sum).toBeGreaterThanOrEqual(600);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(20);
  });
});
