import { describe, expect, it } from 'vitest';
import { Canceller, type Cancel } from './cancel.js';

describe('a canceller', () => {
  it('META-6 tells everybody who listens, once, and says why', () => {
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

  it('META-6 does not tell those who left, nor those who come too late', () => {
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
});
