/** Words that are found by their letters. They stay the bytes of a file: a string for each of many thousands would cost more than all else that is known of them. */
export interface WordTable {
  /** How many there are. */
  readonly size: number;
  /** The number of a word, or -1. */
  find(word: string): number;
  text(number: number): string;
}

const LINE_END = 10;
const HIGHEST_ASCII = 127;

/** FNV-1a. */
const SEED = 0x811c9dc5;
const PRIME = 0x01000193;

/** Longer words, in bytes, are in no file. */
const LONGEST = 512;

/** The words in UTF-8, a line each, numbered in their order. Of a word that is there twice the later counts. */
export function createWordTable(bytes: Uint8Array): WordTable {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const scratch = new Uint8Array(LONGEST);
  const ends = endsOf(bytes);
  const size = ends.length;
  // At most half of the places are taken, so that most words are found at the first look.
  const mask = 2 ** Math.ceil(Math.log2(2 * size + 1)) - 1;
  const places = new Uint32Array(mask + 1);
  for (let number = 0; number < size; number++) {
    const place = placeOf(bytes, startOf(number), ends[number]!);
    places[place] = number + 1;
  }

  function startOf(number: number): number {
    return number === 0 ? 0 : ends[number - 1]! + 1;
  }

  /** Where a word stands, or would stand. */
  function placeOf(letters: Uint8Array, begin: number, end: number): number {
    let hash = SEED;
    for (let at = begin; at < end; at++) hash = Math.imul(hash ^ letters[at]!, PRIME);
    let place = (hash ^ (hash >>> 15)) & mask;
    while (places[place] !== 0 && !isSame(places[place]! - 1, letters, begin, end)) place = (place + 1) & mask;
    return place;
  }

  function isSame(number: number, letters: Uint8Array, begin: number, end: number): boolean {
    const start = startOf(number);
    if (ends[number]! - start !== end - begin) return false;
    for (let at = begin; at < end; at++) if (bytes[start + at - begin] !== letters[at]) return false;
    return true;
  }

  /** Writes a word into the scratch; answers its bytes, or -1 when it is too long. */
  function write(word: string): number {
    if (word.length > LONGEST) return -1;
    for (let at = 0; at < word.length; at++) {
      const code = word.charCodeAt(at);
      if (code > HIGHEST_ASCII) {
        const { read, written } = encoder.encodeInto(word, scratch);
        return read === word.length ? written : -1;
      }
      scratch[at] = code;
    }
    return word.length;
  }

  return {
    size,
    find(word) {
      const length = write(word);
      return length < 0 ? -1 : places[placeOf(scratch, 0, length)]! - 1;
    },
    text: (number) => decoder.decode(bytes.subarray(startOf(number), ends[number])),
  };
}

function endsOf(bytes: Uint8Array): Uint32Array {
  let count = 1;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === LINE_END) count++;
  const ends = new Uint32Array(count);
  let line = 0;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === LINE_END) ends[line++] = at;
  ends[line] = bytes.length;
  return ends;
}
