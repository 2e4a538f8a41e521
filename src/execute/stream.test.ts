import { describe, expect, it } from 'vitest';
import type { Call, CallResult } from '../model/call.js';
import { streamCall, type CallEvent } from './stream.js';

const viewer = { principal: 'local', scopes: new Set<never>(), isLimited: false, sees: () => true };
const call: Call = { server: 's', tool: 't', arguments: {}, viewer, principal: 'local', route: 'library' };
const done: CallResult = { success: true, result: {} };

async function collect(events: AsyncIterable<CallEvent>): Promise<CallEvent[]> {
  const all: CallEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** Runs until it is cancelled. */
function untilCancelled(seen: { cancelled: boolean; started: boolean }) {
  return (running: Call): Promise<CallResult> => {
    seen.started = true;
    running.onProgress?.({ progress: 1 });
    return new Promise((resolve) => {
      running.signal?.addEventListener('abort', () => {
        seen.cancelled = true;
        resolve({ success: false });
      });
    });
  };
}

describe('executeStream', () => {
  it('EXEC-1 gives progress in order, then the result', async () => {
    const heard: number[] = [];
    const events = streamCall({ ...call, onProgress: ({ progress }) => heard.push(progress) }, async (running) => {
      running.onProgress?.({ progress: 1 });
      running.onProgress?.({ progress: 2, total: 2 });
      await Promise.resolve();
      running.onProgress?.({ progress: 3 });
      return done;
    });
    expect(await collect(events)).toEqual([
      { type: 'progress', progress: { progress: 1 } },
      { type: 'progress', progress: { progress: 2, total: 2 } },
      { type: 'progress', progress: { progress: 3 } },
      { type: 'result', result: done },
    ]);
    expect(heard).toEqual([1, 2, 3]);
  });

  it('EXEC-1 leaving the loop early cancels the call', async () => {
    const seen = { cancelled: false, started: false };
    for await (const event of streamCall(call, untilCancelled(seen))) {
      expect(event.type).toBe('progress');
      break;
    }
    expect(seen).toEqual({ cancelled: true, started: true });
  });

  it('EXEC-1 return() cancels a call that is silent', async () => {
    const seen = { cancelled: false, started: false };
    const iterator = streamCall(call, untilCancelled(seen))[Symbol.asyncIterator]();
    await iterator.next();
    const pending = iterator.next();
    await iterator.return?.();
    expect(seen.cancelled).toBe(true);
    await expect(pending).resolves.toEqual({ done: false, value: { type: 'result', result: { success: false } } });
    await expect(iterator.next()).resolves.toEqual({ done: true, value: undefined });
  });

  it('EXEC-1 nothing runs before the first step', async () => {
    const seen = { cancelled: false, started: false };
    const iterator = streamCall(call, untilCancelled(seen))[Symbol.asyncIterator]();
    await iterator.return?.();
    expect(seen.started).toBe(false);
  });

  it("EXEC-1 the caller's own signal cancels the call", async () => {
    const seen = { cancelled: false, started: false };
    const controller = new AbortController();
    const all = collect(streamCall({ ...call, signal: controller.signal }, untilCancelled(seen)));
    await Promise.resolve();
    controller.abort();
    expect((await all).at(-1)).toEqual({ type: 'result', result: { success: false } });
    const aborted = streamCall({ ...call, signal: AbortSignal.abort() }, async (running) => ({
      success: running.signal?.aborted === false,
    }));
    expect(await collect(aborted)).toEqual([{ type: 'result', result: { success: false } }]);
  });

  it('A28 a flood of progress is kept in bounds', async () => {
    const events = streamCall(call, async (running) => {
      for (let progress = 0; progress < 5000; progress++) running.onProgress?.({ progress });
      return done;
    });
    const all = await collect(events);
    expect(all).toHaveLength(1001);
    expect(all[0]).toEqual({ type: 'progress', progress: { progress: 4000 } });
  });

  it('EXEC-1 what the execution throws reaches the loop', async () => {
    await expect(collect(streamCall(call, () => Promise.reject(new Error('a bug'))))).rejects.toThrow('a bug');
  });
});
