import { describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.js';
import { stdioServer } from '../../../test/support/test-server.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { Server } from '../../model/server.js';
import { createLearner, type Learner } from './learner.js';
import type { Learned } from './pipeline.js';

const LEARNED: Learned = { tools: 1, dropped: [] };
const server = (id: string): Server => stdioServer(id, { command: 'x' });

interface Bench {
  readonly clock: FakeClock;
  readonly learner: Learner;
  /** Ids in the order in which their runs began. */
  readonly begun: string[];
  /** Ends the oldest open run of a server. */
  finish(id: string, outcome?: Learned | Error): Promise<void>;
}

/** A learner whose runs end when the test says so. */
function bench(): Bench {
  const clock = createFakeClock();
  const begun: string[] = [];
  const open: Array<{ id: string; resolve(learned: Learned): void; reject(error: Error): void }> = [];
  const learner = createLearner({
    clock,
    run: ({ id }, signal) =>
      new Promise((resolve, reject) => {
        begun.push(id);
        open.push({ id, resolve, reject });
        signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
      }),
  });
  return {
    clock,
    learner,
    begun,
    async finish(id, outcome = LEARNED) {
      const index = open.findIndex((run) => run.id === id);
      const [run] = open.splice(index, 1);
      if (!run) throw new Error(`No run of ${id} is open.`);
      if (outcome instanceof Error) run.reject(outcome);
      else run.resolve(outcome);
      await clock.advance(0);
    },
  };
}

/** Whether a promise has settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  await new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

describe('learner', () => {
  it('CONN-3 learns a server once at a time: a later caller joins', async () => {
    const { learner, begun, finish } = bench();
    const both = Promise.all([learner.learn(server('a')), learner.learn(server('a'))]);
    expect(begun).toEqual(['a']);
    expect(learner.learning()).toEqual(['a']);
    await finish('a');
    expect(await both).toEqual([LEARNED, LEARNED]);
    expect(learner.learning()).toEqual([]);
    void learner.learn(server('a'));
    expect(begun).toEqual(['a', 'a']);
    await finish('a');
  });

  it('DISC-3 at most so many at once, and every outcome has its place', async () => {
    const { learner, begun, finish } = bench();
    const seen: string[] = [];
    const all = learner.learnAll(['a', 'b', 'c'].map(server), {
      parallel: 2,
      onProgress: ({ done, total, server: id, ok }) => seen.push(`${done}/${total} ${id} ${ok}`),
    });
    expect(begun).toEqual(['a', 'b']);
    expect(learner.learning()).toEqual(['a', 'b', 'c']);
    await finish('b', new ToolscoutError('SERVER_CONNECTION_ERROR', 'It is gone.'));
    expect(begun).toEqual(['a', 'b', 'c']);
    await finish('a');
    await finish('c', { tools: 7, dropped: [{ index: 0, reason: 'bad' }], truncated: 'too many' });
    expect(await all).toMatchObject([
      { server: 'a', ok: true, tools: 1 },
      { server: 'b', ok: false, error: { code: 'SERVER_CONNECTION_ERROR' } },
      { server: 'c', ok: true, tools: 7, dropped: [{ index: 0 }], truncated: 'too many' },
    ]);
    expect(seen).toEqual(['1/3 b false', '2/3 a true', '3/3 c true']);
  });

  it('DISC-3 a queued server that another run learned meanwhile has the outcome of that run', async () => {
    const { learner, begun, finish } = bench();
    const all = learner.learnAll(['a', 'b', 'c'].map(server), { parallel: 1 });
    const others = [learner.learn(server('b')), learner.learn(server('c'))];
    await finish('b', { tools: 5, dropped: [] });
    await Promise.all([
      finish('c', new ToolscoutError('SERVER_CONNECTION_ERROR', 'It is gone.')),
      expect(others[1]).rejects.toThrow('It is gone.'),
    ]);
    await finish('a');
    expect(await all).toMatchObject([
      { server: 'a', ok: true, tools: 1 },
      { server: 'b', ok: true, tools: 5 },
      { server: 'c', ok: false, error: { code: 'SERVER_CONNECTION_ERROR' } },
    ]);
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it('DISC-3 a server that is named twice is learned once and has one outcome', async () => {
    const { learner, begun, finish } = bench();
    const seen: number[] = [];
    const all = learner.learnAll(['a', 'a', 'b', 'a'].map(server), {
      parallel: 1,
      onProgress: ({ total }) => seen.push(total),
    });
    await finish('a');
    await finish('b');
    expect(await all).toMatchObject([
      { server: 'a', ok: true },
      { server: 'b', ok: true },
    ]);
    expect(begun).toEqual(['a', 'b']);
    expect(seen).toEqual([2, 2]);
  });

  it('CFG-6 a queued server that is forgotten is not learned, and one that is enlisted again is', async () => {
    const { learner, begun, finish } = bench();
    const changed = { ...server('b'), digest: 'other' };
    const all = learner.learnAll([server('a'), server('b')], { parallel: 1 });
    learner.forget('b');
    const fresh = learner.learnAll([changed], { parallel: 1 });
    await finish('b');
    await finish('a');
    expect(await all).toMatchObject([{ ok: true }, { server: 'b', ok: false, error: { code: 'CANCELLED' } }]);
    expect(await fresh).toMatchObject([{ server: 'b', ok: true }]);
    expect(begun).toEqual(['a', 'b']);
  });

  it('FIND-5 remembers why a server failed until it succeeds or is forgotten', async () => {
    const { learner, finish } = bench();
    const failing = learner.learn(server('a'));
    await Promise.all([
      finish('a', new TypeError('odd')),
      expect(failing).rejects.toMatchObject({ code: 'TOOLS_LIST_FAILED' }),
    ]);
    expect(learner.failure('a')).toMatchObject({ code: 'TOOLS_LIST_FAILED', message: 'odd' });
    const again = learner.learn(server('a'));
    expect(learner.failure('a')).toBeDefined();
    await finish('a');
    await again;
    expect(learner.failure('a')).toBeUndefined();

    const third = learner.learn(server('a'));
    await Promise.all([finish('a', new Error('x')), expect(third).rejects.toThrow('x')]);
    learner.forget('a');
    expect(learner.failure('a')).toBeUndefined();
  });

  it('FIND-5 remembers the cause, not that the server is left alone for a moment because of it', async () => {
    const { learner, finish } = bench();
    const cause = new ToolscoutError('SERVER_CONNECTION_ERROR', 'The command was not found.');
    const open = new ToolscoutError('CIRCUIT_OPEN', 'It failed 5 times; try again in 15 s.', { cause });
    const failing = learner.learn(server('a'));
    await Promise.all([finish('a', open), expect(failing).rejects.toBe(open)]);
    expect(learner.lastFailure('a')?.error).toBe(cause);
  });

  it.each([
    [
      'RATE_LIMITED',
      'Server "a" is limited to 1 requests per second; try again in 14.5 s.',
      'Server "a" is limited to 1 requests per second.',
    ],
    ['CIRCUIT_OPEN', 'It failed 5 times; try again in 15 s. Last error: gone', 'It failed 5 times. Last error: gone'],
    [
      'TOOLS_LIST_FAILED',
      'It failed, and it is not tried again for 12 s. Last error: gone',
      'It failed. Last error: gone',
    ],
  ] as const)('FIND-5 STUDIO-1 a failure that is shown later promises no time: %s', async (code, message, kept) => {
    const { learner, finish } = bench();
    const failing = learner.learn(server('a'));
    const error = new ToolscoutError(code, message, { retryAfterMs: 14_500 });
    // The caller that waits is told when to try again.
    await Promise.all([finish('a', error), expect(failing).rejects.toBe(error)]);
    expect(learner.lastFailure('a')?.error).toMatchObject({ code, message: kept, retryAfterMs: undefined });
    learner.recall('b', { error, at: 0, times: 1 });
    expect(learner.failure('b')?.message).toBe(kept);
  });

  it('CFG-6 a forgotten run is stopped, leaves no failure behind, and a new one begins at once', async () => {
    const { learner, begun, finish } = bench();
    const old = learner.learn(server('a'));
    old.catch(() => undefined);
    learner.forget('a');
    const fresh = learner.learn(server('a'));
    fresh.catch(() => undefined);
    await expect(old).rejects.toThrow('was cancelled');
    expect(learner.failure('a')).toBeUndefined();
    expect(begun).toEqual(['a', 'a']);
    await finish('a');
    await finish('a');
    await expect(fresh).resolves.toEqual(LEARNED);
  });

  it('CONN-2 settle waits for the named servers and no others', async () => {
    const { learner, finish } = bench();
    void learner.learnAll(['a', 'b'].map(server), { parallel: 2 });
    const settled = learner.settle(['a'], 2000);
    expect(await isSettled(settled)).toBe(false);
    await finish('a');
    expect(await isSettled(settled)).toBe(true);
    expect(await isSettled(learner.settle([], 2000))).toBe(true);
    expect(await isSettled(learner.settle(['unknown'], 2000))).toBe(true);
    await finish('b');
  });

  it('CONN-2 settle gives up when the time since the request is used up, also for the next waiter', async () => {
    const { learner, clock, finish } = bench();
    void learner.learnAll([server('a')], { parallel: 1 });
    const first = learner.settle(['a'], 2000);
    await clock.advance(1500);
    expect(await isSettled(first)).toBe(false);
    const second = learner.settle(['a'], 2000);
    await clock.advance(500);
    expect(await isSettled(first)).toBe(true);
    expect(await isSettled(second)).toBe(true);
    expect(await isSettled(learner.settle(['a'], 2000))).toBe(true);
    expect(clock.waiting).toBeLessThanOrEqual(1);
    await finish('a');
  });

  it('CONN-2 settle waits for a server whose turn has not come yet', async () => {
    const { learner, finish } = bench();
    void learner.learnAll(['a', 'b'].map(server), { parallel: 1 });
    const settled = learner.settle(['b'], 2000);
    expect(await isSettled(settled)).toBe(false);
    await finish('a');
    expect(await isSettled(settled)).toBe(false);
    await finish('b');
    expect(await isSettled(settled)).toBe(true);
  });

  it('CONN-2 settle goes on when one of several fails', async () => {
    const { learner, finish } = bench();
    void learner.learnAll(['a', 'b'].map(server), { parallel: 2 });
    const settled = learner.settle(['a', 'b'], 2000);
    await finish('a', new Error('gone'));
    expect(await isSettled(settled)).toBe(false);
    await finish('b');
    expect(await isSettled(settled)).toBe(true);
  });

  it('R7 closing stops every run', async () => {
    const { learner } = bench();
    const outcomes = learner.learnAll(['a', 'b'].map(server), { parallel: 2 });
    learner.close(2000);
    expect(await outcomes).toMatchObject([{ ok: false }, { ok: false }]);
    expect(learner.learning()).toEqual([]);
    expect(learner.failure('a')).toBeUndefined();
  });
});
