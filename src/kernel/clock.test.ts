import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { sleep, systemClock } from './clock.js';

describe('clock', () => {
  it('CONN-3 sleep resolves when its time has come, and not before', async () => {
    const clock = createFakeClock();
    const order: string[] = [];
    const slept = sleep(clock, 100).then(() => order.push('awake'));
    await clock.advance(99);
    order.push('99 ms later');
    await clock.advance(1);
    await slept;
    expect(order).toEqual(['99 ms later', 'awake']);
    expect(clock.waiting).toBe(0);
  });

  it('CONN-7 an aborted sleep rejects with the reason of the signal and leaves no timer behind', async () => {
    const clock = createFakeClock();
    const stop = new AbortController();
    const slept = sleep(clock, 100, stop.signal);
    expect(clock.waiting).toBe(1);
    const reason = new Error('enough');
    stop.abort(reason);
    await expect(slept).rejects.toBe(reason);
    expect(clock.waiting).toBe(0);
  });

  it('CONN-7 a sleep under a signal that is already aborted never starts', async () => {
    const clock = createFakeClock();
    await expect(sleep(clock, 100, AbortSignal.abort('too late'))).rejects.toBe('too late');
    expect(clock.waiting).toBe(0);
  });

  it('CONN-7 an abort after the sleep changes nothing, and the listener is gone', async () => {
    const clock = createFakeClock();
    const stop = new AbortController();
    let listeners = 0;
    const { signal } = stop;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args));
    signal.removeEventListener = (...args: Parameters<typeof remove>) => (listeners--, remove(...args));
    const slept = sleep(clock, 5, signal);
    await clock.advance(5);
    await expect(slept).resolves.toBeUndefined();
    expect(listeners).toBe(0);
    stop.abort();
    await expect(slept).resolves.toBeUndefined();
  });

  it('R11 the real clock runs its timers once, cancels them, and its monotonic time does not go back', async () => {
    const before = systemClock.monotonic();
    let cancelled = 0;
    systemClock.after(0, () => cancelled++).cancel();
    let ran = 0;
    systemClock.after(1, () => ran++);
    await expect.poll(() => ran).toBe(1);
    expect(cancelled).toBe(0);
    expect(systemClock.monotonic()).toBeGreaterThanOrEqual(before);
    expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1000);
  });

  it('REG-6 CFG-7 a wait that is longer than a timer of the system can hold is neither cut short nor never-ending', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const month = 30 * 24 * 3600 * 1000;
    let runs = 0;
    systemClock.after(2 * month, () => (runs += 1));
    const { cancel } = systemClock.after(2 * month, () => (runs += 100));
    vi.advanceTimersByTime(2 * month - 1);
    expect(runs).toBe(0);
    cancel();
    vi.advanceTimersByTime(1);
    expect(runs).toBe(1);
    vi.advanceTimersByTime(4 * month);
    expect(runs).toBe(1);
    const endless = systemClock.after(Infinity, () => (runs += 1));
    vi.advanceTimersByTime(4 * month);
    expect(runs).toBe(1);
    endless.cancel();
    expect(vi.getTimerCount()).toBe(0);
  });
});
