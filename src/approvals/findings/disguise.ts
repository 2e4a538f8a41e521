import { HARD, type Sign } from './check.js';
import { payloadsOf } from './decode.js';
import { plainOf, type Prepared } from './prepare.js';
import { readText } from './reading.js';
import { rulesIn, signsIn } from './signs.js';
import { joinLetters, unspace } from './spacing.js';
import type { Wording } from './wording.js';
import { slidingWindowsOf } from './windows.js';

/** A sign of text that is not what it looks like. */
export interface Disguise extends Sign {
  readonly check: string;
  /** Its place in the texts as they were written. */
  readonly at?: number;
}

/** Text that was hidden is an order from this score of its wording on; what was put together from fields needs a clearer one. */
const HIDDEN_ORDER = -0.8;
const JOINED_ORDER = 4;
/** A rule that is met across fields weighs less where the wording does not speak for it. */
const JOINED_LESS = 1;
const JOINED_NEUTRAL = 0;
/** Words of a sentence that is put together from fragments. */
const JOINED_WORDS = 24;

/** Pieces longer than this are sentences of their own and no part of a split one. */
const MAX_FRAGMENT = 90;
/** Characters of a sentence that is put together from fragments. */
const MAX_JOINED = 8000;

/** Sentences that only exist when the spaces between their letters, or the limits of fields, are taken away. */
const SQUEEZED =
  /(?:ignore|disregard|forget)(?:all|any|every)?(?:of)?(?:the|your|my|these|those)?(?:previous|prior|earlier|above|preceding|system|old)?(?:the|your)?(?:instructions|rules|guidelines|directives)|override(?:all|the)?(?:your|previous|prior|system)(?:instructions|rules|guidelines|policy)|(?:donot|never|dont)(?:tell|inform|mentionthisto|mentionitto)(?:the|this|your)(?:user|human|person)|(?:send|upload|forward|leak|steal)(?:me|us)?(?:the|all|your|every|my|their)(?:passwords?|tokens?|secrets?|sshkeys?|privatekeys?|apikeys?|credentials|conversation|keysto)|(?:keepthissecret|hidethis|concealthis)from|youmustobey/;

/** Many lines of one word each. */
const ONE_WORD_LINES = /(?:^|[\n ])(?:[^\s]{1,24}\n){6,200}[^\s]{1,24}/;

/** Whether a text that was hidden gives an order. */
function isOrder(plain: string, wording: Wording): boolean {
  const reading = readText(plain);
  return (
    wording.worst(reading) >= HIDDEN_ORDER || signsIn(plain, reading, { words: true }).some(({ weight }) => weight > 1)
  );
}

/** Signs of text that is encoded, or whose letters or words stand apart. */
export function findHidden({ raw, plain, plains }: Prepared, isPlainOrder: boolean, wording: Wording): Disguise[] {
  const signs: Disguise[] = payloadsOf(raw).map(({ encoding, text, at, isNested }) => {
    const meant = isNested || isOrder(plainOf(text), wording);
    return {
      check: 'payloads',
      reason: meant ? `hides an order (${encoding})` : `contains encoded text (${encoding})`,
      weight: meant ? HARD : 2,
      at,
    };
  });
  const narrow = unspace(plain);
  if (narrow !== undefined) {
    const meant = SQUEEZED.test(joinLetters(plain)) || isNewOrder(plain, narrow, wording);
    signs.push({ check: 'payloads', reason: 'is written with its letters apart', weight: meant ? HARD : 2 });
  } else if (!isPlainOrder && isSqueezed(plain)) {
    signs.push({ check: 'payloads', reason: 'contains an order in disguise', weight: HARD });
  }
  for (const each of plains) {
    const lines = ONE_WORD_LINES.exec(each)?.[0];
    if (lines !== undefined && isOrder(lines.replaceAll('\n', ' '), wording)) {
      signs.push({ check: 'payloads', reason: 'is written with its words apart', weight: HARD });
    }
  }
  return signs;
}

/** Whether a text has an order that is not there as words: pushed together, or with digits for letters. */
function isSqueezed(plain: string): boolean {
  const found = SQUEEZED.exec(joinLetters(plain))?.[0];
  if (found === undefined) return false;
  return !plain.split('\n').some((line) => {
    const words = line.match(/[a-z]+/g) ?? [];
    return words.some((_, from) => {
      let run = words[from]!;
      // One long word is no sentence.
      if (run.length >= found.length) return false;
      for (let next = from + 1; next < words.length && run.length < found.length; next++) run += words[next]!;
      return run === found;
    });
  });
}

/** Whether a text says more than it did when its letters stood apart. */
function isNewOrder(plain: string, narrow: string, wording: Wording): boolean {
  const [before, after] = [readText(plain), readText(narrow)];
  if (wording.worst(after) > Math.max(HIDDEN_ORDER, wording.worst(before))) return true;
  return signsIn(narrow, after, { words: true }).length > signsIn(plain, before, { words: true }).length;
}

/** Signs of a sentence that begins in one field and ends in another. */
export function findJoined(plains: readonly string[], wording: Wording): Disguise[] {
  const fragments = plains
    .filter((plain) => plain.length <= MAX_FRAGMENT)
    .map((plain) => plain.replace(/[.:;!?\n[\]0-9"]+/g, ' '));
  if (fragments.length < 2) return [];
  const joined = fragments.join(' ').slice(0, MAX_JOINED);
  const reading = readText(joined);
  const ends: number[] = [];
  for (const { length } of fragments) ends.push((ends.at(-1) ?? -1) + length + 1);
  const fieldOf = (at: number): number => ends.findIndex((end) => at < end);
  const isAcross = (from: number, to: number): boolean => fieldOf(from) !== fieldOf(to);
  const windows = slidingWindowsOf(reading, JOINED_WORDS).filter(({ from, to }) =>
    isAcross(reading.mentions[from]!.offset, reading.mentions[to - 1]!.offset),
  );
  const judged = wording.judge(reading, windows);
  const worstIn = (from: number, to: number): number =>
    judged.reduce(
      (most, { begin, end, score }) => (begin <= to && end >= from ? Math.max(most, score) : most),
      -Infinity,
    );
  const signs: Disguise[] = rulesIn(reading, true)
    .filter(({ from, at }) => isAcross(from!, at))
    .map(({ reason, weight, from, at }) => ({
      check: 'split',
      reason,
      // Words that happen to meet in a long schema are no order.
      weight: worstIn(from!, at) < JOINED_NEUTRAL ? weight - JOINED_LESS : weight,
    }));
  const isSpread = SQUEEZED.test(joinLetters(joined)) && !fragments.some((each) => SQUEEZED.test(joinLetters(each)));
  if (isSpread || worstIn(0, joined.length) >= JOINED_ORDER) {
    signs.push({ check: 'split', reason: 'spreads an order over several fields', weight: HARD });
  }
  return signs;
}
