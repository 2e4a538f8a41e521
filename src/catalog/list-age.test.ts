import { describe, expect, it } from 'vitest';
import { Config } from '../model/config.js';
import { isOverdue, isStale, isWorthRefreshing, type LearnedList } from './catalog.js';

const { cache } = Config.parse({});
const NOW = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;
const learned = (hoursAgo: number): LearnedList => ({
  items: [],
  learnedAt: NOW - hoursAgo * HOUR_MS,
  dropped: 0,
  info: { name: 'x', version: '1' },
});

describe('lists and a clock that was wrong', () => {
  it.each([
    [1, false],
    [23, false],
    [25, true],
    [24 * 400, true],
    // The clock was ahead when the list was learned and is right now: the list's age is unknown.
    [-2, true],
    [-24 * 400, true],
    // Two clocks are never quite the same.
    [-0.01, false],
  ])('R11 DISC-4 a list that was learned %d hours ago is requested again: %s', (hours, wanted) => {
    expect(isOverdue(learned(hours), cache, NOW)).toBe(wanted);
    expect(isWorthRefreshing(learned(hours), cache, NOW)).toBe(wanted);
  });
});

describe('how long a list is fresh', () => {
  it.each<[string, Partial<LearnedList>, number, boolean]>([
    ['fresh by the configured time', {}, cache.ttlMs - 1, false],
    ['stale after the configured time', {}, cache.ttlMs, true],
    ['fresh by the server’s time', { freshMs: 2 * cache.ttlMs }, cache.ttlMs, false],
    ['stale after the server’s time', { freshMs: 1000 }, 1000, true],
    ['stale at once with ttl 0', { freshMs: 0 }, 0, true],
    ['stale when it was announced as changed', { validity: { isInvalid: true } }, 0, true],
    ['stale when the clock was set back', {}, -2 * HOUR_MS, true],
  ])('DISC-4 a list is %s', (_title, known, later, stale) => {
    expect(isStale({ ...learned(0), ...known }, cache, NOW + later)).toBe(stale);
  });
});
