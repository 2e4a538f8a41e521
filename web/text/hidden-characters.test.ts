import { describe, expect, it } from 'vitest';
import { countHidden, showHidden } from './hidden-characters.js';

const shown = (text: string): string =>
  showHidden(text)
    .map((piece) => (piece.kind === 'plain' ? piece.text : `[${piece.code} ${piece.name}]`))
    .join('');

describe('hidden characters', () => {
  it.each([
    ['plain text\twith tabs\nand lines\r\n', 'plain text\twith tabs\nand lines\r\n'],
    ['a\u001b[31mred', 'a[U+001B ESC][31mred'],
    ['over\rwritten', 'over[U+000D carriage return]written'],
    ['a\u202eb', 'a[U+202E right-to-left override]b'],
    ['zero\u200bwidth', 'zero[U+200B zero width space]width'],
    ['tag\u{e0041}', 'tag[U+E0041 tag A]'],
    ['\0', '[U+0000 NUL]'],
    ['\u0085', '[U+0085 control character]'],
    ['a\u2061b', 'a[U+2061 invisible character]b'],
    ['\ud800x', '[U+D800 lone surrogate]x'],
  ])('A16 shows what a reader would not see: %j', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it('A16 leaves pictures that are joined of several alone', () => {
    expect(shown('👩\u200d💻 and ❤\ufe0f')).toBe('👩\u200d💻 and ❤\ufe0f');
    expect(countHidden('a\u200db')).toBe(1);
  });

  it('A16 takes a text of 1 MB in a moment, and loses nothing of it', () => {
    const text = 'plain '.repeat(170_000);
    expect(showHidden(text)).toEqual([{ kind: 'plain', text }]);
    expect(showHidden('')).toEqual([]);
  });
});
