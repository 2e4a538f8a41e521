import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareLines, type ComparedLine } from './line-diff.js';

const side = (lines: readonly ComparedLine[], kind: 'removed' | 'added'): string[] =>
  lines.filter((line) => line.kind === 'same' || line.kind === kind).map(({ text }) => text);

describe('compareLines', () => {
  it('STUDIO-8 names what goes and what comes, and keeps the rest', () => {
    expect(compareLines('a\nb\nc\nd', 'a\nx\nc\ny\nd')).toEqual([
      { kind: 'same', text: 'a' },
      { kind: 'removed', text: 'b' },
      { kind: 'added', text: 'x' },
      { kind: 'same', text: 'c' },
      { kind: 'added', text: 'y' },
      { kind: 'same', text: 'd' },
    ]);
    expect(compareLines('', 'a')).toEqual([{ kind: 'added', text: 'a' }]);
    expect(compareLines('a', '')).toEqual([{ kind: 'removed', text: 'a' }]);
    expect(compareLines('', '')).toEqual([]);
  });

  it('STUDIO-8 both texts can be read off a comparison, whatever they are', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', ' a'), { maxLength: 30 });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = compareLines(before.join('\n'), after.join('\n'));
        expect(side(lines, 'removed')).toEqual(before);
        expect(side(lines, 'added')).toEqual(after);
      }),
    );
  });

  it('STUDIO-8 texts too long to be compared line by line are replaced as a whole', () => {
    const [before, after] = ['a', 'b'].map((name) => Array.from({ length: 1600 }, (_, at) => `${name}${at}`));
    const lines = compareLines(before!.join('\n'), after!.join('\n'));
    expect([side(lines, 'removed'), side(lines, 'added')]).toEqual([before, after]);
  });
});
