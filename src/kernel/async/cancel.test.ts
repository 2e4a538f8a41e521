import { describe, expect, it } from 'vitest';
import { Canceller, unlessCancelled, type Cancel } from './cancel.js';

describe('a canceller', () => {
  it('META-6 calls every listener once, with the reason', () => {
    const cancel = new Canceller();
    const heard: string[] = [];
    cancel.addEventListener('abort', () => heard.push(`first ${String(cancel.reason)}`));
    cancel.addEventListener('abort', () => heard.push('second'));
    expect(cancel.aborted).toBe(false);
    cancel.abort('enough');
    cancel.abort('again');
    expect(cancel.aborted).toBe(true);
    expect(heard).toEqual(['first enough', 'second']);
  });

  it('META-6 calls neither removed listeners nor late ones', () => {
    const cancel = new Canceller();
    const heard: string[] = [];
    const left = (): number => heard.push('left');
    cancel.addEventListener('abort', left);
    cancel.addEventListener('abort', () => cancel.removeEventListener('abort', left));
    cancel.removeEventListener('abort', left);
    cancel.abort();
    cancel.addEventListener('abort', () => heard.push('late'));
    expect(heard).toEqual([]);
  });

  it('META-6 can be heeded where an abort signal can', () => {
    const heed = (cancel: Cancel): boolean => cancel.aborted;
    expect([heed(new Canceller()), heed(new AbortController().signal), heed(AbortSignal.abort())]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('EXEC-1 a wait ends with the work, or with the reason of the cancellation', async () => {
    const cancel = new Canceller();
    expect(await unlessCancelled(Promise.resolve(1), undefined)).toBe(1);
    expect(await unlessCancelled(Promise.resolve(2), cancel)).toBe(2);
    await expect(unlessCancelled(Promise.reject(new Error('broken')), cancel)).rejects.toThrow('broken');
    const waits = unlessCancelled(new Promise(() => {}), cancel);
    cancel.abort('left');
    await expect(waits).rejects.toBe('left');
    await expect(unlessCancelled(new Promise(() => {}), cancel)).rejects.toBe('left');
  });
});
