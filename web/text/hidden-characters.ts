/** A piece of a text: characters as they are, or one that a reader would not see, by its name. */
export type TextPiece =
  | { readonly kind: 'plain'; readonly text: string }
  | { readonly kind: 'hidden'; readonly code: string; readonly name: string };

const NAMES: Readonly<Record<number, string>> = {
  0x00: 'NUL',
  0x07: 'BEL',
  0x08: 'backspace',
  0x0d: 'carriage return',
  0x1b: 'ESC',
  0x7f: 'DEL',
  0x9b: 'CSI',
  0xad: 'soft hyphen',
  0x61c: 'Arabic letter mark',
  0x180e: 'Mongolian vowel separator',
  0x200b: 'zero width space',
  0x200c: 'zero width non-joiner',
  0x200d: 'zero width joiner',
  0x200e: 'left-to-right mark',
  0x200f: 'right-to-left mark',
  0x2028: 'line separator',
  0x2029: 'paragraph separator',
  0x202a: 'left-to-right embedding',
  0x202b: 'right-to-left embedding',
  0x202c: 'pop directional formatting',
  0x202d: 'left-to-right override',
  0x202e: 'right-to-left override',
  0x2060: 'word joiner',
  0x2066: 'left-to-right isolate',
  0x2067: 'right-to-left isolate',
  0x2068: 'first strong isolate',
  0x2069: 'pop directional isolate',
  0x3164: 'Hangul filler',
  0xfeff: 'zero width no-break space',
  0xffa0: 'halfwidth Hangul filler',
};

/** What `src/kernel/invisible-characters.ts` lists but the selector of pictures, and halves of pairs. */
const HIDDEN = new RegExp(
  String.raw`[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]|[\ud800-\udfff]`,
  'gu',
);

function nameOf(code: number): string {
  if (code >= 0xe0020 && code <= 0xe007e) return `tag ${String.fromCodePoint(code - 0xe0000)}`;
  if (code >= 0xd800 && code <= 0xdfff) return 'lone surrogate';
  return NAMES[code] ?? (code < 0xa0 ? 'control character' : 'invisible character');
}

/** A zero width joiner between two pictures builds one picture, which is seen. */
function joinsPictures(text: string, at: number): boolean {
  return (
    /\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?$/u.test(text.slice(Math.max(0, at - 4), at)) &&
    /^\p{Extended_Pictographic}/u.test(text.slice(at + 1, at + 3))
  );
}

/** Cuts a text into what is seen and what is not, so that both can be shown. */
export function showHidden(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const code = match[0].codePointAt(0)!;
    if (code === 0x200d && joinsPictures(text, match.index)) continue;
    // A line that ends as Windows ends lines is an ordinary line.
    if (code === 0x0d && text[match.index + 1] === '\n') continue;
    if (match.index > from) pieces.push({ kind: 'plain', text: text.slice(from, match.index) });
    pieces.push({ kind: 'hidden', code: `U+${code.toString(16).toUpperCase().padStart(4, '0')}`, name: nameOf(code) });
    from = match.index + match[0].length;
  }
  if (from < text.length) pieces.push({ kind: 'plain', text: text.slice(from) });
  return pieces;
}

/** How many characters of a text a reader would not see. */
export function countHidden(text: string): number {
  return showHidden(text).filter(({ kind }) => kind === 'hidden').length;
}
