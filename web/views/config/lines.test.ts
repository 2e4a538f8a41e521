import { describe, expect, it } from 'vitest';
import { countLines, lineOf, lineRange, numberParts } from './lines.js';

describe('lines of the config file', () => {
  it('STUDIO-1 are numbered from 1, and found again', () => {
    const text = 'one\ntwo\n\nfour';
    expect([countLines(''), countLines(text), countLines(`${text}\n`)]).toEqual([1, 4, 5]);
    const lines = [1, 2, 3, 4, 9].map((line) => text.slice(...lineRange(text, line)));
    expect(lines).toEqual(['one', 'two', '', 'four', 'four']);
    expect([0, 3, 4, 8, 9].map((offset) => lineOf(text, offset))).toEqual([1, 1, 2, 3, 4]);
  });

  it('STUDIO-1 those that something is said about stand apart', () => {
    expect(numberParts(4, new Set())).toEqual(['1\n2\n3\n4\n']);
    expect(numberParts(4, new Set([1, 3]))).toEqual([1, '2\n', 3, '4\n']);
  });
});
