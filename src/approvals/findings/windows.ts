import type { Reading, Sentence } from './reading.js';
import { ROLES, ROLES_OF } from './roles.js';
import { visitWords, WORD_BUCKETS } from './word-features.js';
import { CONCEPTS } from './concepts.js';

/** A sentence, or two that follow each other: its mentions, its words and its characters, each from one to before another. */
export type Window = Omit<Sentence, 'number'>;

/** Words of one window; longer sentences are cut into several that overlap. */
const MAX_WORDS = 60;
/** Words of two sentences that are read together. */
const MAX_JOINED = 90;
/** Words from the first to the second of two concepts that stand close. */
const CLOSE = 5;

const C = CONCEPTS.length;
const R = ROLES.length;
/** Where features of each kind start. */
const OPENS = C;
const ROLE = OPENS + C;
const ROLE_OPENS = ROLE + R;
const ROLE_FOLLOWS = ROLE_OPENS + R;
const ROLE_PAIR = ROLE_FOLLOWS + R * R;
const FOLLOWS = ROLE_PAIR + R * R;
const DENSITY = FOLLOWS + C * C;
const LENGTH = DENSITY + 12;
/** How many features of concepts there are; those of words follow. */
export const FEATURE_COUNT = LENGTH + 8;
/** How many features there are. */
export const ALL_FEATURES = FEATURE_COUNT + WORD_BUCKETS;

/** A sentence in pieces that are not too long. */
function cutLong({ mentions }: Reading, sentence: Sentence): Window[] {
  if (sentence.last - sentence.first <= MAX_WORDS) return [sentence];
  const windows: Window[] = [];
  let from = sentence.from;
  for (let first = sentence.first; ; first += MAX_WORDS >> 1) {
    const last = Math.min(sentence.last, first + MAX_WORDS);
    while (from < sentence.to && mentions[from]!.token < first) from++;
    let to = from;
    while (to < sentence.to && mentions[to]!.token < last) to++;
    windows.push({
      from,
      to,
      first,
      last,
      begin: mentions[from]?.offset ?? sentence.begin,
      end: mentions[to - 1]?.offset ?? sentence.end,
    });
    if (last === sentence.last) return windows;
  }
}

/** The windows of a text: each sentence, and each with the next of its field. */
export function windowsOf(reading: Reading): Window[] {
  const windows: Window[] = [];
  let before: Sentence | undefined;
  for (const sentence of reading.sentences) {
    windows.push(...cutLong(reading, sentence));
    if (before?.number === sentence.number - 1 && sentence.last - before.first <= MAX_JOINED) {
      const { to, last, end } = sentence;
      windows.push({ from: before.from, first: before.first, begin: before.begin, to, last, end });
    }
    before = sentence;
  }
  return windows;
}

/** Windows of a text that was put together from fields: from each mention on, as far as a sentence reaches. */
export function slidingWindowsOf({ mentions }: Reading, words: number): Window[] {
  const windows: Window[] = [];
  let to = 0;
  for (let from = 0; from < mentions.length; from++) {
    const before = to;
    const start = mentions[from]!;
    while (to < mentions.length && mentions[to]!.at - start.at < words && to - from < MAX_WORDS) to++;
    // A window that lies within the one before it says nothing new.
    if (to <= before) continue;
    const end = mentions[to - 1]!;
    windows.push({
      from,
      to,
      first: Math.max(0, start.token),
      last: end.token + 1,
      begin: start.offset,
      end: end.offset,
    });
  }
  return windows;
}

/** Windows that are told apart before what was seen is forgotten. */
const MAX_ROUND = 0xff;

/** Sees the features of windows, each once a window. One instance is used for many windows, so that nothing is allocated for each. */
export class FeatureSeer {
  readonly #seen = new Uint8Array(ALL_FEATURES);
  readonly #roles: number[] = [];
  #round = 0;

  /** Calls `visit` with each feature of a window. */
  see({ mentions, tokens }: Reading, { from, to, first, last }: Window, visit: (feature: number) => void): void {
    if (++this.#round > MAX_ROUND) {
      this.#seen.fill(0);
      this.#round = 1;
    }
    const round = this.#round;
    const seen = this.#seen;
    const roles = this.#roles;
    roles.length = 0;
    const once = (feature: number): boolean => {
      if (seen[feature] === round) return false;
      seen[feature] = round;
      visit(feature);
      return true;
    };
    for (let i = from; i < to; i++) {
      const { concept, at, place } = mentions[i]!;
      const own = ROLES_OF[concept]!;
      once(concept);
      for (const role of own) if (once(ROLE + role)) roles.push(role);
      if (place === 0) {
        once(OPENS + concept);
        for (const role of own) once(ROLE_OPENS + role);
      }
      for (let j = i - 1; j >= from; j--) {
        const before = mentions[j]!;
        const distance = at - before.at;
        if (distance > CLOSE) break;
        if (distance <= 0) continue;
        if (once(FOLLOWS + before.concept * C + concept)) {
          for (const a of ROLES_OF[before.concept]!) for (const b of own) once(ROLE_FOLLOWS + a * R + b);
        }
      }
    }
    roles.sort((a, b) => a - b);
    for (let i = 0; i < roles.length; i++) {
      for (let j = i + 1; j < roles.length; j++) {
        visit(ROLE_PAIR + roles[i]! * R + roles[j]!);
      }
    }
    const words = last - first;
    let known = 0;
    for (let i = from; i < to; i++) if (i === from || mentions[i]!.token !== mentions[i - 1]!.token) known++;
    visit(DENSITY + Math.min(11, Math.floor((known / Math.max(1, words)) * 12)));
    visit(LENGTH + Math.min(7, Math.floor(Math.log2(words + 1))));
    visitWords(tokens, first, last, (bucket) => once(FEATURE_COUNT + bucket));
  }
}

/** A feature as it is written in the file of weights: `not>tell`, `not+tell`, `^read`, `secret`; parts in capitals. */
export function nameFeature(feature: number): string {
  const concept = (at: number): string => CONCEPTS[at]!;
  const role = (at: number): string => ROLES[at]!.toUpperCase();
  const pair = (at: number, size: number, name: (one: number) => string, sign: string): string =>
    `${name(Math.floor(at / size))}${sign}${name(at % size)}`;
  if (feature < OPENS) return concept(feature);
  if (feature < ROLE) return `^${concept(feature - OPENS)}`;
  if (feature < ROLE_OPENS) return role(feature - ROLE);
  if (feature < ROLE_FOLLOWS) return `^${role(feature - ROLE_OPENS)}`;
  if (feature < ROLE_PAIR) return pair(feature - ROLE_FOLLOWS, R, role, '>');
  if (feature < FOLLOWS) return pair(feature - ROLE_PAIR, R, role, '+');
  if (feature < DENSITY) return pair(feature - FOLLOWS, C, concept, '>');
  return feature < LENGTH ? `density:${feature - DENSITY}` : `length:${feature - LENGTH}`;
}

/** How specific a feature is: the more, the less of it is learned from few examples. */
export function rankFeature(feature: number): 0 | 1 | 2 | 3 {
  if (feature >= FEATURE_COUNT) return 3;
  if (feature < ROLE_FOLLOWS || feature >= DENSITY) return 0;
  return feature < FOLLOWS ? 1 : 2;
}
