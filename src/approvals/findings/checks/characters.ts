import { LOOK_ALIKES } from '../../../kernel/look-alikes.js';
import type { Check, Sign } from '../check.js';

/** Characters that change the direction of text, tags, private use, and further variation selectors: seen by a model alone. */
const SMUGGLED = /[\u061c\u202a-\u202e\u2066-\u2069\ue000-\uf8ff]|[\u{e0000}-\u{e0fff}]|[\u{f0000}-\u{10fffd}]/u;
/** A run of characters without a shape. One slips into honest text by copying, and joins emoji and letters. */
const SHAPELESS_RUN = /[\ufe00-\ufe0f\u00ad\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\ufeff]{3}/;
/** A word with hidden characters between its letters, more than once. */
const THREADED = /(?:[a-z][\u00ad\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\ufeff]){3}/i;
/** What joins or varies a visible character is not counted. */
const ZERO_WIDTH = /[\u180e\u200b\u200e\u200f\u2060-\u2064\u206a-\u206f\ufeff]/;
/** Control characters other than tab and line ends; they can rewrite what a terminal shows. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
/** Letters that are drawn to look like others: bold, script, circled, wide; three in a row are a word. */
const DECORATED =
  // oxlint-disable-next-line no-misleading-character-class
  /(?:[\u{1d400}-\u{1d7ff}\u24b6-\u24e9\uff21-\uff3a\uff41-\uff5a\u1d00-\u1d22\u{1f130}-\u{1f189}][\u200d\ufe0f ]?){4}/u;
const STRUCK = /(?:[a-z][\u0334-\u0338]){3}/i;

/** Whether a name mixes Latin letters with letters that pass for Latin ones (A14). */
function isMixedName(name: string): boolean {
  return /[a-z]/i.test(name) && [...name.toLowerCase()].some((letter) => LOOK_ALIKES.has(letter));
}

/** Characters that a model reads and a person does not see, or takes for others (A15). */
export const characters: Check = {
  name: 'characters',
  about: 'Hidden characters, control characters, and letters that pass for others',
  find({ raw, definition }) {
    const signs: Sign[] = [];
    const isSmuggling = SMUGGLED.test(raw) || SHAPELESS_RUN.test(raw) || THREADED.test(raw);
    if (isSmuggling || ZERO_WIDTH.test(raw))
      signs.push({ reason: 'contains invisible characters', weight: isSmuggling ? 4 : 2 });
    if (CONTROL.test(raw)) signs.push({ reason: 'contains control characters', weight: 4 });
    if (DECORATED.test(raw) || STRUCK.test(raw))
      signs.push({ reason: 'is written in letters that pass for others', weight: 2 });
    const name = definition['name'];
    if (typeof name === 'string' && isMixedName(name))
      signs.push({ reason: 'has a name with letters that pass for others', weight: 4 });
    return signs;
  },
};
