import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffLines, diffWords, foldSame } from './diff.js';

describe('diffLines', () => {
  it('STUDIO-1 puts a replaced line beside its replacement', () => {
    expect(diffLines('a\nb\nc', 'a\nB\nc\nd')).toEqual([
      { kind: 'same', left: 'a', right: 'a' },
      { kind: 'changed', left: 'b', right: 'B' },
      { kind: 'same', left: 'c', right: 'c' },
      { kind: 'added', right: 'd' },
    ]);
    expect(diffLines('a\nb', 'a')).toEqual([
      { kind: 'same', left: 'a', right: 'a' },
      { kind: 'removed', left: 'b' },
    ]);
  });

  it('STUDIO-1 shows something new as added lines alone', () => {
    expect(diffLines('', 'a\nb').map(({ kind }) => kind)).toEqual(['added', 'added']);
    expect(diffLines('', '')).toEqual([]);
  });

  it('STUDIO-1 both sides together are the two texts, whatever they are', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', '', ' x')).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const rows = diffLines(before, after);
        const side = (name: 'left' | 'right'): string => rows.flatMap((row) => row[name] ?? []).join('\n');
        const isEnded = [before, after].every((each) => each === '' || each.endsWith('\n'));
        const shown = (each: string): string => (isEnded && each !== '' ? each.slice(0, -1) : each);
        expect(side('left')).toBe(shown(before));
        expect(side('right')).toBe(shown(after));
      }),
    );
  });

  it('STUDIO-1 compares texts that have too many lines as one block', () => {
    const before = Array.from({ length: 1500 }, (_, line) => `old ${line}`).join('\n');
    const after = Array.from({ length: 1500 }, (_, line) => `new ${line}`).join('\n');
    expect(diffLines(before, after).every(({ kind }) => kind === 'changed')).toBe(true);
  });
});

describe('the line break at the end', () => {
  it('STUDIO-1 begins no line of its own, and is a difference where only one text has it', () => {
    const same = { kind: 'same', left: 'a', right: 'a' };
    expect(diffLines('a\n', 'a\nb\n')).toEqual([same, { kind: 'added', right: 'b' }]);
    expect(diffLines('', 'a\n')).toEqual([{ kind: 'added', right: 'a' }]);
    expect(diffLines('a\n', 'a')).toEqual([same, { kind: 'removed', left: '' }]);
  });
});

describe('diffWords', () => {
  it('STUDIO-1 marks the words that differ, on both sides', () => {
    expect(diffWords('Reads a file.', 'Reads a secret file.')).toEqual({
      left: [{ same: true, text: 'Reads a file.' }],
      right: [
        { same: true, text: 'Reads a ' },
        { same: false, text: 'secret ' },
        { same: true, text: 'file.' },
      ],
    });
  });
});

describe('foldSame', () => {
  it('STUDIO-1 shows a single equal line instead of a remark about it', () => {
    const rows = diffLines('1\n2\n3\n4\n5', 'x\n2\n3\n4\n5');
    expect(foldSame(rows, 3)).toEqual(rows);
  });

  it('STUDIO-1 leaves out equal lines far from any difference and says how many', () => {
    const rows = diffLines('1\n2\n3\n4\n5\n6\n7', '1\n2\n3\n4\n5\n6\nx');
    expect(foldSame(rows, 1)).toEqual([
      5,
      { kind: 'same', left: '6', right: '6' },
      { kind: 'changed', left: '7', right: 'x' },
    ]);
  });
});
