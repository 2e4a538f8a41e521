import { describe, expect, it } from 'vitest';
import { createPasses } from '../../src/confirm/passes.js';
import { createGrants } from '../../src/connect/oauth/grants.js';
import { createToolCache, type ToolCache } from '../../src/discover/index.js';
import { createAudit } from '../../src/audit/index.js';
import { joinReplicas } from '../../src/catalog/replicas.js';
import { createRequestStates } from '../../src/gateway/request-states.js';
import { createSessions } from '../../src/gateway/sessions.js';
import type { Clock } from '../../src/kernel/clock.js';
import { silentLog } from '../../src/kernel/log.js';
import { createSecretMask } from '../../src/kernel/secrets.js';
import type { Store } from '../../src/model/store.js';
import { createMemoryStore } from '../../src/store/index.js';
import { createFakeClock, type FakeClock } from '../support/fake-clock.js';
import { stdioServer } from '../support/test-server.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const ADA = { by: 'key', principal: 'ada', scopes: ['read'], servers: ['old'], credential: 'key:1' } as const;

interface Replica {
  readonly clock: Clock;
  readonly store: Store;
}

interface World {
  readonly time: FakeClock;
  /** One more replica, whose clock shows so much more than the time. */
  replica(aheadMs: number): Replica;
}

/** Replicas over one store. Each writes with its own clock, as in a database. */
function world(): World {
  const time = createFakeClock();
  let writer: Clock = time;
  const shared = createMemoryStore({ clock: { ...time, now: () => writer.now() } });
  return {
    time,
    replica(aheadMs) {
      // Monotonic time has another origin in every process, too.
      const clock: Clock = {
        now: () => time.now() + aheadMs,
        monotonic: () => time.monotonic() + Math.abs(aheadMs) / 7,
        after: (ms, task, options) => time.after(ms, task, options),
      };
      const put: Store['put'] = (...args) => {
        writer = clock;
        return shared.put(...args);
      };
      return { clock, store: { ...shared, put } };
    },
  };
}

/** Something that one replica gives out and another one accepts. */
interface Given {
  readonly name: string;
  readonly lifeMs: number;
  give(replica: Replica): Promise<string>;
  accepts(replica: Replica, given: string): Promise<boolean>;
}

const sessionsOf = ({ store, clock }: Replica) => {
  const audit = createAudit({ store, clock, log: silentLog, redact: (value) => value });
  return createSessions({ store, clock, log: silentLog, audit });
};

const GIVEN: readonly Given[] = [
  {
    name: 'a session of a browser',
    lifeMs: 12 * HOUR,
    give: (replica) => sessionsOf(replica).open(ADA),
    accepts: async (replica, token) => (await sessionsOf(replica).find(token)) !== undefined,
  },
  {
    name: 'a ticket',
    lifeMs: 5 * MINUTE,
    give: (replica) => sessionsOf(replica).issueTicket('sign-in', {}, 5 * MINUTE),
    accepts: async (replica, ticket) => (await sessionsOf(replica).takeTicket('sign-in', ticket)) !== undefined,
  },
  {
    name: 'a pass for a confirmed call',
    lifeMs: 15 * MINUTE,
    give: (replica) => createPasses(replica).issue('go-on', 'call', 15 * MINUTE, { owner: 'ann' }),
    accepts: async (replica, pass) => (await createPasses(replica).take(pass, 'call')) !== undefined,
  },
  {
    name: 'a state between two rounds',
    lifeMs: 10 * MINUTE,
    give: (replica) => createRequestStates({ ...replica, log: silentLog }).seal({ a: 1 }, 'ann'),
    accepts: async (replica, state) =>
      (await createRequestStates({ ...replica, log: silentLog }).open(state, 'ann')) !== undefined,
  },
];

const SKEWS = [
  ['30 seconds ahead', 30 * SECOND],
  ['30 seconds behind', -30 * SECOND],
] as const;
const WRONG = [
  ['2 hours ahead', 2 * HOUR],
  ['2 hours behind', -2 * HOUR],
  ['400 days ahead', 400 * DAY],
  ['400 days behind', -400 * DAY],
] as const;

describe.each(GIVEN)('$name', ({ lifeMs, give, accepts }) => {
  it.each(SKEWS)('R11 STORE-3 is accepted by a replica whose clock is %s', async (_name, skew) => {
    const { replica, time } = world();
    const given = await give(replica(0));
    await time.advance(MINUTE);
    expect(await accepts(replica(skew), given)).toBe(true);
  });

  it.each([...SKEWS, ...WRONG])('R11 STORE-3 ends on time at a replica whose clock is %s', async (_name, skew) => {
    const { replica, time } = world();
    const [ours, theirs] = [await give(replica(0)), await give(replica(skew))];
    await time.advance(lifeMs + 2 * MINUTE);
    expect([await accepts(replica(skew), ours), await accepts(replica(0), theirs)]).toEqual([false, false]);
  });
});

describe('replicas whose clocks differ', () => {
  it.each([...SKEWS, ...WRONG])('R11 S8 a state is used once, although another replica is %s', async (_name, skew) => {
    const { replica, time } = world();
    const statesOf = (of: Replica) => createRequestStates({ ...of, log: silentLog });
    const [right, wrong] = [statesOf(replica(0)), statesOf(replica(skew))];
    const sealed = await right.seal({ a: 1 }, 'ann');
    await time.advance(9 * MINUTE);
    expect(await right.open(sealed, 'ann')).toEqual({ a: 1 });
    await time.advance(90 * SECOND);
    // The other one looks through what was used, whatever it takes the time to be.
    await wrong.open(await wrong.seal({ b: 1 }, 'bob'), 'bob');
    expect(await right.open(sealed, 'ann')).toBeUndefined();
  });

  it.each([...SKEWS, ...WRONG])(
    'R11 STORE-3 DISC-4 the list stored last holds, although its writer is %s',
    async (_n, skew) => {
      const { replica, time } = world();
      const server = stdioServer('s', { command: 'x' });
      const cacheOf = (of: Replica): ToolCache => createToolCache({ ...of, log: silentLog, ttlMs: DAY });
      const [right, wrong] = [cacheOf(replica(0)), cacheOf(replica(skew))];
      const write = async (cache: ToolCache, name: string): Promise<void> => {
        await time.advance(1);
        await cache.write(server, { items: [{ name }], bad: [] }, {});
      };
      const newOf = async (cache: ToolCache): Promise<unknown[]> => {
        const found: unknown[] = [];
        for await (const { list } of cache.readNewer([server])) found.push(list.items[0]?.['name']);
        return found;
      };
      await write(right, 'first');
      expect([await newOf(wrong), await newOf(wrong)]).toEqual([['first'], []]);
      await write(wrong, 'second');
      expect([await newOf(right), await newOf(right)]).toEqual([['second'], []]);
      await write(right, 'third');
      expect([await newOf(wrong), await newOf(wrong)]).toEqual([['third'], []]);
    },
  );

  it('DISC-4 an older list of this process does not replace one that could not be stored', async () => {
    const { replica, time } = world();
    const { store, clock } = replica(0);
    const server = stdioServer('s', { command: 'x' });
    let isFull = false;
    const put: Store['put'] = (...args) => (isFull ? Promise.reject(new Error('full')) : store.put(...args));
    const cache = createToolCache({ store: { ...store, put }, clock, log: silentLog, ttlMs: DAY });
    await cache.write(server, { items: [{ name: 'old' }], bad: [] }, {});
    isFull = true;
    await time.advance(1);
    await cache.write(server, { items: [{ name: 'new' }], bad: [] }, {});
    for await (const { list } of cache.readNewer([server])) expect(list.items).toEqual([{ name: 'new' }]);
  });

  it.each(SKEWS)('R11 CONN-6 one replica at a time renews a token, although one is %s', async (_name, skew) => {
    const { replica, time } = world();
    const key = { server: 's', url: 'https://s.example/mcp' };
    const grantsOf = (of: Replica) => createGrants({ ...of, mask: createSecretMask() });
    for (const [first, second] of [
      [grantsOf(replica(0)), grantsOf(replica(skew))],
      [grantsOf(replica(skew)), grantsOf(replica(0))],
    ] as const) {
      const order: string[] = [];
      let finish = (): void => undefined;
      const renewing = first.exclusively(key, () => new Promise<void>((resolve) => (finish = resolve)));
      await time.advance(0);
      const waiting = second.exclusively(key, async () => void order.push('second'));
      await time.advance(25 * SECOND);
      expect(order).toEqual([]);
      finish();
      await renewing;
      await time.advance(SECOND);
      await waiting;
      expect(order).toEqual(['second']);
    }
  });

  it.each([...SKEWS, ...WRONG])(
    'R11 CONN-6 the lock of a replica that is gone is taken over, although it was %s',
    async (_n, skew) => {
      const { replica, time } = world();
      const key = { server: 's', url: 'https://s.example/mcp' };
      const grantsOf = (of: Replica) => createGrants({ ...of, mask: createSecretMask() });
      void grantsOf(replica(skew)).exclusively(key, () => new Promise(() => undefined));
      await time.advance(0);
      let isFree = false;
      void grantsOf(replica(0)).exclusively(key, async () => void (isFree = true));
      await time.advance(31 * SECOND);
      expect(isFree).toBe(true);
    },
  );

  it.each([...SKEWS, ...WRONG])(
    'R11 STORE-3 work is divided with a replica that is %s, and moves when it is gone',
    async (_n, skew) => {
      const { replica, time } = world();
      let isGone = false;
      const { store, clock } = replica(skew);
      const put: Store['put'] = (...args) => (isGone ? Promise.reject(new Error('gone')) : store.put(...args));
      const other = joinReplicas({ store: { ...store, put }, clock, log: silentLog });
      const ours = joinReplicas({ ...replica(0), log: silentLog });
      await time.advance(1500);
      expect([await other.claim('w'), await ours.claim('w')]).toEqual([true, false]);
      isGone = true;
      await time.advance(5000);
      expect(await ours.claim('w')).toBe(true);
    },
  );
});
