import { describe, expect, it } from 'vitest';
import { Config } from '../../model/config.js';
import type { LearnedList } from '../catalog.js';
import { isOverdue, isWorthRefreshing } from './fill-catalog.js';

const { cache } = Config.parse({});
const NOW = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;
const learned = (hoursAgo: number, stale = false): LearnedList => ({
  items: [],
  learnedAt: NOW - hoursAgo * HOUR_MS,
  stale,
  dropped: 0,
  info: { name: 'x', version: '1' },
});

describe('lists and a clock that was wrong', () => {
  it.each([
    [1, false],
    [23, false],
    [25, true],
    [24 * 400, true],
    // The clock was ahead when the list was learned, and is right now: how old it is nobody knows.
    [-2, true],
    [-24 * 400, true],
    // Two clocks are never quite the same.
    [-0.01, false],
  ])('R11 DISC-4 a list that was learned %d hours ago is asked for anew: %s', (hours, wanted) => {
    expect(isOverdue(learned(hours), cache, NOW)).toBe(wanted);
    expect(isWorthRefreshing(learned(hours), cache, NOW)).toBe(wanted);
  });
});
