import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import type { WorkerRequest } from './worker-messages.js';
import { createWorkers, type WorkerListener } from './workers.js';

/** A thread as the workers see one: it says what the test has it say. */
class FakeThread extends EventEmitter {
  readonly posted: WorkerRequest[] = [];
  isEnded = false;
  isReferenced = true;
  postMessage(request: WorkerRequest): void {
    this.posted.push(request);
  }
  ref(): void {
    this.isReferenced = true;
  }
  unref(): void {
    this.isReferenced = false;
  }
  async terminate(): Promise<number> {
    this.isEnded = true;
    return 1;
  }
}

function bench(isReady = true) {
  const clock = createFakeClock();
  const threads: FakeThread[] = [];
  const workers = createWorkers({
    clock,
    open: () => {
      const thread = new FakeThread();
      threads.push(thread);
      if (isReady) queueMicrotask(() => thread.emit('message', { type: 'ready' }));
      return thread as unknown as Worker;
    },
  });
  const heard: unknown[] = [];
  const listener: WorkerListener = {
    onMessage: (message) => heard.push(message),
    onEnd: (reason) => heard.push(reason.message),
  };
  return { clock, threads, workers, heard, listener };
}

describe('workers', () => {
  it('CODE-3 one worker is kept for the next script, and ends when none comes for a minute', async () => {
    const { clock, threads, workers, listener } = bench();
    const first = await workers.lend(listener);
    first.giveBack();
    first.giveBack();
    first.end();
    expect(threads[0]).toMatchObject({ isEnded: false, isReferenced: false, posted: [{ type: 'discard' }] });
    const second = await workers.lend(listener);
    expect(threads).toHaveLength(1);
    expect(threads[0]!.isReferenced).toBe(true);
    second.giveBack();
    await clock.advance(59_000);
    expect(threads[0]!.isEnded).toBe(false);
    await clock.advance(2000);
    expect(threads[0]!.isEnded).toBe(true);
    await workers.lend(listener);
    expect(threads).toHaveLength(2);
  });

  it('CODE-3 what several scripts at once needed is not kept, and a worker ends after many scripts', async () => {
    const { threads, workers, listener } = bench();
    const [one, two] = [await workers.lend(listener), await workers.lend(listener)];
    one.giveBack();
    two.giveBack();
    expect(threads.map(({ isEnded }) => isEnded)).toEqual([false, true]);
    for (let at = 1; at < 500; at++) (await workers.lend(listener)).giveBack();
    expect(threads[0]!.isEnded).toBe(true);
    expect(threads).toHaveLength(2);
  });

  it('CODE-3 at most eight run at once; the next waits until one is free', async () => {
    const { threads, workers, listener } = bench();
    const lent = await Promise.all(Array.from({ length: 8 }, () => workers.lend(listener)));
    let isLent = false;
    const ninth = workers.lend(listener).then((worker) => {
      isLent = true;
      return worker;
    });
    await new Promise(setImmediate);
    expect([isLent, threads.length]).toEqual([false, 8]);
    lent[0]!.end();
    (await ninth).end();
    expect(threads[0]!.isEnded).toBe(true);
  });

  it('CODE-3 A43 scripts of one owner leave workers to those of others, and take turns with them', async () => {
    const { workers, listener } = bench();
    const lent = await Promise.all(Array.from({ length: 8 }, () => workers.lend(listener, 'ann')));
    const order: string[] = [];
    const wait = (owner: string): void => {
      void workers.lend(listener, owner).then(() => order.push(owner));
    };
    wait('ann');
    const others = await Promise.all(Array.from({ length: 4 }, () => workers.lend(listener, 'bob')));
    expect(others).toHaveLength(4);
    wait('cid');
    await new Promise(setImmediate);
    expect(order).toEqual([]);
    // The one that has none comes first, although another waits for longer.
    lent[0]!.end();
    await new Promise(setImmediate);
    expect(order).toEqual(['cid']);
    others[0]!.end();
    await new Promise(setImmediate);
    expect(order).toEqual(['cid', 'ann']);
  });

  it('CODE-3 a worker that ends by itself tells its script, and is used no more', async () => {
    const { threads, workers, heard, listener } = bench();
    const worker = await workers.lend(listener);
    threads[0]!.emit('message', { type: 'breach', breach: 'memory', detail: '' });
    threads[0]!.emit('error', new Error('out of memory'));
    threads[0]!.emit('exit', 1);
    expect(heard).toEqual([{ type: 'breach', breach: 'memory', detail: '' }, 'out of memory']);
    worker.giveBack();
    await workers.lend(listener);
    expect(threads).toHaveLength(2);
    threads[1]!.emit('error', 'odd');
    expect(heard.at(-1)).toBe('odd');
    threads[1]!.emit('message', { type: 'suspended' });
  });

  it('CODE-3 one that cannot start frees its place, and closing ends all', async () => {
    const { threads, workers, listener } = bench(false);
    const lending = workers.lend(listener);
    await new Promise(setImmediate);
    threads[0]!.emit('exit', 3);
    await expect(lending).rejects.toThrow('the worker ended with code 3');
    const next = workers.lend(listener);
    await new Promise(setImmediate);
    threads[1]!.emit('message', { type: 'ready' });
    await next;
    await workers.close();
    expect(threads[1]!.isEnded).toBe(true);
  });
});
