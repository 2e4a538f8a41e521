import { editDistance } from '../kernel/text.js';
import { LIMITS } from '../kernel/limits.js';
import type { Analyzer } from './analysis.js';
import { isStopWord } from './stop-words.js';
import type { Vocabulary } from './vocabulary.js';

/** A term to look for, what it counts, and the word of the query it stands for. */
export interface QueryTerm {
  readonly id: number;
  readonly weight: number;
  readonly word: string;
}

/** A query made ready for one index. */
export interface Query {
  /** Nothing in it can be scored: everything is listed by name instead. */
  readonly empty: boolean;
  /** What the query says itself, misspellings corrected. */
  readonly own: readonly QueryTerm[];
  /** Words of the same class as an own term. */
  readonly related: readonly QueryTerm[];
  /** Weighted words that no tool uses. */
  readonly unknown: number;
}

/** What a word of the same class counts, against the word itself. */
const CLASS_WEIGHT = 0.3;

/** What a corrected word counts, against one that was spelt right. */
const CORRECTED_WEIGHT = 0.7;

/** Shorter words have too many neighbours, and longer queries hold no more typos. */
const SHORTEST_CORRECTED = 5;
const MOST_CORRECTED = 16;

const encoder = new TextEncoder();

/** The beginning of a query, {@link LIMITS.queryBytes} long at most; never half a character. */
export function cutQuery(text: string): string {
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(LIMITS.queryBytes)).read);
}

/** Reads a query: own terms by the logarithm of their frequency, corrections of unknown words, related terms. */
export function parseQuery(
  text: string,
  analyzer: Analyzer,
  vocabulary: Vocabulary,
  classes: ReadonlyMap<string, readonly string[]>,
): Query {
  const counts = new Map<string, { word: string; count: number }>();
  for (const word of analyzer.words(cutQuery(text))) {
    // Stop words remain only where nothing else does; then those count that a tool is called by.
    if (isStopWord(word.text) && vocabulary.find(word.term) === undefined) continue;
    const counted = counts.get(word.term) ?? { word: word.text, count: 0 };
    counted.count++;
    counts.set(word.term, counted);
  }

  const own = new Map<number, QueryTerm>();
  const related = new Map<number, QueryTerm>();
  let unknown = 0;
  let corrections = 0;
  for (const [term, { word, count }] of counts) {
    const weight = 1 + Math.log(count);
    for (const other of classes.get(term) ?? []) {
      const id = vocabulary.find(other);
      if (id !== undefined && !related.has(id)) related.set(id, { id, weight: weight * CLASS_WEIGHT, word });
    }
    const id = vocabulary.find(term);
    if (id !== undefined) {
      own.set(id, { id, weight, word });
      continue;
    }
    const misspelt = !classes.has(term) && corrections++ < MOST_CORRECTED;
    const corrected = misspelt ? correct(term, vocabulary) : undefined;
    if (corrected === undefined) unknown += weight;
    else if (!own.has(corrected)) own.set(corrected, { id: corrected, weight: weight * CORRECTED_WEIGHT, word });
  }
  for (const id of own.keys()) related.delete(id);
  return { empty: counts.size === 0, own: [...own.values()], related: [...related.values()], unknown };
}

/** The most used term one edit away from a word nobody uses. */
function correct(term: string, vocabulary: Vocabulary): number | undefined {
  if (term.length < SHORTEST_CORRECTED || !/^\p{L}+$/u.test(term)) return undefined;
  const [best] = vocabulary
    .near(term, 1)
    .filter((id) => editDistance(term, vocabulary.text(id), 1) <= 1)
    .toSorted((a, b) => vocabulary.uses(b) - vocabulary.uses(a) || (vocabulary.text(a) < vocabulary.text(b) ? -1 : 1));
  return best;
}
