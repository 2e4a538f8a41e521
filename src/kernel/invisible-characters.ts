/**
 * Characters that a reader does not see, by what they are for. Each group is a part of a character class of a regular expression with the flag
 * `u`. `web/text/hidden-characters.ts` repeats the list; a test compares.
 */
export const INVISIBLE_GROUPS = {
  /** Control characters but tab and line feed; they can rewrite what a terminal shows. */
  controls: String.raw`\0-\x08\x0b-\x1f\x7f-\x9f`,
  /** Break a line without a line feed. */
  breaks: String.raw`\u2028\u2029`,
  /** Change the direction of the text that follows. */
  directions: String.raw`\u061c\u202a-\u202e\u2066-\u2069`,
  /** Have no width and do nothing that is seen. One slips into honest text by copying. */
  zeroWidth: String.raw`\u180e\u200b\u200e\u200f\u2060-\u2065\u206a-\u206f\ufeff`,
  /** Join, part or hyphenate the letters beside them; emoji, Arabic and Indic scripts are written with them. */
  joiners: String.raw`\u00ad\u034f\u200c\u200d`,
  /** Letters without a shape, which Korean and Khmer put where a letter is missing. */
  fillers: String.raw`\u115f\u1160\u17b4\u17b5\u3164\uffa0`,
  /** Choose a form of the character before them. */
  selectors: String.raw`\u180b-\u180d\u180f\ufe00-\ufe0f`,
  /** Marks of annotations, and characters that Unicode keeps free beside them. */
  annotations: String.raw`\ufff0-\ufffb`,
  /** A second alphabet that nothing shows, and further selectors. */
  tags: String.raw`\u{e0000}-\u{e0fff}`,
} as const;

const { directions, zeroWidth, joiners, fillers, annotations, tags } = INVISIBLE_GROUPS;

/** What is written in letters and is not seen: all but controls and breaks, and selectors, which belong to a character that is seen. */
export const SHAPELESS = `${directions}${zeroWidth}${joiners}${fillers}${annotations}${tags}`;
