import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.js';
import { OWN_SERVER } from '../answers/index.js';
import { Canceller } from '../kernel/async/cancel.js';
import type { Clock } from '../kernel/clock.js';
import { silentLog, type Log } from '../kernel/log.js';
import { OverloadConfig } from '../model/overload-config.js';
import { createAdmission, type Admission, type Entrant } from './admission.js';
import { EVERY_MS } from './pressure.js';

type Limits = Partial<Exclude<OverloadConfig, false>>;

interface Bench {
  readonly admission: Admission;
  readonly clock: FakeClock;
  /** What stands in the configuration, and how much memory is used; tests change them. */
  readonly world: { config: OverloadConfig; memory: number };
}

function bench(limits: Limits | false = {}, options: { readonly log?: Log; readonly clock?: Clock } = {}): Bench {
  const fake = createFakeClock();
  const world = { config: OverloadConfig.parse(limits), memory: 0.1 };
  const admission = createAdmission({
    clock: options.clock ?? fake,
    log: options.log ?? silentLog,
    config: () => world.config,
    memory: { bytes: 1000, share: () => world.memory },
  });
  return { admission, clock: fake, world };
}

/** A call that comes: what became of it is noted. */
function come(admission: Admission, principal: string, more: Partial<Entrant> = {}) {
  const visit = { state: 'in' as 'in' | 'waiting' | 'refused', error: undefined as unknown, leave };
  function leave(): void {
    admission.leave(principal);
  }
  const entered = admission.enter({ principal, ...more });
  if (entered) {
    visit.state = 'waiting';
    entered.then(
      () => (visit.state = 'in'),
      (thrown: unknown) => {
        visit.state = 'refused';
        visit.error = thrown;
        admission.leave(principal);
      },
    );
  }
  return visit;
}

const statesOf = (visits: ReadonlyArray<{ readonly state: string }>): string[] => visits.map(({ state }) => state);

it('R12 without pressure every call begins at once, and measuring stops after a while without a call', async () => {
  const { admission, clock } = bench({ maxCalls: 3 });
  const visits = [come(admission, 'a'), come(admission, 'a'), come(admission, 'b')];
  expect(statesOf(visits)).toEqual(['in', 'in', 'in']);
  expect(admission.status()).toMatchObject({ level: 'calm', calls: 3, waiting: 0 });
  for (const { leave } of visits) leave();
  expect(clock.waiting).toBe(1);
  await clock.advance(100 * EVERY_MS);
  expect(clock.waiting).toBe(0);
  expect(come(admission, 'a').state).toBe('in');
});

it('R12 beyond the limit a call waits, comes in when another has left, and is refused when none does', async () => {
  const { admission, clock } = bench({ maxCalls: 2, maxWaitMs: 1000 });
  const first = [come(admission, 'a'), come(admission, 'a')];
  const [third, fourth] = [come(admission, 'a'), come(admission, 'a')];
  expect(statesOf([third, fourth])).toEqual(['waiting', 'waiting']);
  expect(admission.status()).toMatchObject({ level: 'shedding', reason: 'calls', calls: 2, waiting: 2 });
  first[0]!.leave();
  await clock.advance(0);
  expect(statesOf([third, fourth])).toEqual(['in', 'waiting']);
  await clock.advance(999);
  expect(fourth.state).toBe('waiting');
  await clock.advance(1);
  expect(fourth.state).toBe('refused');
  expect(fourth.error).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 1000, delivered: false });
  expect(admission.status()).toMatchObject({ level: 'calm', shed: { calls: 1, memory: 0, delay: 0 } });
});

it('A43 R12 a principal without a running call is admitted although another has taken all places', async () => {
  const { admission, clock } = bench({ maxCalls: 4 });
  const crowd = Array.from({ length: 10 }, () => come(admission, 'crowd'));
  await clock.advance(0);
  expect(statesOf(crowd).filter((state) => state === 'in')).toHaveLength(4);
  const [first, second] = [come(admission, 'quiet'), come(admission, 'quiet')];
  expect(statesOf([first, second])).toEqual(['in', 'waiting']);
  // As many principals as one likes do not pass twice the limit.
  const others = Array.from({ length: 4 }, (_, index) => come(admission, `other ${index}`));
  await clock.advance(0);
  expect(statesOf(others)).toEqual(['in', 'in', 'in', 'waiting']);
  expect(admission.status().calls).toBe(8);
});

it('A43 R12 a free place goes to the principal with the fewest calls, not to the one that waits longest', async () => {
  const { admission, clock } = bench({ maxCalls: 4 });
  const running = Array.from({ length: 4 }, () => come(admission, 'crowd'));
  const crowd = come(admission, 'crowd');
  const [first, second] = [come(admission, 'quiet'), come(admission, 'quiet')];
  expect(statesOf([crowd, first, second])).toEqual(['waiting', 'in', 'waiting']);
  running[0]!.leave();
  running[1]!.leave();
  await clock.advance(0);
  expect(statesOf([crowd, second])).toEqual(['waiting', 'in']);
});

it('A43 R12 places that come free go in turn to those with equally many calls', async () => {
  const { admission, clock } = bench({ maxCalls: 5 });
  const running = Array.from({ length: 5 }, () => come(admission, 'crowd'));
  const visits = ['a', 'a', 'a', 'b', 'b', 'b'].map((name) => ({ name, visit: come(admission, name) }));
  expect(statesOf(visits.map(({ visit }) => visit))).toEqual(['in', 'waiting', 'waiting', 'in', 'waiting', 'waiting']);
  const order: string[] = [];
  for (const left of [...running, visits[0]!.visit]) {
    const before = new Set(visits.filter(({ visit }) => visit.state === 'in'));
    left.leave();
    await clock.advance(0);
    order.push(...visits.filter((each) => each.visit.state === 'in' && !before.has(each)).map(({ name }) => name));
  }
  expect(order).toEqual(['a', 'b', 'a', 'b']);
});

it('A43 R12 from a full queue the last call of the principal with the most calls is refused', async () => {
  const { admission, clock } = bench({ maxCalls: 2 });
  const crowd = Array.from({ length: 4 }, () => come(admission, 'crowd'));
  const [in1, waits] = [come(admission, 'quiet'), come(admission, 'quiet')];
  await clock.advance(0);
  expect(statesOf(crowd)).toEqual(['in', 'in', 'waiting', 'refused']);
  expect(statesOf([in1, waits])).toEqual(['in', 'waiting']);
  const fifth = come(admission, 'crowd');
  await clock.advance(0);
  expect(fifth.state).toBe('refused');
});

it('R12 with too little memory new calls are refused and those that wait leave; it is over when there is memory again', async () => {
  const { admission, clock, world } = bench({ maxCalls: 1 });
  const running = come(admission, 'a');
  const waits = come(admission, 'a');
  world.memory = 0.96;
  await clock.advance(EVERY_MS);
  expect(waits.state).toBe('refused');
  const visit = come(admission, 'b');
  await clock.advance(0);
  expect(visit.error).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 5000, remedy: { kind: 'overloaded' } });
  expect(admission.status()).toMatchObject({ level: 'shedding', reason: 'memory', shed: { memory: 2 } });
  world.memory = 0.99;
  expect(admission.status().level).toBe('full');
  world.memory = 0.2;
  await clock.advance(EVERY_MS);
  expect(come(admission, 'b').state).toBe('in');
  running.leave();
});

it('R12 memory is set aside for large requests until they end, and what would be too much is refused', () => {
  const { admission, world } = bench();
  const give = admission.reserve(100);
  expect(() => admission.reserve(120)).toThrow('too little memory');
  give();
  give();
  const all = [admission.reserve(100), admission.reserve(100)];
  expect(() => admission.reserve(100)).toThrow('too little memory');
  for (const each of all) each();
  world.memory = 0.95;
  expect(() => admission.reserve(1)).toThrow('too little memory');
  expect(admission.status().shed.memory).toBe(3);
  world.config = false;
  admission.renew();
  admission.reserve(1_000_000)();
});

it('R12 the first call after a rest is judged by the memory of that moment', async () => {
  const { admission, clock, world } = bench();
  world.memory = 0.97;
  const visit = come(admission, 'a');
  await clock.advance(0);
  expect(visit.state).toBe('refused');
});

it('R12 what was admitted before is not refused halfway, and kept results can be read', () => {
  const { admission, world } = bench({ maxCalls: 1 });
  world.memory = 0.97;
  expect(come(admission, 'a', { parent: 'script' }).state).toBe('in');
  expect(come(admission, 'a', { resumed: { requestState: 'sealed' } }).state).toBe('in');
  expect(come(admission, 'a', { server: OWN_SERVER }).state).toBe('in');
  // A host can send an answer to a question that was not asked.
  expect(come(admission, 'a', { resumed: { inputResponses: {} } }).state).not.toBe('in');
});

it('R12 while the event loop is late each principal has one call at a time', async () => {
  const fake = createFakeClock();
  let added = 0;
  let late = 2000;
  const clock: Clock = {
    ...fake,
    monotonic: () => fake.monotonic() + added,
    after: (ms, task) =>
      fake.after(ms, () => {
        if (ms === EVERY_MS) added += late;
        task();
      }),
  };
  const lines: string[] = [];
  const note = (event: string): void => void lines.push(event);
  const log: Log = { ...silentLog, warn: note, info: note };
  const { admission } = bench({ maxWaitMs: 60_000 }, { clock, log });
  const running = [come(admission, 'a'), come(admission, 'a')];
  await fake.advance(3 * EVERY_MS);
  expect(admission.status()).toMatchObject({ level: 'shedding', reason: 'delay', delayMs: 2000 });
  const [third, other] = [come(admission, 'a'), come(admission, 'b')];
  expect(statesOf([third, other])).toEqual(['waiting', 'in']);
  for (const { leave } of running) leave();
  await fake.advance(0);
  expect(third.state).toBe('in');
  const fourth = come(admission, 'a');
  expect(fourth.state).toBe('waiting');
  late = 0;
  await fake.advance(3 * EVERY_MS);
  expect(fourth.state).toBe('in');
  expect(lines).toEqual(['overload.begun', 'overload.over']);
});

it('R12 a call that is cancelled while it waits gives its place back, and one that comes cancelled is let through to be told', async () => {
  const { admission, clock } = bench({ maxCalls: 2 });
  const running = come(admission, 'a');
  come(admission, 'a');
  const signal = new Canceller();
  const waits = come(admission, 'a', { signal });
  const next = come(admission, 'a');
  signal.abort(new Error('gone'));
  await clock.advance(0);
  expect(waits.error).toMatchObject({ message: 'gone' });
  expect(admission.status().waiting).toBe(1);
  running.leave();
  await clock.advance(0);
  expect(next.state).toBe('in');
  expect(come(admission, 'a', { signal }).state).toBe('in');
  expect(admission.status().shed).toEqual({ memory: 0, delay: 0, calls: 0 });
});

it('R12 CFG-6 false admits every call, and a reload takes effect at once', async () => {
  const { admission, clock, world } = bench(false);
  world.memory = 1;
  const visits = Array.from({ length: 20 }, () => come(admission, 'a'));
  expect(new Set(statesOf(visits))).toEqual(new Set(['in']));
  expect(admission.status().level).toBe('calm');
  expect(clock.waiting).toBe(0);

  world.memory = 0;
  world.config = OverloadConfig.parse({ maxCalls: 20, maxWaitMs: 60_000 });
  admission.renew();
  const waits = come(admission, 'a');
  expect(waits.state).toBe('waiting');
  world.config = OverloadConfig.parse({ maxCalls: 21 });
  admission.renew();
  await clock.advance(EVERY_MS);
  expect(waits.state).toBe('in');
  const another = come(admission, 'a');
  expect(another.state).toBe('waiting');
  world.config = false;
  admission.renew();
  await clock.advance(0);
  expect(another.state).toBe('in');
  expect(clock.waiting).toBe(0);
});

it('R7 R12 once it is closed no call is admitted, and waiting calls are refused', async () => {
  const { admission, clock } = bench({ maxCalls: 1 });
  come(admission, 'a');
  const waits = come(admission, 'a');
  admission.close();
  const late = come(admission, 'a', { parent: 'script' });
  await clock.advance(0);
  expect(waits.error).toMatchObject({ code: 'SHUTTING_DOWN', delivered: false });
  expect(late.error).toMatchObject({ code: 'SHUTTING_DOWN' });
  admission.renew();
  const later = come(admission, 'a');
  await clock.advance(0);
  expect(later.state).toBe('refused');
  expect(clock.waiting).toBe(0);
});

it('R12 without a wait a call beyond the limit is refused at once, however many principals came before', async () => {
  const { admission, clock } = bench({ maxCalls: 2, maxWaitMs: 0 });
  come(admission, 'stays');
  for (let index = 0; index < 1200; index++) come(admission, `p${index}`).leave();
  come(admission, 'stays');
  const third = come(admission, 'stays');
  await clock.advance(EVERY_MS);
  expect(third.state).toBe('refused');
});

it('R12 A43 whatever comes, leaves and is cancelled: never more than twice the limit run, and the counts come back to zero', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('come' as const), principal: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ kind: fc.constant('leave' as const), index: fc.nat(50) }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(1500) }),
    fc.record({ kind: fc.constant('memory' as const), share: fc.constantFrom(0.1, 0.96) }),
    fc.record({ kind: fc.constant('cancel' as const), index: fc.nat(50) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), async (steps, maxCalls) => {
      const { admission, clock, world } = bench({ maxCalls });
      const visits: Array<{ visit: ReturnType<typeof come>; signal: Canceller; left: boolean }> = [];
      const leave = (each: (typeof visits)[number] | undefined): void => {
        if (!each || each.left || each.visit.state !== 'in') return;
        each.left = true;
        each.visit.leave();
      };
      for (const each of steps) {
        if (each.kind === 'come') {
          const signal = new Canceller();
          visits.push({ visit: come(admission, each.principal, { signal }), signal, left: false });
        } else if (each.kind === 'leave') leave(visits[each.index]);
        else if (each.kind === 'wait') await clock.advance(each.ms);
        else if (each.kind === 'memory') world.memory = each.share;
        else visits[each.index]?.signal.abort(new Error('gone'));
        // A refused caller leaves a moment later.
        await clock.advance(0);
        expect(admission.status().calls).toBeLessThanOrEqual(2 * maxCalls);
      }
      await clock.advance(5000);
      for (const each of visits) leave(each);
      await clock.advance(5000);
      expect(admission.status()).toMatchObject({ calls: 0, waiting: 0 });
    }),
    { numRuns: 100 },
  );
});
