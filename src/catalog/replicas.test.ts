import { describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.js';
import { stdioServer } from '../../test/support/test-server.js';
import { createLimiter } from '../connect/pool/limiter.js';
import { ToolscoutError } from '../kernel/errors.js';
import { silentLog } from '../kernel/log.js';
import type { Store } from '../model/store.js';
import { createMemoryStore } from '../store/index.js';
import { joinReplicas, type Replicas } from './replicas.js';

const LIMIT = { requestsPerSecond: 10, burstSize: 10 };
const server = stdioServer('limited', { command: 'true' }, { rateLimit: LIMIT });

interface Member {
  readonly replicas: Replicas;
  /** From now on nothing of it reaches the store. */
  kill(): void;
  /** Takes as many tokens as there are now, at most so many. */
  take(most: number): number;
}

function join(store: Store, clock: FakeClock): Member {
  let isDead = false;
  const put: Store['put'] = (...args) => (isDead ? new Promise(() => undefined) : store.put(...args));
  const replicas = joinReplicas({ store: { ...store, put }, clock, log: silentLog });
  const limiter = createLimiter({ clock, portions: replicas });
  return {
    replicas,
    kill: () => void (isDead = true),
    take(most) {
      for (let taken = 0; taken < most; taken++) {
        try {
          if (limiter.take(server, { until: 0 }) !== undefined) return taken;
        } catch (thrown) {
          expect((thrown as ToolscoutError).code).toBe('RATE_LIMITED');
          return taken;
        }
      }
      return most;
    },
  };
}

async function three(): Promise<{ clock: FakeClock; members: readonly [Member, Member, Member] }> {
  const clock = createFakeClock();
  const store = createMemoryStore({ clock });
  const members = [join(store, clock), join(store, clock), join(store, clock)] as const;
  await clock.advance(2500);
  return { clock, members };
}

/** What each of them gets in so many seconds when it asks for that many at a time, twenty times a second. */
async function run(
  clock: FakeClock,
  members: readonly Member[],
  wants: readonly number[],
  seconds: number,
): Promise<number[]> {
  const taken = members.map(() => 0);
  for (let turn = 0; turn < seconds * 20; turn++) {
    for (const [at, member] of members.entries()) taken[at]! += member.take(wants[at]!);
    await clock.advance(50);
  }
  return taken;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

describe('replicas', () => {
  it('STORE-3 CONN-7 a limit of 10 a second holds across three replicas that all use it, and each has its part', async () => {
    const { clock, members } = await three();
    await run(clock, members, [5, 5, 5], 5);
    const taken = await run(clock, members, [5, 5, 5], 20);
    expect(sum(taken)).toBeGreaterThanOrEqual(180);
    expect(sum(taken)).toBeLessThanOrEqual(220);
    for (const own of taken) expect(own).toBeGreaterThan(50);
  });

  it('STORE-3 CONN-7 the first burst of three replicas together is the burst of one', async () => {
    const { members } = await three();
    expect(sum(members.map((member) => member.take(100)))).toBeLessThanOrEqual(11);
  });

  it('STORE-3 CONN-7 one that is alone in using a server gets nearly all of its limit', async () => {
    const { clock, members } = await three();
    await run(clock, members, [5, 0, 0], 5);
    expect((await run(clock, members, [5, 0, 0], 20))[0]).toBeGreaterThan(180);
  });

  it.each([
    ['left', ({ replicas }: Member) => replicas.close()],
    // It has stopped, and no other replica removes its entry.
    ['was killed', ({ kill }: Member) => kill()],
  ])('STORE-3 R4 the part of a replica that %s goes to the others within five seconds', async (_, end) => {
    const { clock, members } = await three();
    await run(clock, members, [5, 5, 5], 5);
    const [gone, ...left] = members;
    await end(gone);
    await run(clock, left, [5, 5], 5);
    expect(sum(await run(clock, left, [5, 5], 20))).toBeGreaterThan(180);
  });

  it('STORE-4 while the store fails every replica keeps its part', async () => {
    const clock = createFakeClock();
    const store = createMemoryStore({ clock });
    let isDown = false;
    const failing: Store = {
      ...store,
      put: (...args) => (isDown ? Promise.reject(new Error('down')) : store.put(...args)),
      list: (...args) => (isDown ? Promise.reject(new Error('down')) : store.list(...args)),
    };
    const members = [join(failing, clock), join(failing, clock), join(failing, clock)];
    await clock.advance(2500);
    await run(clock, members, [5, 5, 5], 5);
    isDown = true;
    await run(clock, members, [5, 5, 5], 10);
    expect(sum(await run(clock, members, [5, 5, 5], 20))).toBeLessThanOrEqual(220);
  });

  it('STORE-3 shared work is done by one replica, and by another after that one has gone', async () => {
    const clock = createFakeClock();
    const store = createMemoryStore({ clock });
    // This one claims and dies: it is heard of no more.
    let isDead = false;
    const dying = joinReplicas({
      store: { ...store, put: (...args) => (isDead ? Promise.reject(new Error('dead')) : store.put(...args)) },
      clock,
      log: silentLog,
    });
    const other = joinReplicas({ store, clock, log: silentLog });
    await clock.advance(1500);
    expect([await dying.claim('w'), await other.claim('w')]).toEqual([true, false]);
    await dying.release('w');
    expect(await other.claim('w')).toBe(true);
    expect(await dying.claim('w')).toBe(false);
    expect(await dying.claim('v')).toBe(true);
    isDead = true;
    await clock.advance(2000);
    expect(await other.claim('v')).toBe(false);
    await clock.advance(3000);
    expect(await other.claim('v')).toBe(true);
  });

  it('STORE-4 a claim whose answer was lost is asked about: one replica does the work', async () => {
    const clock = createFakeClock();
    const store = createMemoryStore({ clock });
    /** The next write comes through or not, and its answer does not. */
    let lost: 'written' | 'unwritten' | undefined;
    const losing: Store = {
      ...store,
      async put(...args) {
        const [space] = args;
        if (space !== 'claims' || lost === undefined) return store.put(...args);
        const isWritten = lost === 'written';
        lost = undefined;
        if (isWritten) await store.put(...args);
        throw new ToolscoutError('STORE_ERROR', 'The connection was cut.');
      },
    };
    const [one, two] = [
      joinReplicas({ store: losing, clock, log: silentLog }),
      joinReplicas({ store, clock, log: silentLog }),
    ];
    await clock.advance(1500);
    lost = 'written';
    expect([await one.claim('v'), await two.claim('v')]).toEqual([true, false]);
    lost = 'unwritten';
    expect([await one.claim('w'), await two.claim('w')]).toEqual([true, false]);
  });

  it('STORE-3 work that another replica has taken over is not given away by the one that had it', async () => {
    const clock = createFakeClock();
    const store = createMemoryStore({ clock });
    let isStuck = false;
    const stuck: Store = { ...store, put: (...args) => (isStuck ? new Promise(() => undefined) : store.put(...args)) };
    const [one, two, three] = [stuck, store, store].map((each) => joinReplicas({ store: each, clock, log: silentLog }));
    await clock.advance(1500);
    expect(await one!.claim('w')).toBe(true);
    isStuck = true;
    await clock.advance(6000);
    expect(await two!.claim('w')).toBe(true);
    await one!.release('w');
    expect(await three!.claim('w')).toBe(false);
  });
});
