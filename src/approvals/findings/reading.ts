import { LOOK_ALIKES } from '../../kernel/look-alikes.js';
import { CONCEPTS, type Concept, type Words } from './words/concepts.js';
import { ASIAN } from './words/asian.js';
import { ENGLISH } from './words/english.js';
import { EUROPEAN } from './words/european.js';
import { FURTHER } from './words/further.js';
import { fold } from './fold.js';

/** What one word, or one phrase that starts with it, stands for. */
interface Entry {
  readonly concepts: readonly number[];
  readonly isForeign: boolean;
}

interface Lexicon {
  readonly words: ReadonlyMap<string, Entry>;
  /** Beginnings of words. */
  readonly stems: ReadonlyMap<string, Entry>;
  /** The number of words of the longest phrase that starts with a word. */
  readonly starts: ReadonlyMap<string, number>;
}

/** A concept of a text and its place, counted in words; the end of a sentence counts as several. */
export interface Mention {
  readonly concept: number;
  readonly at: number;
  readonly isForeign: boolean;
  /** Where in the text, in characters. */
  readonly offset: number;
}

/** A text as what it is about. */
export interface Reading {
  readonly mentions: readonly Mention[];
  readonly words: number;
  /** Words in which letters of two scripts are mixed. */
  readonly mixed: number;
}

const NUMBER_OF: ReadonlyMap<Concept, number> = new Map(CONCEPTS.map((concept, at) => [concept, at]));

/** The number of a concept. */
export function conceptNumber(concept: Concept): number {
  return NUMBER_OF.get(concept)!;
}

/** A stem has at least so many letters; CJK words are found without stems. */
const MIN_STEM = 2;
const MAX_STEM = 12;
const MAX_HAN = 8;
const LONGEST_PHRASE = 5;

function build(): Lexicon {
  const words = new Map<string, { concepts: number[]; isForeign: boolean }>();
  const stems = new Map<string, { concepts: number[]; isForeign: boolean }>();
  const starts = new Map<string, number>();
  const take = (language: Words, isForeign: boolean): void => {
    for (const [concept, list] of Object.entries(language) as Array<[Concept, string]>) {
      const number = conceptNumber(concept);
      for (const each of list.split(',')) {
        const word = fold(each.trim());
        const isStem = word.endsWith('*');
        const key = isStem ? word.slice(0, -1) : word;
        const target = isStem ? stems : words;
        const entry = target.get(key) ?? { concepts: [], isForeign };
        // A word that English has too is read as English.
        if (!isForeign) entry.isForeign = false;
        if (!entry.concepts.includes(number)) entry.concepts.push(number);
        target.set(key, entry);
        const parts = key.split(' ');
        if (parts.length > 1) starts.set(parts[0]!, Math.max(starts.get(parts[0]!) ?? 0, parts.length));
      }
    }
  };
  take(ENGLISH, false);
  for (const language of [...EUROPEAN, ...ASIAN, ...FURTHER]) {
    const own: Words = {};
    for (const [concept, list] of Object.entries(language) as Array<[Concept, string]>) {
      // What means something in English keeps that meaning: "no" and "note" are no Spanish here.
      own[concept] = list
        .split(',')
        .filter((word) => !words.has(fold(word.trim())) || words.get(fold(word.trim()))!.isForeign)
        .join(',');
      if (own[concept] === '') delete own[concept];
    }
    take(own, true);
  }
  return { words, stems, starts };
}

let built: Lexicon | undefined;
/** Made when the first text is read, so that a start without new tools does not pay for it. */
const theLexicon = (): Lexicon => (built ??= build());

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

const WEB =
  '(?:https?|ftps?|wss?|hxxps?)://[^\\s"\'<>`)\u0001\u0002]{1,300}|\\b(?:\\d{1,3}\\.){3}\\d{1,3}\\b(?:[:/][\\w/.:-]{0,80})?|\\b[a-z0-9][a-z0-9-]{0,40}(?:\\.[a-z0-9-]{1,40}){0,3}\\.(?:com|net|org|io|dev|cx|xyz|top|site|page|sh|co|info|cc|ru|cn|tk|cloud|link|live|online|pw|example|lat|me)\\b(?:/[\\w/.?=&%-]{0,120})?';
const TOKEN = new RegExp(
  `([\\w.+-]{1,64}@[\\w-]{1,64}(?:\\.[\\w-]{1,32}){1,4})|(${WEB})|(\\u0001|\\u0002)|(\\u0004|,|[.!?;:]+(?=\\s|$)|[。!?।۔؟；]|\\n)|([\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー]{1,400})|([\\p{L}\\p{M}\\p{N}]{1,64})`,
  'gu',
);
const MIXED = /[a-z]/;
const OTHER_SCRIPT = /[\u0370-\u058f]/;
const SENTENCE_GAP = 4;
/** A comma parts a little; no rule reaches from one field into the next. */
const GAPS: Readonly<Record<string, number>> = { ',': 2, ':': 1, ';': 2, '\u0004': 100 };

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

function latinOf(word: string): string {
  return word.replace(/[\u0131-\u058f]/g, (letter) => LOOK_ALIKES.get(letter) ?? letter);
}

/** What a word stands for: itself, in Latin letters, without what Arabic puts before it, or by its stem. */
function lookUp(lexicon: Lexicon, word: string): Entry | undefined {
  const { words, stems } = lexicon;
  const exact = words.get(word);
  if (exact) return exact;
  const end = Math.min(word.length, MAX_STEM);
  for (let length = end; length >= MIN_STEM; length--) {
    const stem = stems.get(word.slice(0, length));
    if (stem) return stem;
  }
  if (word.charCodeAt(0) >= 0x0620 && word.charCodeAt(0) <= 0x06ff) {
    const bare = word.replace(/^(?:وال|فال|بال|كال|لل|ال|و|ف|ب|ل)/, '');
    if (bare !== word && bare.length > 1) return lookUp(lexicon, bare);
  }
  if (LEET_WORD.test(word)) {
    const plain = word.replace(/\d/g, (digit) => LEET[digit] ?? digit);
    if (plain !== word) return lookUp(lexicon, plain) ?? words.get(plain.replaceAll('i', 'l'));
  }
  return undefined;
}

/** Reads a folded text. */
export function readText(folded: string): Reading {
  const known = theLexicon();
  const { words, stems, starts } = known;
  const mentions: Mention[] = [];
  let at = 0;
  let offset = 0;
  let count = 0;
  let mixed = 0;
  /** The last words, for phrases that end here. */
  const recent: string[] = [];
  const mention = (concept: number, isForeign: boolean): void => void mentions.push({ concept, at, isForeign, offset });
  const say = (entry: Entry | undefined): void => {
    for (const concept of entry?.concepts ?? []) mention(concept, entry!.isForeign);
  };
  const [mail, web, place, weak] = [
    conceptNumber('mail'),
    conceptNumber('web'),
    conceptNumber('place'),
    conceptNumber('secret'),
  ];
  const text = folded
    .replace(/n't\b/g, 'nt ')
    .replace(PLACE, (found) => '\u0001'.padEnd(found.length))
    .replace(WEAK_PLACE, (found) => '\u0002'.padEnd(found.length));
  for (const match of text.matchAll(TOKEN)) {
    const [token] = match;
    offset = match.index;
    if (match[6] !== undefined) {
      let word = token;
      if (OTHER_SCRIPT.test(word) && MIXED.test(word)) {
        word = latinOf(word);
        if (word.length > 3) mixed++;
      }
      at++;
      count++;
      recent.push(word);
      if (recent.length > LONGEST_PHRASE) recent.shift();
      say(lookUp(known, word));
      // Letters of one other script that together look like a Latin word.
      if (OTHER_SCRIPT.test(word) && !stems.has(word)) say(words.get(latinOf(word)));
      for (let length = 2; length <= recent.length; length++) {
        const first = recent[recent.length - length]!;
        if ((starts.get(first) ?? 0) >= length) say(words.get(recent.slice(-length).join(' ')));
      }
    } else if (match[5] !== undefined) {
      for (let from = 0; from < token.length;) {
        let taken = 0;
        for (let length = Math.min(MAX_HAN, token.length - from); length > 0 && taken === 0; length--) {
          const entry = words.get(token.slice(from, from + length));
          if (!entry) continue;
          at++;
          say(entry);
          taken = length;
        }
        if (taken === 0) at += 0.5;
        from += taken || 1;
        count++;
      }
      recent.length = 0;
    } else if (match[4] !== undefined) {
      at += GAPS[token] ?? SENTENCE_GAP;
      recent.length = 0;
    } else {
      at++;
      count++;
      recent.length = 0;
      // Addresses and paths belong to every language.
      if (match[1] !== undefined) mention(mail, true);
      // The target of a link is something to read, not somewhere to send things.
      else if (match[2] !== undefined) {
        if (text[offset - 1] !== '(' || text[offset - 2] !== ']') mention(web, true);
      } else if (token === '\u0001') mention(place, true);
      else mention(weak, false);
    }
  }
  return { mentions, words: count, mixed };
}
