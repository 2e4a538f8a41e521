import { afterEach, describe, expect, it, vi } from 'vitest';
import { dismiss, dismissFailures, notices, tell } from './notices.js';

afterEach(() => {
  vi.useRealTimers();
  for (const { id } of notices.value) dismiss(id);
});

describe('notices', () => {
  it('STUDIO-1 go by themselves, a failure later, and with the view that it is about', () => {
    vi.useFakeTimers();
    tell('Saved.');
    tell('It failed.', 'bad', 'Do this.');
    vi.advanceTimersByTime(7000);
    expect(notices.value.map(({ text }) => text)).toEqual(['It failed.']);
    vi.advanceTimersByTime(30_000);
    expect(notices.value).toEqual([]);
    tell('It failed again.', 'bad');
    tell('Saved.');
    dismissFailures();
    expect(notices.value.map(({ text }) => text)).toEqual(['Saved.']);
  });

  it('STUDIO-1 are few at once: the oldest leave', () => {
    for (const text of ['1', '2', '3', '4', '5']) tell(text, 'bad');
    expect(notices.value.map(({ text }) => text)).toEqual(['2', '3', '4', '5']);
  });
});
