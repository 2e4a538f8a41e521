import { describe, expect, it } from 'vitest';
import {
  formatAgo,
  formatBytes,
  formatCount,
  formatDateTime,
  formatDuration,
  formatLeft,
  formatMoment,
  formatTime,
  plural,
} from './format.js';

describe('format', () => {
  it.each([
    [0.2, '<1 ms'],
    [41.4, '41 ms'],
    [1234, '1.23 s'],
    [12_340, '12.3 s'],
    [61_000, '1 min 1 s'],
    [3_720_000, '1 h 2 min'],
  ])('STUDIO-1 writes %d ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it.each([
    [999, '999 B'],
    [1500, '1.5 kB'],
    [20_000, '20 kB'],
    [2_500_000, '2.5 MB'],
  ])('STUDIO-1 writes %d bytes as %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it.each([
    [100, 'just now'],
    [-500, 'just now'],
    [30_000, '30 s ago'],
    [300_000, '5 min ago'],
    [7_200_000, '2 h ago'],
    [200_000_000, '2 d ago'],
  ])('STUDIO-1 writes a time %d ms ago as %s', (past, text) => {
    expect(formatAgo(1_000_000_000 - past, 1_000_000_000)).toBe(text);
  });

  it.each([
    [-1, 'over'],
    [0, 'over'],
    [400, 'in 1 s'],
    [30_900, 'in 30 s'],
    [890_000, 'in 14 min'],
    [7_200_000, 'in 2 h'],
  ])('STUDIO-1 writes %d ms that are left as %s', (left, text) => {
    expect(formatLeft(1_000_000_000 + left, 1_000_000_000)).toBe(text);
  });

  it('STUDIO-1 writes counts with their nouns, and times', () => {
    expect([plural(1, 'tool'), plural(0, 'tool'), plural(2, 'entry', 'entries'), formatCount(12_345.6)]).toEqual([
      '1 tool',
      '0 tools',
      '2 entries',
      '12,346',
    ]);
    expect(formatTime(0)).toMatch(/^\d\d:\d\d:\d\d$/);
    expect(formatDateTime(0)).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  });

  it('STUDIO-1 a time of another day has its date', () => {
    const now = new Date(2026, 10, 18, 15, 30).getTime();
    expect(formatMoment(new Date(2026, 10, 18, 9, 5, 7).getTime(), now)).toBe('09:05:07');
    expect(formatMoment(new Date(2026, 10, 17, 9, 5, 7).getTime(), now)).toBe('2026-11-17 09:05:07');
  });
});
