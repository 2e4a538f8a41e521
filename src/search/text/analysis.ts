import { stem } from './stem.js';
import { isStopWord } from './stop-words.js';

/** One word of a text: as it was written (folded), and the term it is indexed under. */
export interface Word {
  readonly text: string;
  readonly term: string;
}

/** Turns text into terms; queries and tools go through the same one. */
export interface Analyzer {
  /** The words of a sentence that carry meaning; when none does, its stop words. */
  words(sentence: string): Word[];
  /** The terms of {@link words}. */
  terms(sentence: string): string[];
  /** The stems of all words in their order, stop words too. */
  stems(sentence: string): Word[];
  /** The terms of an identifier; stop words count where there is nothing else: `who_am_i`. */
  nameTerms(identifier: string): string[];
}

/** Words longer than this are noise (keys, hashes) and would only fill the vocabulary. */
const MAX_WORD_LENGTH = 48;

/** Stems remembered at once; repeating words make up nearly all of a catalog. */
const REMEMBERED_STEMS = 8192;

/** `HTTPServer2` → HTTP Server 2; a plural acronym (`URLs`) stays one word. */
const ASCII_WORD = /[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g;

/** Scripts that write no spaces between words; the last is the long-vowel mark that two of them share. */
const UNSPACED_LETTER = String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\u30fc]`;
const UNSPACED = new RegExp(`^${UNSPACED_LETTER}`, 'u');

/** {@link ASCII_WORD} for every script. */
const UNICODE_WORD = new RegExp(
  [
    `${UNSPACED_LETTER}+`,
    String.raw`\p{Lu}{2,}s(?!\p{Ll})`,
    String.raw`\p{Lu}+(?!\p{Ll})`,
    String.raw`\p{Lu}?[\p{Ll}\p{M}]+`,
    String.raw`[\p{Lo}\p{Lm}\p{Lt}\p{M}]+`,
    String.raw`\p{N}+`,
  ].join('|'),
  'gu',
);

/** Two capitalised parts and nothing around them: GitHub, YouTube, OpenAI. */
const PRODUCT_NAME = /(?<![A-Za-z])[A-Z][a-z]+[A-Z]+[a-z]*(?![A-Za-z])/g;

// oxlint-disable-next-line no-control-regex
const ASCII = /^[\u0000-\u007f]*$/;

/** Accents only: vowel signs and voicing marks of other scripts are letters to their readers. */
const ACCENTS = /[\u0300-\u036f]/g;

/** Letters that Unicode does not decompose. */
const LIGATURES: ReadonlyMap<string, string> = new Map(
  Object.entries({ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' }),
);

/** The words in identifiers or text: lower-case, without accents, split at camelCase, digits and every other sign. */
export function splitWords(text: string): string[] {
  if (ASCII.test(text))
    return (text.match(ASCII_WORD) ?? []).map((word) => word.slice(0, MAX_WORD_LENGTH).toLowerCase());
  return (foldAccents(text).match(UNICODE_WORD) ?? []).flatMap((word) =>
    UNSPACED.test(word) ? bigrams(word) : [foldCase(word.slice(0, MAX_WORD_LENGTH))],
  );
}

/** Whether a word is of a script that writes no spaces. */
export function isUnspaced(word: string): boolean {
  return UNSPACED.test(word);
}

/** The words of a sentence: {@link splitWords}, and product names whole, for `GitHub` is also written `github`. */
export function splitSentence(text: string): string[] {
  return [...splitWords(text), ...productNames(text).map((name) => name.slice(0, MAX_WORD_LENGTH).toLowerCase())];
}

/** The product names in a text, as they are written there. */
export function productNames(text: string): string[] {
  return text.match(PRODUCT_NAME) ?? [];
}

function foldAccents(text: string): string {
  return text.normalize('NFKC').normalize('NFD').replace(ACCENTS, '').normalize('NFC');
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
    // A word cut out of a text is a view that keeps the whole text alive: remember a copy.
    const own = ` ${word}`.slice(1);
    const term = stem(own);
    stems.set(own, term);
    return term;
  }

  return {
    words: (sentence) => meaningful(splitSentence(sentence)).map((word) => ({ text: word, term: termOf(word) })),
    terms: (sentence) => meaningful(splitSentence(sentence)).map(termOf),
    stems: (sentence) => splitWords(sentence).map((word) => ({ text: word, term: termOf(word) })),
    nameTerms: (identifier) => meaningful(splitWords(identifier)).map(termOf),
  };
}

function meaningful(words: string[]): string[] {
  const kept = words.filter((word) => !isStopWord(word));
  return kept.length > 0 ? kept : words;
}
