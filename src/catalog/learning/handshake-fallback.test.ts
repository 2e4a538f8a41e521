import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { httpServer, stdioServer } from '../../../test/support/test-server.js';
import type { RawExchange, RawOptions } from '../../connect/index.js';
import { silentLog } from '../../kernel/log.js';
import { createMemoryStore } from '../../store/index.js';
import { learnWithoutHandshake, type FallbackDeps } from './handshake-fallback.js';

const DAY_MS = 86_400_000;
const server = stdioServer('one', { command: 'x' }, { autoApproved: ['*'] });
const ANSWER = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools: [{ name: 'greet' }] } });

/** The ways around a handshake, with a program and a model that the test speaks for. */
function setUp(parts: Partial<FallbackDeps> & { readonly ai?: object } = {}) {
  const { ai: said, ...rest } = parts;
  const clock = createFakeClock();
  const store = createMemoryStore({ clock });
  const asked: string[] = [];
  const ai = { enabled: true, baseUrl: 'http://model.test', model: 'm', fallbackToAi: true, cache: true, ...said };
  const deps: FallbackDeps = {
    store,
    clock,
    log: silentLog,
    config: () => ({ timeoutMs: 1000, ai }),
    fetch: async (_url, init) => {
      asked.push(String(init?.body));
      return Response.json({ choices: [{ message: { content: '{"tools":[{"name":"guessed"}]}' } }] });
    },
    ...rest,
  };
  const learn = (of = server, mayRun = true, signal = new AbortController().signal) =>
    learnWithoutHandshake(of, deps, signal, mayRun);
  return { clock, store, asked, learn };
}

const printing =
  (stdout: string, seen: RawOptions[] = []) =>
  async (_server: unknown, options: RawOptions): Promise<RawExchange> => {
    seen.push(options);
    return { stdout, stderr: '', timedOut: false };
  };

describe('a server without a handshake', () => {
  it('DISC-6 DISC-7 a plain answer is remembered, and the program has its share of the time', async () => {
    const seen: RawOptions[] = [];
    const plain: string[] = [];
    const rememberPlain = async ({ id }: { id: string }): Promise<void> => void plain.push(id);
    const { learn, asked, clock } = setUp({ rawRun: printing(ANSWER, seen), rememberPlain });
    expect(await learn()).toMatchObject({ strategy: 'plain-list', items: [{ name: 'greet' }] });
    expect(plain).toEqual(['one']);
    expect(asked).toEqual([]);
    expect(seen[0]!.timeoutMs).toBe(700);
    expect([ANSWER, 'starting'].map((line) => seen[0]!.reply?.(line))).toEqual(['done', []]);
    expect(clock.waiting).toBe(0);
    const alone = setUp({ rawRun: printing(ANSWER, seen), ai: { enabled: false } });
    await alone.learn();
    expect(seen[1]!.timeoutMs).toBe(1000);
  });

  it('DISC-6 a program is started only where it may be, and one that fails is as if it had said nothing', async () => {
    const seen: RawOptions[] = [];
    const { learn } = setUp({ rawRun: printing(ANSWER, seen), ai: { enabled: false } });
    expect(await learn(server, false)).toBeUndefined();
    expect(await learn(httpServer('web', 'http://localhost:1'))).toBeUndefined();
    expect(seen).toEqual([]);
    const failing = setUp({ rawRun: () => Promise.reject(new Error('ENOENT')) });
    expect(await failing.learn({ ...server, autoApproved: ['read_*', 'write'] })).toMatchObject({
      strategy: 'auto-approved',
      items: [{ name: 'write' }],
    });
    expect(await failing.learn()).toMatchObject({ strategy: 'predicted', items: [{ name: 'guessed' }] });
  });

  it('DISC-7 a cancelled caller gets the reason, whether the program fails or answers', async () => {
    const ways = [() => Promise.reject(new Error('ended')), printing(ANSWER)] as const;
    for (const rawRun of ways) {
      const controller = new AbortController();
      const { learn, clock } = setUp({
        rawRun: (...given) => {
          controller.abort(new Error('given up'));
          return rawRun(...given);
        },
      });
      await expect(learn(server, true, controller.signal)).rejects.toThrow('given up');
      expect(clock.waiting).toBe(0);
    }
  });

  it('DISC-8 a prediction is kept for a day for the same model and server', async () => {
    const { learn, asked, clock, store } = setUp();
    const guessed = { strategy: 'predicted', items: [{ name: 'guessed' }] };
    expect(await learn()).toMatchObject(guessed);
    expect(await learn()).toMatchObject(guessed);
    expect(asked).toHaveLength(1);
    await learn(stdioServer('two', { command: 'x' }));
    expect(asked).toHaveLength(2);
    await clock.advance(DAY_MS);
    await learn();
    expect(asked).toHaveLength(3);
    // An unreadable entry is requested again.
    for (const { key } of await store.list('predictions')) await store.put('predictions', key, { at: 'x', tools: [] });
    await learn();
    expect(asked).toHaveLength(4);
  });

  it('DISC-8 asks every time without a cache, and never without a model', async () => {
    const { learn, asked, store } = setUp({ ai: { cache: false } });
    await learn();
    await learn();
    expect(asked).toHaveLength(2);
    expect(await store.list('predictions')).toEqual([]);
    expect(await setUp({ fetch: undefined }).learn()).toBeUndefined();
    expect(await setUp({ ai: { fallbackToAi: false } }).learn()).toBeUndefined();
    const mute = setUp({ fetch: async () => new Response('no', { status: 500 }) });
    expect(await mute.learn()).toBeUndefined();
    expect(await mute.store.list('predictions')).toEqual([]);
  });

  it('DISC-7 a model that never answers is given up with the time limit', async () => {
    const { learn, clock } = setUp({
      fetch: (_url, init) =>
        new Promise((_resolve, reject) => {
          init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason as Error));
        }),
    });
    const learning = learn();
    await clock.advance(1000);
    expect(await learning).toBeUndefined();
  });
});
