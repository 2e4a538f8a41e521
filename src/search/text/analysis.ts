import { FOREIGN_STOP_WORDS, FOREIGN_WORDS, FURTHER_STOP_WORDS } from '../words/foreign-words.js';
import { stem } from './stem.js';

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

/**
 * Words that say nothing about which tool is wanted. Agents and people ask in sentences, so this
 * list does more for the ranking than any other single thing. Verbs that name an action stay out.
 */
const STOP_WORD_LIST = `
a about after all also am an and any are as at be because been before being both but by can cannot
could d did do does doing done don down during each either else etc every few for from further had
has have having he hello help her here hers hey hi him his how however i if in into is it its itself
just kindly let lets ll like m may maybe me might mine more most much must my myself need needs no nor
not now of off on once one only or other our ours out over own please re s same shall she should
since so some such t than thank thanks that the their them then there these they thing things this
those through to too under until up us ve very via want wants was we were what when where whether
which while who whom whose why will wish with within without would yes yet you your yours
`;

const STOP_WORDS: ReadonlySet<string> = new Set(STOP_WORD_LIST.trim().split(/\s+/));

/** Whether a lower-case word carries no meaning of its own. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}

/** Reads words of other languages. */
export interface Translator {
  /**
   * For the words of a query that are of another language, the English words tools are written in; none for
   * a word that only holds the sentence together. `isKnown` tells words that tools use themselves.
   */
  translate(words: readonly Word[], isKnown: (word: Word) => boolean): ReadonlyMap<string, readonly string[]>;
  /** Whether a query is in another language that is written in Latin letters, by the words that hold it together. */
  isForeign(words: readonly Word[]): boolean;
}

/** How many words of one language a query needs before words that tools also use are read as that language. */
const SURE_WORDS = 2;

/** Endings that are removed from a word that is not in the list, and how many letters must be left. */
const FOREIGN_ENDINGS = ['en', 'es', 'er', 'n', 's', 'e', 't', 'r'];
const MIN_STEM_LENGTH = 4;

/** A translator with its word lists. */
export function createTranslator(): Translator {
  const languages = FOREIGN_STOP_WORDS.map((line) => ({
    holders: new Set(line.split(' ')),
    words: new Map<string, string[]>(),
  }));
  const holding = [...FOREIGN_STOP_WORDS, ...FURTHER_STOP_WORDS].map((line) => new Set(line.split(' ')));
  const pairs = new Map<string, string[]>();
  for (const line of FOREIGN_WORDS) {
    const [english = '', ...columns] = line.split(' | ');
    for (const [i, column] of columns.entries()) {
      const dictionary = languages[i]?.words ?? pairs;
      for (const word of column
        .split(' ')
        .map(splitWords)
        .filter((parts) => parts.length === 1)
        .flat()) {
        dictionary.set(word, [...(dictionary.get(word) ?? []), ...english.split(' ')]);
      }
    }
  }

  return {
    translate(words, isKnown) {
      const counts = languages.map(({ holders }) => countHolders(words, holders));
      const most = Math.max(...counts);
      const spoken = most >= SURE_WORDS ? languages[counts.indexOf(most)] : undefined;
      const found = new Map<string, readonly string[]>();
      for (const word of words) {
        const { text } = word;
        const pair = pairs.get(text);
        if (pair) found.set(text, pair);
        else if (spoken?.holders.has(text)) found.set(text, []);
        else if (spoken || !isKnown(word)) {
          for (const { words: dictionary } of spoken ? [spoken] : languages) {
            const english =
              englishOf(text, dictionary) ?? (isKnown(word) ? undefined : englishOfParts(text, dictionary));
            if (english) found.set(text, [...new Set([...(found.get(text) ?? []), ...english])]);
          }
        }
      }
      return found;
    },
    isForeign(words) {
      const most = Math.max(...holding.map((holders) => countHolders(words, holders)));
      return most >= SURE_WORDS && most > new Set(words.map(({ text }) => text).filter(isStopWord)).size;
    },
  };
}

function countHolders(words: readonly Word[], holders: ReadonlySet<string>): number {
  return new Set(words.map(({ text }) => text).filter((text) => text.length > 1 && holders.has(text))).size;
}

function englishOf(word: string, dictionary: ReadonlyMap<string, string[]>): string[] | undefined {
  const exact = dictionary.get(word);
  if (exact) return exact;
  for (const ending of FOREIGN_ENDINGS) {
    if (!word.endsWith(ending) || word.length - ending.length < MIN_STEM_LENGTH) continue;
    const english = dictionary.get(word.slice(0, -ending.length));
    if (english) return english;
  }
  return undefined;
}

/** Both halves of a compound: `Kalenderwoche` is a calendar and a week. */
function englishOfParts(word: string, dictionary: ReadonlyMap<string, string[]>): string[] | undefined {
  for (let at = MIN_STEM_LENGTH; at <= word.length - MIN_STEM_LENGTH; at++) {
    const head = englishOf(word.slice(0, at), dictionary);
    const tail = head && englishOf(word.slice(at), dictionary);
    if (tail) return [...head, ...tail];
  }
  return undefined;
}
