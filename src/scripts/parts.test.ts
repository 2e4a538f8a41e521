import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { Canceller } from '../kernel/async/cancel.js';
import { systemClock } from '../kernel/clock.js';
import { sha256 } from '../kernel/hash.js';
import type { Entry, Store } from '../model/store.js';
import { createMemoryStore } from '../store/index.js';
import { LiveCall } from './live-call.js';
import type { RunOptions } from './run-types.js';
import { answerOf } from './script-call.js';
import { breachError } from './script-failure.js';
import { runScript } from './script-run.js';
import { createSuspendedScripts, type SuspendedScript } from './suspended-scripts.js';
import { createVault } from './vault.js';
import { createWaitingScripts } from './waiting-scripts.js';
import type { WorkerListener } from './workers.js';

const CLAIMS = 'script-claims';
const unlessClaim = (space: string, entry: Entry | undefined): Entry | undefined =>
  space === CLAIMS ? undefined : entry;
const unlessClaimed = (space: string, put: () => Promise<boolean>): Promise<boolean> =>
  space === CLAIMS ? Promise.resolve(false) : put();

describe('the vault of suspended scripts', () => {
  it('CODE-5 opens only what it sealed, with the same binding; all vaults of a store share a key', async () => {
    const store = createMemoryStore({ clock: systemClock });
    const [first, second] = [createVault(store), createVault(store)];
    const sealed = await first.seal(Buffer.from('words'), 'ann');
    expect((await second.open(sealed, 'ann'))?.toString()).toBe('words');
    expect(await second.open(sealed, 'bob')).toBeUndefined();
    expect(await second.open('AAAA', 'ann')).toBeUndefined();
    expect(await second.open(`${sealed.slice(0, -8)}AAAAAAAA`, 'ann')).toBeUndefined();
    expect(await createVault(createMemoryStore({ clock: systemClock })).open(sealed, 'ann')).toBeUndefined();
  });

  it('CODE-5 a store that does not give the key back is an error, and is asked again', async () => {
    const store = createMemoryStore({ clock: systemClock });
    let isBroken = true;
    const failing = {
      ...store,
      get: (...args: Parameters<Store['get']>) => (isBroken ? Promise.resolve(undefined) : store.get(...args)),
    } as Store;
    const vault = createVault(failing);
    await expect(vault.seal(Buffer.from('a'), 'b')).rejects.toMatchObject({ code: 'STORE_ERROR' });
    isBroken = false;
    expect(await vault.seal(Buffer.from('a'), 'b')).toEqual(expect.any(String));
  });

  it('CODE-5 A43 a principal that suspends many scripts loses its own, and none of others', async () => {
    const clock = createFakeClock();
    const store = createMemoryStore({ clock });
    const scripts = createSuspendedScripts({ store, clock, vault: createVault(store) });
    const suspended = { script: 'x', image: { memory: new Uint8Array(8) } } as unknown as SuspendedScript;
    const keep = async (principal: string): Promise<string> => {
      await clock.advance(1);
      return scripts.keep(suspended, { principal });
    };
    const ann = await keep('ann');
    const first = await keep('bob');
    const claimed = await scripts.claim(ann, 'x', { principal: 'ann' });
    await claimed.release();
    for (let each = 0; each < 256; each++) await keep('bob');
    expect(await store.list('script-claims')).toHaveLength(256);
    await expect(scripts.claim(first, 'x', { principal: 'bob' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await (await scripts.claim(ann, 'x', { principal: 'ann' })).forget();
  });

  it('CODE-5 A48 a damaged key is replaced, once for all processes', async () => {
    const store = createMemoryStore({ clock: systemClock });
    await createVault(store).seal(Buffer.from('old'), 'ann');
    const [space] = await store.spaces();
    for (const damage of ['short', 5, null]) {
      await store.put(space!, space!, damage);
      const [first, second] = [createVault(store), createVault(store)];
      const [one, two] = await Promise.all([first, second].map((vault) => vault.seal(Buffer.from('words'), 'ann')));
      expect((await second.open(one!, 'ann'))?.toString()).toBe('words');
      expect((await first.open(two!, 'ann'))?.toString()).toBe('words');
    }
  });

  it.each<[string, (store: Store) => Store]>([
    [
      'is missing',
      (store) => ({ ...store, get: async (space, key) => unlessClaim(space, await store.get(space, key)) }),
    ],
    [
      'cannot be written',
      (store) => ({ ...store, put: (space, ...rest) => unlessClaimed(space, () => store.put(space, ...rest)) }),
    ],
  ])('CODE-5 A48 a script whose claim %s is not looked for endlessly', async (_what, break_) => {
    const clock = createFakeClock();
    const store = createMemoryStore({ clock });
    const owner = { principal: 'ann' };
    const waitingOver = (seen: Store) => {
      const suspended = createSuspendedScripts({ store: seen, clock, vault: createVault(seen) });
      return createWaitingScripts({ store: seen, suspended, now: clock.now });
    };
    const script = { script: 'x', image: { memory: new Uint8Array(8) } } as unknown as SuspendedScript;
    await (await waitingOver(store).keep(script, owner)).release();
    expect(await waitingOver(break_(store)).find('x', owner)).toBeUndefined();
    expect(await waitingOver(store).find('x', owner)).toBeDefined();
  });

  it('CODE-5 A43 A28 suspended scripts together take a bounded space, and the principal that takes most gives way', async () => {
    const clock = createFakeClock();
    const store = createMemoryStore({ clock });
    const scripts = createSuspendedScripts({ store, clock, vault: createVault(store), totalBytes: 10_000 });
    const keep = async (principal: string, bytes: number): Promise<string> => {
      await clock.advance(1);
      const suspended = { script: 'x', image: { memory: new Uint8Array(bytes) } } as unknown as SuspendedScript;
      return scripts.keep(suspended, { principal });
    };
    const ann = await keep('ann', 1000);
    for (let each = 0; each < 20; each++) {
      const state = await keep('bob', 2000);
      // What is claimed and released weighs as much as before.
      await (await scripts.claim(state, 'x', { principal: 'bob' })).release();
    }
    const stored = (await store.list('scripts')).reduce((sum, { value }) => sum + String(value).length, 0);
    expect(stored).toBeLessThan(15_000);
    expect(await store.list('script-claims')).toHaveLength((await store.list('scripts')).length);
    await (await scripts.claim(ann, 'x', { principal: 'ann' })).forget();
  });

  it('CODE-5 a journal that cannot be decrypted ends the script, with the advice to check its calls', async () => {
    const clock = createFakeClock();
    const store = createMemoryStore({ clock });
    const scripts = createSuspendedScripts({ store, clock, vault: createVault(store) });
    const suspended = { script: 'x', image: { memory: new Uint8Array(8) } } as unknown as SuspendedScript;
    const state = await scripts.keep(suspended, { principal: 'ann' });
    await store.put(`script-journal.${sha256(state)}`, 'answer.00000000', 'damaged');
    // It is not taken for running: a second try says the same.
    for (const _ of [1, 2]) {
      await expect(scripts.claim(state, 'x', { principal: 'ann' })).rejects.toMatchObject({
        code: 'STORE_ERROR',
        message: 'The paused script cannot be resumed: the record of its calls cannot be decrypted.',
        suggestion: 'Check what its calls changed, then run it from the start.',
      });
    }
  });
});

it('CODE-5 a script whose noted answers do not match its calls ends, with the advice to check its calls', async () => {
  const worker = (listener: WorkerListener) => ({
    post: () => queueMicrotask(() => listener.onMessage({ type: 'rest', computedMs: 0, printed: [], calls: [] })),
    giveBack: () => undefined,
    end: () => undefined,
  });
  const options = {
    clock: createFakeClock(),
    workers: { lend: (listener: WorkerListener) => Promise.resolve(worker(listener)) },
    bounds: { timeoutMs: 1000, computeMs: 1000, calls: 9, parallel: 1 },
    journal: { noted: [{ id: 7, answer: {}, now: 0 }] },
  } as unknown as RunOptions;
  expect(await runScript({ script: 'x', seed: [1, 2, 3] }, options)).toMatchObject({
    kind: 'stopped',
    error: {
      message: 'The script cannot be resumed: it did not repeat the calls that were saved.',
      suggestion: 'Check what its calls changed, then run it from the start.',
    },
  });
});

describe('a call that is at its server', () => {
  it('CODE-5 holds the questions of the server until they are answered, refused or withdrawn', async () => {
    const live = new LiveCall();
    await expect(live.result()).rejects.toThrow('has not begun');
    const withdraw = new Canceller();
    let told = 0;
    live.onQuestion = () => (told += 1);
    const one = live.ask('elicitation/create', { message: 'a' }, undefined);
    const two = live.ask('roots/list', undefined, withdraw);
    const three = live.ask('roots/list', undefined, undefined);
    expect(live.asks()).toEqual({
      'question-1': { method: 'elicitation/create', params: { message: 'a' } },
      'question-2': { method: 'roots/list' },
      'question-3': { method: 'roots/list' },
    });
    live.answer({ 'question-1': { action: 'accept' }, 'question-2': 'not an object', 'question-3': null, other: {} });
    expect(await one).toEqual({ action: 'accept' });
    withdraw.abort(new Error('enough'));
    await expect(two).rejects.toMatchObject({ code: 'CANCELLED' });
    live.answer(
      {},
      new Map([
        ['question-3', new Error('no')],
        ['question-9', new Error('no')],
      ]),
    );
    await expect(three).rejects.toThrow('no');
    expect(told).toBe(6);
    expect(live.asks()).toEqual({});
  });

  it('CODE-7 asks nothing for a call that is not wanted any more, and not without end', async () => {
    const live = new LiveCall();
    const gone = new Canceller();
    gone.abort();
    await expect(live.ask('roots/list', undefined, gone)).rejects.toMatchObject({ code: 'CANCELLED' });
    const open = Array.from({ length: 32 }, () => live.ask('roots/list', undefined, undefined));
    await expect(live.ask('roots/list', undefined, undefined)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    live.answer(Object.fromEntries(open.map((_, at) => [`question-${at + 1}`, {}])));
    await Promise.all(open);
    live.cancel.abort();
    await expect(live.ask('roots/list', undefined, undefined)).rejects.toMatchObject({ code: 'CANCELLED' });
  });
});

describe('answerOf', () => {
  const address = { server: 's', tool: 't' };
  const advise = (): string => 'advice';

  it('CODE-3 an engine that ran out of stack means values or calls that are nested too deep', () => {
    const bounds = { memoryBytes: 1, computeMs: 1, timeoutMs: 1, calls: 1, parallel: 1, outputBytes: 1 };
    expect(breachError('engine', 'Maximum call stack size exceeded', bounds)).toMatchObject({
      code: 'SCRIPT_LIMIT_EXCEEDED',
      message: expect.stringContaining('nested too deep'),
    });
    expect(breachError('engine', 'broken', bounds)).toMatchObject({
      code: 'SCRIPT_ERROR',
      suggestion:
        'Check what its calls changed, then run it again; if it fails the same way, report it with the script.',
    });
  });

  it('CODE-1 gives a script what it can use of a result, and an error where there is none', () => {
    expect(answerOf({ success: true, result: {} }, false, address, advise)).toEqual({ kind: 'text', text: '' });
    const odd = { success: true, result: { content: [{ type: 'text', text: 7 }, 'x'] } } as never;
    expect(answerOf(odd, false, address, advise)).toEqual({ kind: 'json', text: '[{"type":"text","text":7},"x"]' });
    expect(answerOf({ success: false } as never, false, address, advise)).toEqual({
      kind: 'error',
      text: JSON.stringify({
        code: 'TOOL_EXECUTION_ERROR',
        message: 'The call failed.',
        server: 's',
        tool: 't',
        suggestion: '',
      }),
    });
  });
});
