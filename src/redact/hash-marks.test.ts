import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../kernel/json.js';
import { findMarks, hashMark } from './hash-marks.js';

describe('marks in place of what was redacted', () => {
  it('NEG-6 equal values give equal marks, others do not, and the order of keys is none of it', () => {
    expect(hashMark('a')).toMatch(/^sha256:[0-9a-f]{16}$/);
    expect(hashMark('a')).toBe(hashMark('a'));
    expect(new Set(['a', 'b', 1, '1', true, null, [], {}].map(hashMark)).size).toBe(7);
    expect(hashMark({ x: 1, y: 2 })).toBe(hashMark({ y: 2, x: 1 }));
  });

  it('NEG-6 R15 a mark stays what it is; a text that only begins or ends as one does not', () => {
    for (const mark of ['***', hashMark('a')]) expect(hashMark(mark)).toBe(mark);
    for (const text of ['*** secret', 'secret ***', `${hashMark('a')}f`, `x${hashMark('a')}`, '****', '**']) {
      expect(hashMark(text), text).not.toBe(text);
      expect(hashMark(text), text).toMatch(/^sha256:/);
    }
  });

  it('NEG-6 A26 a value that is nested too deep becomes a mask', () => {
    let deep: JsonValue = 'x';
    for (let level = 0; level < 20_000; level++) deep = [deep];
    expect(hashMark(deep)).toBe('***');
  });

  it('NEG-6 marks are found where they stand', () => {
    const text = `a *** b ${hashMark('x')} c`;
    expect(findMarks(text).map(([start, end]) => text.slice(start, end))).toEqual(['***', hashMark('x')]);
    expect(findMarks('a ** sha256:0123')).toEqual([]);
  });
});
