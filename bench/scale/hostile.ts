import { createRandom } from '../../src/search/bootstrap.js';
import type { Grower } from './grow.js';

/** Bytes of the longest query that is read whole. */
const LONGEST = 2048;

/** First and last letters of scripts a query may be written in. */
const SCRIPTS: ReadonlyArray<readonly [number, number]> = [
  [0x61, 0x7a], // Latin
  [0x3b1, 0x3c9], // Greek
  [0x430, 0x44f], // Cyrillic
  [0x5d0, 0x5ea], // Hebrew
  [0x627, 0x64a], // Arabic
  [0x904, 0x939], // Devanagari
  [0xe01, 0xe2e], // Thai
  [0x3041, 0x3096], // Hiragana
  [0x4e00, 0x9fa5], // Han
  [0xac00, 0xd7a3], // Hangul
  [0x1f600, 0x1f64f], // Emoji
  [0x300, 0x36f], // marks without a letter
];

/** Queries made to be slow: the longest there are, in many scripts, of words that stand everywhere or nowhere. */
export function hostileQueries(grower: Grower): string[] {
  const random = createRandom(11);
  const letters = ([from, to]: readonly [number, number]): string => {
    let text = '';
    while (text.length < LONGEST) {
      const length = 1 + Math.floor(random() * 9);
      for (let i = 0; i < length; i += 1) text += String.fromCodePoint(from + Math.floor(random() * (to - from + 1)));
      text += ' ';
    }
    return text;
  };
  const bytes = Array.from({ length: 20 }, () =>
    Buffer.from(Array.from({ length: LONGEST }, () => Math.floor(random() * 256))).toString('latin1'),
  );
  return [
    grower.commonText(LONGEST),
    grower.mistypedText(LONGEST),
    'a'.repeat(LONGEST),
    'get list create update delete read write search '.repeat(43),
    'x_'.repeat(LONGEST / 2),
    ...SCRIPTS.map(letters),
    ...bytes,
  ];
}
