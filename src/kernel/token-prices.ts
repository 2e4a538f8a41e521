/**
 * What a piece costs, and what each of its characters beyond a length costs; fitted on half of the recorded corpus by
 * `train/token-prices.ts`.
 */
export const TOKEN_PRICES = {
  /** A word of lower-case letters after a space. */
  spaced: 0.993,
  /** The same after anything else. */
  lower: 1.12,
  capital: 0.773,
  capitalLetter: 0.065,
  upper: 1.159,
  upperLetter: 0.102,
  /** A word with letters of Latin beyond ASCII. */
  latin: 1.051,
  latinLetter: 0.162,
  /** Letters beyond the fourth of a plain word near such a word: the text is not English. */
  foreignLetter: 0.048,
  /** Letters of a word beyond the ninth. */
  spacedTail: 0.033,
  lowerTail: 0.573,
  capitalTail: 0.257,
  latinTail: 0.2,
  /** Letters beyond 24: no such word is known to a tokenizer. */
  endless: 0.36,
  /** A part of an id, of base64 or of a hash, and each of its letters. */
  dense: 0.213,
  denseLetter: 0.576,
  /** Up to three digits. */
  digits: 0.985,
  newline: 1.14,
  /** A line break after punctuation joins it, mostly. */
  newlineAfterMark: 0.801,
  indent: 0.329,
  spaces: 1.511,
  /** White space in a row beyond one token. */
  blank: 0.01,
  /** A single mark before a letter, which often joins the word. */
  markBeforeLetter: 0.284,
  /** Marks in a row: one, two, three, four; and each further one. */
  marks: [0, 1.037, 1.313, 0.897, 0.897] as readonly number[],
  furtherMark: 0.41,
  /** One mark many times, as in a ruled line. */
  rule: 0.989,
  ruleMark: 0.041,
} as const;
