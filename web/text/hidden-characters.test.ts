import { describe, expect, it } from 'vitest';
import { INVISIBLE_GROUPS } from '../../src/kernel/invisible-characters.js';
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
    ['a\uffa0b\u3164', 'a[U+FFA0 halfwidth Hangul filler]b[U+3164 Hangul filler]'],
    ['tag\u{e0041}', 'tag[U+E0041 tag A]'],
    ['\0', '[U+0000 NUL]'],
    ['\u0085', '[U+0085 control character]'],
    ['a\u2061b', 'a[U+2061 invisible character]b'],
    ['\ud800x', '[U+D800 lone surrogate]x'],
  ])('A16 shows what a reader would not see: %j', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it('A15 A16 shows what the terminal and the findings take for invisible, and nothing else', () => {
    // U+FE0F makes a picture of the character before it, and is in honest texts everywhere.
    const listed = new RegExp(String.raw`(?!\ufe0f)[${Object.values(INVISIBLE_GROUPS).join('')}]|[\ud800-\udfff]`, 'u');
    const wrong: string[] = [];
    for (let code = 0; code <= 0x10_ff_ff; code++) {
      const character = String.fromCodePoint(code);
      if (code !== 0x0d && countHidden(character) > 0 !== listed.test(character)) wrong.push(code.toString(16));
    }
    expect(wrong).toEqual([]);
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
