/** Buckets that words and pairs of words fall into; two that fall into the same one count the same. */
export const WORD_BUCKETS = 1 << 17;
const MASK = WORD_BUCKETS - 1;

/** What separates the three kinds of features of words. */
const SINGLE = 0x9e3779b9;
const OPENING = 0x7f4a7c15;
const PAIR = 0x165667b1;

/** Words whose end is cut off; shorter ones and those of other scripts stay whole. */
const CUT = /^[a-z]{5,}$/;
const ENDING = /(?:ations?|ingly|ments?|ness|edly|ing|ied|ies|ed|es|ly|s)$/;
const DOUBLED = /([bcdfghjkmnpqrtvwxyz])\1$/;
/** Letters that must be left. */
const LEAST_LEFT = 3;

/** A word without its ending: "forwarding" and "forwards" are "forward". */
export function stemOf(word: string): string {
  if (!CUT.test(word)) return word;
  const ending = ENDING.exec(word)?.[0] ?? '';
  if (word.length - ending.length < LEAST_LEFT) return word;
  const bare = word.slice(0, word.length - ending.length) + (ending === 'ies' || ending === 'ied' ? 'y' : '');
  return bare.replace(DOUBLED, '$1').replace(/e$/, '');
}

/** A number for a word (FNV-1a). */
export function hashWord(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return hash;
}

function bucketOf(value: number): number {
  const mixed = Math.imul(value ^ (value >>> 15), 0x85ebca6b);
  return (mixed ^ (mixed >>> 13)) & MASK;
}

/** Calls `visit` with the buckets of a run of words: each word, the first of all, and each two that follow each other. */
export function visitWords(
  words: readonly number[],
  first: number,
  last: number,
  visit: (bucket: number) => void,
): void {
  for (let at = first; at < last; at++) {
    const word = words[at]!;
    visit(bucketOf(word ^ SINGLE));
    visit(bucketOf(at === first ? word ^ OPENING : Math.imul(words[at - 1]!, 31) ^ word ^ PAIR));
  }
}
