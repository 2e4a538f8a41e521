import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { stdioServer } from '../../../test/support/test-server.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { Catalog } from '../catalog.js';
import type { LearnFailure } from './failure-memory.js';
import { learnOnce, type LearnOnceDeps } from './learn-once.js';

const server = stdioServer('one', { command: 'x' });

/** Replicas that share their claims and what was learned. */
function setUp() {
  const clock = createFakeClock();
  const claims = new Map<string, string>();
  const controller = new AbortController();
  const shared: { list?: { learnedAt: number; items: string[] }; failure?: LearnFailure; looks: number } = { looks: 0 };
  const replica = (name: string): LearnOnceDeps => ({
    clock,
    signal: controller.signal,
    replicas: {
      claim: async (work) => {
        if (!claims.has(work)) claims.set(work, name);
        return claims.get(work) === name;
      },
      release: async (work) => void claims.delete(work),
    },
    catalog: () => ({ list: () => shared.list }) as unknown as Catalog,
    look: async () => void (shared.looks += 1),
    lastFailure: () => shared.failure,
  });
  return { clock, claims, controller, shared, replica };
}

const failedAt = (at: number): LearnFailure => ({
  at,
  times: 1,
  error: new ToolscoutError('SERVER_CONNECTION_ERROR', 'It is gone.'),
});

describe('learning with several replicas', () => {
  it('STORE-3 one asks the server, the other takes over its list', async () => {
    const { clock, claims, shared, replica } = setUp();
    let asked = 0;
    let finish: () => void = () => undefined;
    const learn = async () => {
      asked += 1;
      await new Promise<void>((resolve) => (finish = resolve));
      shared.list = { learnedAt: 2, items: ['a', 'b'] };
      return { tools: 2, dropped: [{ index: 2, reason: 'no name' }] };
    };
    const one = learnOnce(server, replica('one'), learn);
    const two = learnOnce(server, replica('two'), learn);
    await clock.advance(1000);
    expect(asked).toBe(1);
    finish();
    expect(await one).toEqual({ tools: 2, dropped: [{ index: 2, reason: 'no name' }] });
    await clock.advance(1000);
    expect(await two).toEqual({ tools: 2, dropped: [] });
    expect([asked, claims.size]).toEqual([1, 0]);
  });

  it('STORE-3 should the one that asked disappear, another does it; an old list and an old failure are no news', async () => {
    const { clock, claims, shared, replica } = setUp();
    shared.list = { learnedAt: 1, items: [] };
    shared.failure = failedAt(1);
    claims.set(`learn one ${server.digest}`, 'gone');
    const learning = learnOnce(server, replica('two'), async () => ({ tools: 3, dropped: [] }));
    await clock.advance(1000);
    expect(shared.looks).toBe(0);
    claims.clear();
    await clock.advance(1000);
    expect(await learning).toEqual({ tools: 3, dropped: [] });
  });

  it('STORE-3 a failure of the one that asked counts for the other, and an end of the process ends the wait', async () => {
    const { clock, claims, controller, shared, replica } = setUp();
    const learn = () => Promise.reject(new Error('never asked'));
    claims.set(`learn one ${server.digest}`, 'other');
    const failing = learnOnce(server, replica('two'), learn);
    const failed = expect(failing).rejects.toMatchObject({
      code: 'CANCELLED',
      message: 'Another replica could not list the tools of "one": It is gone.',
    });
    await clock.advance(100);
    shared.failure = failedAt(2);
    await clock.advance(1000);
    await failed;
    const ended = expect(learnOnce(server, replica('two'), learn)).rejects.toThrow('over');
    await clock.advance(100);
    controller.abort(new Error('over'));
    await ended;
  });
});
