import { buildLexicon, conceptNumber, STEM_KEY, type Entry, type Lexicon } from './lexicon.js';
import { hashWord, stemOf } from './word-features.js';
import { createWordScripts } from './scripts-of-words.js';

/** A concept of a text and its place, counted in words; the end of a sentence counts as several. */
export interface Mention {
  readonly concept: number;
  readonly at: number;
  readonly isForeign: boolean;
  /** Where in the text, in characters. */
  readonly offset: number;
  /** The number of its sentence; those of another field are far away. */
  readonly sentence: number;
  /** The number of the word in its sentence, from 0. */
  readonly place: number;
  /** Its word, as a place in {@link Reading.tokens}. */
  readonly token: number;
}

/** A sentence: its mentions, its words and its characters, each from one to before another. */
export interface Sentence {
  /** Those of another field are far away. */
  readonly number: number;
  readonly from: number;
  readonly to: number;
  readonly first: number;
  readonly last: number;
  readonly begin: number;
  readonly end: number;
}

/** A text as what it is about. */
export interface Reading {
  readonly mentions: readonly Mention[];
  readonly words: number;
  /** Words in which letters of two scripts are mixed. */
  readonly mixed: number;
  /** Where sentences begin in the text; their numbers have gaps. */
  readonly starts: readonly number[];
  /** The sentences that have words. */
  readonly sentences: readonly Sentence[];
  /** A number for each word without its ending; of scripts without spaces for each two letters. */
  readonly tokens: readonly number[];
}

let built: Lexicon | undefined;
/** Made when the first text is read, so that a start without new tools does not pay for it. */
const theLexicon = (): Lexicon => (built ??= buildLexicon());

const MAX_HAN = 10;
const LONGEST_PHRASE = 5;
const LONGEST_WORD = 64;

/** Places where secrets lie, in small letters. */
const PLACE =
  /(?:~|\/root|\/home\/\w{1,32})?\/?\.ssh\b[\w/.]{0,40}|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\.aws\/credentials|\.git-credentials|\.netrc\b|\.npmrc\b|\.pypirc\b|\.kube\/config|\/etc\/(?:passwd|shadow|sudoers)|\.gnupg\b|\bmcp\.json|claude_desktop_config(?:\.json)?|\.(?:bash|zsh)_history|\/proc\/(?:self|\d{1,7})\/environ|\.config\/(?:gcloud|gh)\/[\w./]{0,40}|application_default_credentials|serviceaccount\/token|169\.254\.169\.254[\w/.-]{0,80}|\bwallet\.dat|\blogin data\b|cookies\.sqlite|authorized_keys|\.docker\/config\.json|\.env file\b/g;
/** The first place of secrets that a folded text names. */
export function firstPlace(folded: string): string | undefined {
  const at = folded.search(PLACE);
  return at === -1 ? undefined : folded.slice(at).match(PLACE)?.[0].trim();
}

/** Places that honest descriptions name as well. */
const WEAK_PLACE =
  /\.env\b|\bprocess\.env\b|\bos\.environ\b|\bprintenv\b|\$\{?[a-z_]{0,24}(?:secret|token|api_key|password|access_key)[a-z_]{0,16}\}?/g;

const MAIL = /[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,32}){1,4}/y;
const WEB =
  // oxlint-disable-next-line no-control-regex
  /(?:https?|ftps?|wss?|hxxps?):\/\/[^\s"'<>`)\u0001\u0002]{1,300}|(?:\d{1,3}\.){3}\d{1,3}\b(?:[:/][\w/.:-]{0,80})?|[a-z0-9][a-z0-9-]{0,40}(?:\.[a-z0-9-]{1,40}){0,3}\.(?:com|net|org|io|dev|cx|xyz|top|site|page|sh|co|info|cc|ru|cn|tk|cloud|link|live|online|pw|example|lat|me|app|ai|biz|club|space|store|tech|test|invalid)\b(?:\/[\w/.?=&%-]{0,120})?/y;
/** What can follow the first word of an address. */
const JOINS = new Set(['@', '.', ':', '+', '-'].map((sign) => sign.charCodeAt(0)));

const SENTENCE_GAP = 4;
/** No rule reaches from one field into the next. */
const FIELD_GAP = 100;

/** Letters that stand for others in "1gn0r3". */
const LEET: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '8': 'b',
  '9': 'g',
};
const LEET_WORD = /^(?=.*[a-z])(?=.*\d)[a-z0-9]{3,24}$/;
const DIGIT = /\d/;

const DIGITS = /^\d+$/;
/** The numbers of words that stand for all of their kind. */
const NUMBER = hashWord('#');
const PLACE_TOKEN = hashWord('@');

const OTHER = 0;
const WORD = 1;
const HAN = 2;
type Kind = typeof OTHER | typeof WORD | typeof HAN;

const WORD_LETTER = /[\p{L}\p{M}\p{N}]/u;

function kindOf(code: number): Kind {
  if (code < 128) {
    return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 65 && code <= 90) ? WORD : OTHER;
  }
  if ((code >= 0x3041 && code <= 0x30ff && code !== 0x30fb) || (code >= 0x3400 && code <= 0x9fff)) return HAN;
  if (code >= 0xd800 && code <= 0xdfff) return OTHER;
  // The ranges of the languages that have words here; the rest is asked.
  if ((code >= 0xac00 && code <= 0xd7a3) || (code >= 0x430 && code <= 0x44f)) return WORD;
  return WORD_LETTER.test(String.fromCharCode(code)) ? WORD : OTHER;
}

const { latinOf, scriptsOf } = createWordScripts();

/** What a word stands for: itself, in Latin letters, without what Arabic puts before it, or by its stem. */
function lookUp(lexicon: Lexicon, word: string): Entry | undefined {
  const { words, stems, stemLengths, plain } = lexicon;
  const exact = words.get(word);
  if (exact || plain.has(word)) return exact;
  for (const length of stemLengths.get(word.slice(0, STEM_KEY)) ?? []) {
    if (length > word.length) continue;
    const stem = stems.get(word.slice(0, length));
    if (stem) return stem;
  }
  const first = word.charCodeAt(0);
  if (first >= 0x0620 && first <= 0x06ff) {
    const bare = word.replace(/^(?:وال|فال|بال|كال|لل|ال|و|ف|ب|ل)/, '');
    if (bare !== word && bare.length > 1) return lookUp(lexicon, bare);
  }
  if (DIGIT.test(word) && LEET_WORD.test(word)) {
    const plain = word.replace(/\d/g, (digit) => LEET[digit] ?? digit);
    if (plain !== word) return lookUp(lexicon, plain) ?? words.get(plain.replaceAll('i', 'l'));
  }
  return undefined;
}

const CONCEPT = {
  mail: conceptNumber('mail'),
  web: conceptNumber('web'),
  place: conceptNumber('place'),
  secret: conceptNumber('secret'),
  identifier: conceptNumber('identifier'),
};

/** Concepts whose phrases are terms. */
const TERMS = new Set([conceptNumber('api'), conceptNumber('format'), conceptNumber('limit')]);

/** Reads a folded text, in one pass. */
export function readText(folded: string): Reading {
  const lexicon = theLexicon();
  const { words, stems, starts } = lexicon;
  const mentions: Mention[] = [];
  let at = 0;
  let offset = 0;
  let count = 0;
  let mixed = 0;
  let sentence = 0;
  let place = 0;
  const sentenceStarts: number[] = [0];
  const sentences: Sentence[] = [];
  const tokens: number[] = [];
  let firstMention = 0;
  let firstToken = 0;
  /** The last words, for phrases that end here, and the longest phrase that starts with each. */
  let recent: string[] = [];
  let reach: number[] = [];
  const mention = (concept: number, isForeign: boolean, token = tokens.length - 1): void =>
    void mentions.push({ concept, at, isForeign, offset, sentence, place, token });
  const say = (entry: Entry): void => {
    for (const concept of entry.concepts) mention(concept, entry.isForeign);
  };
  const forget = (): void => {
    if (recent.length > 0) {
      recent = [];
      reach = [];
    }
  };
  const text = folded
    .replace(PLACE, (found) => '\u0001'.padEnd(found.length))
    .replace(WEAK_PLACE, (found) => '\u0002'.padEnd(found.length));

  /** Notes a word and the phrases that end with it. */
  const readWord = (written: string): void => {
    let word = written;
    const { isOther, isMixed } = scriptsOf(word);
    if (isMixed) {
      word = latinOf(word);
      if (word.length > 3) mixed++;
    }
    at++;
    count++;
    tokens.push(DIGITS.test(word) ? NUMBER : hashWord(stemOf(word)));
    const entry = lookUp(lexicon, word);
    if (entry) say(entry);
    // Letters of one other script that together look like a Latin word.
    if (isOther && !entry) {
      const latin = words.get(latinOf(word));
      if (latin) say(latin);
    }
    recent.push(word);
    reach.push(starts.get(word) ?? 0);
    if (recent.length > LONGEST_PHRASE) {
      recent.shift();
      reach.shift();
    }
    for (let from = recent.length - 2; from >= 0; from--) {
      if (reach[from]! < recent.length - from) continue;
      const phrase = recent.slice(from).join(' ');
      const whole = words.get(phrase);
      if (whole) {
        // A term of its own ("user agent") is not what its words are.
        if (whole.concepts.every((concept) => TERMS.has(concept))) {
          while (mentions.at(-1)?.sentence === sentence && mentions.at(-1)!.place >= place + from - recent.length + 1)
            mentions.pop();
        }
        say(whole);
      }
      const before = phrase.length - word.length;
      for (let length = phrase.length; length > before + 1; length--) {
        const stem = stems.get(phrase.slice(0, length));
        if (!stem) continue;
        say(stem);
        break;
      }
    }
    place++;
  };

  /** Notes the words of a run without spaces, the longest first. */
  const readRun = (token: string): void => {
    const begin = offset;
    for (let from = 0; from < token.length;) {
      let taken = 0;
      tokens.push(hashWord(token.slice(from, from + 2)));
      for (let length = Math.min(MAX_HAN, token.length - from); length > 0 && taken === 0; length--) {
        const entry = words.get(token.slice(from, from + length));
        if (!entry) continue;
        at++;
        offset = begin + from;
        say(entry);
        taken = length;
      }
      if (taken === 0) at += 0.5;
      from += taken || 1;
      count++;
      place++;
    }
    forget();
  };

  /** Notes an address or a place of secrets: they belong to every language. */
  const readPlace = (concept: number, isForeign: boolean): void => {
    at++;
    count++;
    tokens.push(PLACE_TOKEN ^ concept);
    mention(concept, isForeign);
    forget();
    place++;
  };

  const noteSentence = (): void => {
    if (tokens.length > firstToken) {
      sentences.push({
        number: sentence,
        from: firstMention,
        to: mentions.length,
        first: firstToken,
        last: tokens.length,
        begin: sentenceStarts[sentence]!,
        end: offset,
      });
    }
    firstMention = mentions.length;
    firstToken = tokens.length;
  };

  const endSentence = (gap: number): void => {
    at += gap;
    noteSentence();
    if (place > 0) sentence++;
    // Fields never stand next to each other.
    if (gap === FIELD_GAP) sentence += 2;
    sentenceStarts[sentence] = offset + 1;
    place = 0;
    forget();
  };

  for (let i = 0; i < text.length;) {
    const code = text.charCodeAt(i);
    offset = i;
    const kind = kindOf(code);
    if (kind === WORD) {
      let end = i + 1;
      while (end < text.length && end - i < LONGEST_WORD && kindOf(text.charCodeAt(end)) === WORD) end++;
      const next = text.charCodeAt(end);
      if (JOINS.has(next)) {
        MAIL.lastIndex = WEB.lastIndex = i;
        if (MAIL.test(text)) {
          readPlace(CONCEPT.mail, true);
          i = MAIL.lastIndex;
          continue;
        }
        if (WEB.test(text)) {
          // The target of a link is something to read, not somewhere to send things.
          if (text[i - 1] !== '(' || text[i - 2] !== ']') readPlace(CONCEPT.web, true);
          i = WEB.lastIndex;
          continue;
        }
      }
      if (next === 95 && text[i - 1] !== '_' && kindOf(text.charCodeAt(end + 1)) === WORD) {
        mention(CONCEPT.identifier, false, tokens.length);
      }
      // "don't" is "dont".
      const isShort = next === 39 && text[end + 1] === 't' && text[end - 1] === 'n';
      readWord(isShort ? `${text.slice(i, end)}t` : text.slice(i, end));
      i = isShort ? end + 2 : end;
    } else if (kind === HAN) {
      let end = i + 1;
      while (end < text.length && end - i < 400 && kindOf(text.charCodeAt(end)) === HAN) end++;
      readRun(text.slice(i, end));
      i = end;
    } else {
      i++;
      switch (code) {
        case 0x01:
          readPlace(CONCEPT.place, true);
          break;
        case 0x02:
          readPlace(CONCEPT.secret, false);
          break;
        case 0x04:
          endSentence(FIELD_GAP);
          break;
        case 0x2c: // ,
        case 0x3001: // 、
        case 0x60c: // ،
          at += 2;
          forget();
          break;
        case 0x3b: // ;
          at += 2;
          forget();
          break;
        case 0x3a: // :
          if (isSpace(text.charCodeAt(i))) {
            at += 1;
            forget();
          }
          break;
        case 0x2e: // .
        case 0x21: // !
        case 0x3f: // ?
          if (isSpace(text.charCodeAt(i))) endSentence(SENTENCE_GAP);
          break;
        case 0x0a:
        case 0x3002: // 。
        case 0x964: // ।
        case 0x6d4: // ۔
        case 0x61f: // ؟
          endSentence(SENTENCE_GAP);
          break;
      }
    }
  }
  noteSentence();
  return { mentions, words: count, mixed, starts: sentenceStarts, sentences, tokens };
}

function isSpace(code: number): boolean {
  return Number.isNaN(code) || code === 32 || code === 10 || code === 9 || code === 13;
}
