import { INVISIBLE_GROUPS, SHAPELESS } from '../../../kernel/invisible-characters.js';
import { LOOK_ALIKES } from '../../../kernel/look-alikes.js';
import type { Check, Sign } from '../check.js';

const { controls, directions, zeroWidth, fillers, selectors, annotations, tags } = INVISIBLE_GROUPS;

/** Characters that change the direction of text, tags, private use, and further variation selectors: seen by a model alone. */
const SMUGGLED = new RegExp(String.raw`[${directions}${tags}\ue000-\uf8ff\u{f0000}-\u{10fffd}]`, 'u');
/** A run of characters without a shape. One slips into honest text by copying, and joins emoji and letters. */
const SHAPELESS_RUN = new RegExp(`[${SHAPELESS}${selectors}]{3}`, 'u');
/** A word with hidden characters between its letters, more than once. */
const THREADED = new RegExp(`(?:[a-zA-Z][${SHAPELESS}]){3}`, 'u');
/** What joins or varies a visible character is not counted, nor a filler of Korean or Khmer but beside a Latin letter. */
const ZERO_WIDTH = new RegExp(`[${zeroWidth}${annotations}]|(?<=[a-zA-Z])[${fillers}]|[${fillers}](?=[a-zA-Z])`, 'u');
/** Control characters other than tab and line ends; they can rewrite what a terminal shows. */
const CONTROL = new RegExp(`(?!\\r)[${controls}]`, 'u');
/** Letters that are drawn to look like others: bold, script, circled, wide; three in a row are a word. */
const DECORATED =
  // oxlint-disable-next-line no-misleading-character-class
  /(?:[\u{1d400}-\u{1d7ff}\u24b6-\u24e9\uff21-\uff3a\uff41-\uff5a\u1d00-\u1d22\u{1f130}-\u{1f189}][\u200d\ufe0f ]?){4}/u;
const STRUCK = /(?:[a-z][\u0334-\u0338]){3}/i;

/** Whether a name mixes Latin letters with letters that pass for Latin ones (A14). */
function isMixedName(name: string): boolean {
  return /[a-z]/i.test(name) && [...name.toLowerCase()].some((letter) => LOOK_ALIKES.has(letter));
}

/** Most texts are ASCII, and hold nothing that this looks for. */
function isPlain(text: string): boolean {
  return !/[^ -~\n\r\t]/.test(text);
}

function signsOf(raw: string): Sign[] {
  const signs: Sign[] = [];
  const isSmuggling = SMUGGLED.test(raw) || SHAPELESS_RUN.test(raw) || THREADED.test(raw);
  if (isSmuggling || ZERO_WIDTH.test(raw))
    signs.push({ reason: 'contains invisible characters', weight: isSmuggling ? 4 : 2 });
  if (CONTROL.test(raw)) signs.push({ reason: 'contains control characters', weight: 4 });
  if (DECORATED.test(raw) || STRUCK.test(raw))
    signs.push({ reason: 'is written in letters that pass for others', weight: 2 });
  return signs;
}

/** Characters that a model reads and a person does not see, or takes for others (A15). */
export const characters: Check = {
  name: 'characters',
  about: 'Hidden characters, control characters, and letters that pass for others',
  find({ raw, definition }) {
    const signs: Sign[] = isPlain(raw) ? [] : signsOf(raw);
    const name = definition['name'];
    if (typeof name === 'string' && isMixedName(name))
      signs.push({ reason: 'has a name with letters that pass for others', weight: 4 });
    return signs;
  },
};
