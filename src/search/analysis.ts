import { stem } from './stem.js';
import { isStopWord } from './stop-words.js';

/** One word of a text: as it was written (folded), and the term it is indexed under. */
export interface Word {
  readonly text: string;
  readonly term: string;
}

/** Turns text into terms; queries and tools go through the same one. */
export interface Analyzer {
  /** The words that carry meaning, in order; when there is none, the stop words, so that a tool called `who_am_i` has a name. */
  words(text: string): Word[];
  /** The terms of {@link words}. */
  terms(text: string): string[];
}

/** Words longer than this are noise (keys, hashes) and would only fill the vocabulary. */
const LONGEST_WORD = 48;

/** Stems remembered at once; repeating words make up nearly all of a catalog. */
const REMEMBERED_STEMS = 8192;

/** `HTTPServer2` → HTTP Server 2; a plural acronym (`URLs`) stays one word. */
const ASCII_WORD = /[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g;

/** The same for every script; the first alternative takes runs of scripts that write no spaces. */
const UNICODE_WORD =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\u30fc]+|\p{Lu}{2,}s(?!\p{Ll})|\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|[\p{Lo}\p{Lm}\p{Lt}\p{M}]+|\p{N}+/gu;

const UNSPACED =
  /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

// oxlint-disable-next-line no-control-regex
const ASCII = /^[\u0000-\u007f]*$/;

/** Accents only: vowel signs and voicing marks of other scripts are letters to their readers. */
const ACCENTS = /[\u0300-\u036f]/g;

/** Letters that Unicode does not decompose. */
const LIGATURES: ReadonlyMap<string, string> = new Map(
  Object.entries({ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' }),
);

/** The words of a text: split at everything that is not a letter or digit and inside identifiers, lower-case, without accents. */
export function splitWords(text: string): string[] {
  if (ASCII.test(text)) return (text.match(ASCII_WORD) ?? []).map((word) => word.slice(0, LONGEST_WORD).toLowerCase());
  const folded = text.normalize('NFKC').normalize('NFD').replace(ACCENTS, '').normalize('NFC');
  return (folded.match(UNICODE_WORD) ?? []).flatMap((word) =>
    UNSPACED.test(word) ? bigrams(word) : [foldCase(word.slice(0, LONGEST_WORD))],
  );
}

function foldCase(word: string): string {
  return word.toLowerCase().replace(/[ßæœøłđðþı]/g, (letter) => LIGATURES.get(letter) ?? letter);
}

/** Every two neighbouring characters: the usual stand-in for words where none are marked. */
function bigrams(run: string): string[] {
  const letters = [...run];
  if (letters.length < 2) return letters;
  return letters.slice(1).map((letter, i) => `${letters[i]}${letter}`);
}

/** An analyzer with its own small memory of stems. */
export function createAnalyzer(): Analyzer {
  const stems = new Map<string, string>();

  function termOf(word: string): string {
    const known = stems.get(word);
    if (known !== undefined) return known;
    if (stems.size >= REMEMBERED_STEMS) stems.clear();
    const term = stem(word);
    stems.set(word, term);
    return term;
  }

  function meaningful(text: string): string[] {
    const all = splitWords(text);
    const kept = all.filter((word) => !isStopWord(word));
    return kept.length > 0 ? kept : all;
  }

  return {
    words: (text) => meaningful(text).map((word) => ({ text: word, term: termOf(word) })),
    terms: (text) => meaningful(text).map(termOf),
  };
}
