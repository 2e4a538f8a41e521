import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scrollToRow, visibleRows } from './visible-rows.js';

describe('visibleRows', () => {
  it('STUDIO-1 draws what is in sight and a few more', () => {
    expect(visibleRows({ count: 5000, rowHeight: 50, scrollTop: 1000, viewHeight: 500, overscan: 2 })).toEqual({
      first: 18,
      end: 32,
      offset: 900,
      height: 250_000,
    });
  });

  it('STUDIO-1 draws every row in sight and never many more, wherever one scrolls', () => {
    const options = fc.record({
      count: fc.nat(10_000),
      rowHeight: fc.integer({ min: 10, max: 100 }),
      scrollTop: fc.integer({ min: -500, max: 2_000_000 }),
      viewHeight: fc.integer({ min: 100, max: 2000 }),
    });
    fc.assert(
      fc.property(options, (given) => {
        const { first, end, offset, height } = visibleRows(given);
        expect(first).toBeGreaterThanOrEqual(0);
        expect(end).toBeLessThanOrEqual(given.count);
        expect(end - first).toBeLessThanOrEqual(given.viewHeight / given.rowHeight + 14);
        expect(offset).toBe(first * given.rowHeight);
        const top = Math.max(0, Math.min(given.scrollTop, height - given.viewHeight));
        if (given.count > 0) expect(offset).toBeLessThanOrEqual(top);
        expect(end * given.rowHeight).toBeGreaterThanOrEqual(Math.min(height, top + given.viewHeight));
      }),
    );
  });

  it('STUDIO-1 scrolls only as far as a row needs', () => {
    const view = { rowHeight: 50, viewHeight: 200, scrollTop: 100 };
    expect(scrollToRow({ ...view, index: 3 })).toBe(100);
    expect(scrollToRow({ ...view, index: 0 })).toBe(0);
    expect(scrollToRow({ ...view, index: 10 })).toBe(350);
  });
});
