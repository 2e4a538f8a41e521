import { describe, expect, it } from 'vitest';
import { createKeptResults } from '../../src/answers/kept-results.js';
import { createAudit } from '../../src/audit/index.js';
import { EXPORT_SPACE, startAuditPush } from '../../src/audit/export/push.js';
import { isStale } from '../../src/catalog/catalog.js';
import { createPasses } from '../../src/confirm/passes.js';
import { createPendingCalls } from '../../src/confirm/pending-calls.js';
import { bindCall } from '../../src/confirm/subject.js';
import { createBreaker } from '../../src/connect/pool/breaker.js';
import { createLimiter } from '../../src/connect/pool/limiter.js';
import { createToolCache } from '../../src/discover/index.js';
import { createRequestStates } from '../../src/gateway/request-states.js';
import { createSessions } from '../../src/gateway/sessions.js';
import { sleep } from '../../src/kernel/clock.js';
import { silentLog } from '../../src/kernel/log.js';
import type { Store } from '../../src/model/store.js';
import type { Tool } from '../../src/model/tool.js';
import { createVault } from '../../src/scripts/vault.js';
import { createSuspendedScripts, type SuspendedScript } from '../../src/scripts/suspended-scripts.js';
import { createMemoryStore } from '../../src/store/index.js';
import { createFakeClock, type FakeClock } from '../support/fake-clock.js';
import { countTrials } from '../support/long-form.js';
import { stdioServer } from '../support/test-server.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const JUMPS = [
  ['400 days ahead', 400 * DAY],
  ['400 days back', -400 * DAY],
  ['2 hours back', -2 * HOUR],
  ['2 hours ahead', 2 * HOUR],
] as const;

/** A clock that somebody sets: wall-clock time jumps, monotonic time and timers do not. */
interface JumpingClock extends FakeClock {
  jump(ms: number): void;
}

function createJumpingClock(): JumpingClock {
  const clock = createFakeClock();
  let offset = 0;
  return {
    monotonic: clock.monotonic,
    after: clock.after,
    advance: clock.advance,
    now: () => clock.now() + offset,
    jump: (ms) => void (offset += ms),
    get waiting() {
      return clock.waiting;
    },
  };
}

interface World {
  readonly clock: JumpingClock;
  readonly store: Store;
}

/** Something that lasts for a time. `begin` answers how to ask whether it still does. */
interface Lasting {
  readonly name: string;
  readonly lifeMs: number;
  begin(world: World): Promise<() => Promise<boolean>>;
}

const viewer = { principal: 'ann', scopes: new Set<never>(), isLimited: false, sees: () => true };
const ADA = { by: 'key', principal: 'ada', scopes: ['read'], servers: ['old'], credential: 'key:1' } as const;
const server = stdioServer('s', { command: 'x' });

const sessionsOf = ({ store, clock }: World) => {
  const audit = createAudit({ store, clock, log: silentLog, redact: (value) => value });
  return createSessions({ store, clock, log: silentLog, audit });
};

const LASTING: readonly Lasting[] = [
  {
    name: 'a session of a browser',
    lifeMs: 12 * HOUR,
    async begin(world) {
      const sessions = sessionsOf(world);
      const token = await sessions.open(ADA);
      return async () => (await sessions.find(token)) !== undefined;
    },
  },
  {
    name: 'a ticket',
    lifeMs: 5 * MINUTE,
    async begin(world) {
      const ticket = await sessionsOf(world).issueTicket('sign-in', {}, 5 * MINUTE);
      return async () => (await sessionsOf(world).takeTicket('sign-in', ticket)) !== undefined;
    },
  },
  {
    name: 'a kept result',
    lifeMs: HOUR,
    async begin(world) {
      const limits = () => ({ keepMs: HOUR, keepBytes: 10_000 });
      const kept = createKeptResults({ ...world, limits, onError: () => expect.unreachable() });
      const handle = (await kept.keep(viewer, { server: 's', tool: 't' }, { content: [] }))!;
      return async () => (await kept.find(viewer, handle)) !== undefined;
    },
  },
  {
    name: 'a pass for a confirmed call',
    lifeMs: 15 * MINUTE,
    async begin(world) {
      const passes = createPasses(world);
      const pass = await passes.issue('go-on', 'call', 15 * MINUTE, { owner: 'ann' });
      return async () => (await passes.take(pass, 'call')) !== undefined;
    },
  },
  {
    name: 'a yes to a pending call',
    lifeMs: 15 * MINUTE,
    async begin({ store, clock }) {
      const calls = createPendingCalls({ store, clock, pendingMs: () => 15 * MINUTE, redact: (value) => value });
      const call = { server: 's', tool: 't', arguments: {}, viewer, principal: 'ann', route: 'mcp' as const };
      const tool = { name: 't', hash: 'h' } as Tool;
      const asked = bindCall({ call, server, tool }, { ask: true, reason: 'a rule' });
      const { pending } = await calls.ask(asked);
      await calls.decide(pending.id, 'approved', { by: 'bob', at: 1, via: 'operator' });
      return async () => (await calls.settled(asked))?.state === 'used';
    },
  },
  {
    name: 'a state between two rounds',
    lifeMs: HOUR,
    async begin(world) {
      const states = createRequestStates({ ...world, log: silentLog });
      const sealed = await states.seal({ a: 1 }, 'ann');
      return async () => (await states.open(sealed, 'ann')) !== undefined;
    },
  },
  {
    name: 'a suspended script',
    lifeMs: HOUR,
    async begin({ store, clock }) {
      const scripts = createSuspendedScripts({ store, clock, vault: createVault(store) });
      const suspended = { script: 'x', image: { memory: new Uint8Array(8) } } as unknown as SuspendedScript;
      const state = await scripts.keep(suspended, { principal: 'ann' });
      const claim = (): Promise<boolean> =>
        scripts.claim(state, 'x', { principal: 'ann' }).then(
          async (claimed) => {
            await claimed.release();
            return true;
          },
          () => false,
        );
      return claim;
    },
  },
  {
    name: 'a fresh list of tools',
    lifeMs: DAY,
    async begin({ store, clock }) {
      const cache = createToolCache({ store, clock, log: silentLog, ttlMs: DAY });
      await cache.write(server, { items: [], bad: [] }, {});
      const caching = { enabled: true, ttlMs: DAY };
      return async () => !isStale((await cache.read(server))!, caching, clock.now());
    },
  },
];

const open = (): World => {
  const clock = createJumpingClock();
  return { clock, store: createMemoryStore({ clock }) };
};

describe.each(LASTING)('$name', ({ lifeMs, begin }) => {
  it('R11 lasts while the clock is right', async () => {
    expect(await (await begin(open()))()).toBe(true);
  });

  it.each(JUMPS)('R11 ends although the clock was set %s', async (_name, jump) => {
    const world = open();
    countTrials(1);
    const lasts = await begin(world);
    world.clock.jump(jump);
    // It is usable only while the clock shows a time between its beginning and its end: for a clock that was set back by 400 days, never.
    const catchUpMs = jump === -2 * HOUR ? 2 * HOUR : 0;
    await world.clock.advance(catchUpMs + lifeMs + 2 * MINUTE);
    expect(await lasts()).toBe(false);
  });

  it.each(JUMPS.filter(([, jump]) => jump < 0))('R11 is over at once when the clock is set %s', async (_name, jump) => {
    const world = open();
    const lasts = await begin(world);
    world.clock.jump(jump);
    expect(await lasts()).toBe(false);
  });
});

describe.each(JUMPS)('a clock that is set %s', (_name, jump) => {
  it('R11 the lease of a process that died does not stop the export of the audit log', async () => {
    const { clock, store } = open();
    const record = { id: 'r', time: 1, kind: 'execution', principal: 'ada', outcome: 'success' } as const;
    await store.append([record]);
    await store.put(EXPORT_SPACE, 'siem', { position: 0, holder: 'dead', until: clock.now() + 30 * SECOND });
    clock.jump(jump);
    const got: string[] = [];
    const push = startAuditPush({
      store,
      clock,
      log: silentLog,
      holder: 'alive',
      sinks: () => new Map([['siem', { send: async (records) => void got.push(...records.map(({ id }) => id)) }]]),
      hide: (text) => text,
    });
    await clock.advance(5 * MINUTE);
    await push.close();
    expect(got).toEqual(['r']);
  });

  it('R11 timers, rate limits and breakers go by monotonic time: nothing early, nothing late', async () => {
    const { clock } = open();
    const limiter = createLimiter({ clock });
    const limited = stdioServer('one', { command: 'x' }, { rateLimit: { requestsPerSecond: 1, burstSize: 1 } });
    const breaker = createBreaker({ clock, limits: () => ({ failures: 1, resetMs: 1000 }), server: 'one' });
    let isUp = false;
    void sleep(clock, 1000).then(() => (isUp = true));
    expect(limiter.take(limited, { until: 0 })).toBeUndefined();
    const waits = limiter.take(limited, { until: 10_000 })!;
    breaker.fail();
    clock.jump(jump);
    await clock.advance(999);
    expect({ isUp, breaker: breaker.state }).toEqual({ isUp: false, breaker: 'open' });
    await clock.advance(1);
    expect({ isUp, waited: await waits }).toEqual({ isUp: true, waited: 1000 });
    expect(() => breaker.check()).not.toThrow();
  });
});
