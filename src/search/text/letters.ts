/** The set of letters in a word as bits: a–z in either case, any digit, and four shared by all other characters. */
export function letterSet(word: string): number {
  let set = 0;
  for (let i = 0; i < word.length; i++) {
    const code = word.charCodeAt(i);
    const letter = (code | 32) - 97;
    if (code < 128 && letter >= 0 && letter < 26) set |= 1 << letter;
    else if (code >= 48 && code <= 57) set |= 1 << 26;
    else set |= 1 << (27 + (code & 3));
  }
  return set;
}

/** The least number of edits between two words, by their letters: one edit changes at most one on each side. */
export function leastEdits(a: number, b: number): number {
  return Math.max(countBits(a & ~b), countBits(b & ~a));
}

function countBits(bits: number): number {
  let pairs = bits - ((bits >>> 1) & 0x55555555);
  pairs = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((pairs + (pairs >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
