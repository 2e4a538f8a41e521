/** The set of letters in a word as bits: a–z, any digit, and four shared by all other characters. */
export function letterSet(word: string): number {
  let set = 0;
  for (let i = 0; i < word.length; i++) {
    const code = word.charCodeAt(i);
    if (code >= 97 && code <= 122) set |= 1 << (code - 97);
    else if (code >= 48 && code <= 57) set |= 1 << 26;
    else set |= 1 << (27 + (code & 3));
  }
  return set >>> 0;
}

/** Whether two words can be within `limit` edits: one edit changes at most one letter on each side. */
export function mayBeNear(a: number, b: number, limit: number): boolean {
  return countBits(a & ~b) <= limit && countBits(b & ~a) <= limit;
}

function countBits(bits: number): number {
  let pairs = bits - ((bits >>> 1) & 0x55555555);
  pairs = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return (((pairs + (pairs >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}
