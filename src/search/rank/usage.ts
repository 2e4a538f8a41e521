import { createHmac } from 'node:crypto';
import type { Postings } from '../index/postings.js';
import { K1, rarity, sharesOf } from './score.js';

/** What is remembered of one tool: the hashed terms of queries that led to it, and how much each weighs. */
export interface ToolUsage {
  /** Wall-clock time the weights are as of; they fade from then on. */
  readonly at: number;
  readonly terms: ReadonlyMap<string, number>;
}

/** What one principal's queries led to, by address of the tool. */
export type Usage = ReadonlyMap<string, ToolUsage>;

/** A query that led to a successful execution. */
export interface Credit {
  readonly address: string;
  /** As {@link hashTerms} gives them. */
  readonly terms: readonly string[];
  readonly at: number;
}

/** A remembered query counts half after this long without being repeated. */
const HALF_LIFE_MS = 30 * 86_400_000;

/** Bounds of what is remembered: tools of a principal, terms of a tool, the weight one term can gather. */
const MAX_TOOLS = 300;
const MAX_TERMS = 48;
const MAX_WEIGHT = 5;

/** What has faded below this is forgotten. */
const MIN_WEIGHT = 0.05;

/** How strongly a tool with many remembered words is held back (BM25's b). */
const LENGTH_PENALTY = 0.5;

/** Digits of a hash that are kept; two terms of one catalog meet in one in a billion. */
const HASH_LENGTH = 10;

/**
 * The distinct terms of a query under a key: what is stored does not say what was asked, only
 * whether the same word is asked again. With the key, words can still be tried one by one.
 */
export function hashTerms(terms: Iterable<string>, key: string): string[] {
  return [...new Set(terms)].map((term) =>
    createHmac('sha256', key).update(term).digest('base64url').slice(0, HASH_LENGTH),
  );
}

/** The memory with one more credit in it, bounded: the lightest terms and the oldest tools go first. */
export function remember(usage: Usage, { address, terms, at }: Credit): Usage {
  const known = usage.get(address);
  const weights = new Map<string, number>();
  for (const [term, weight] of known?.terms ?? []) {
    const faded = weight * fading(known!.at, at);
    if (faded >= MIN_WEIGHT) weights.set(term, faded);
  }
  for (const term of terms) weights.set(term, Math.min(MAX_WEIGHT, (weights.get(term) ?? 0) + 1));
  const heaviest = [...weights].toSorted((a, b) => b[1] - a[1]).slice(0, MAX_TERMS);
  const next = new Map(usage);
  next.set(address, { at: Math.max(at, known?.at ?? at), terms: new Map(heaviest) });
  if (next.size <= MAX_TOOLS) return next;
  return new Map([...next].toSorted((a, b) => b[1].at - a[1].at).slice(0, MAX_TOOLS));
}

/** How often, weighted, each term of a query led to each tool before, by address; lengths as in any other field. */
export function recall(usage: Usage, asked: readonly string[], now: number): Map<string, number[]> {
  const found = new Map<string, number[]>();
  let total = 0;
  for (const { terms } of usage.values()) total += terms.size;
  const average = total / Math.max(1, usage.size);
  for (const [address, { at, terms }] of usage) {
    const worth = fading(at, now) / (1 - LENGTH_PENALTY + (LENGTH_PENALTY * terms.size) / average);
    const frequencies = asked.map((hash) => (terms.get(hash) ?? 0) * worth);
    if (frequencies.some((frequency) => frequency > 0)) found.set(address, frequencies);
  }
  return found;
}

function fading(from: number, to: number): number {
  return 2 ** (-Math.max(0, to - from) / HALF_LIFE_MS);
}

/** The power of the share of a query that led to a tool before: chosen by left-out sets, see docs/search.md. */
const CLOSENESS = 2;

/** A term of a query that may have led somewhere before; -1 is the id of one that no tool holds. */
export interface AskedTerm {
  readonly id: number;
  readonly uses: number;
  readonly weight: number;
}

/**
 * What remembered queries add to the scores of documents: as if their words stood in one more field,
 * so that a word the tool has itself gains little, and one it lacks gains much. It counts by the square of the share
 * of the query that led there before, or one common word would lead everything to where it led once.
 */
export function raisedBy(
  remembered: ReadonlyMap<number, readonly number[]>,
  asked: readonly AskedTerm[],
  postings: Postings,
): Map<number, number> {
  const documents = [...remembered.keys()];
  const terms = asked.map(({ id, weight }) => ({ id, weight, word: '' }));
  const shares = sharesOf(documents, terms, postings);
  const raised = new Map<number, number>();
  for (const [place, document] of documents.entries()) {
    let sum = 0;
    let covered = 0;
    let whole = 0;
    for (const [i, { uses, weight }] of asked.entries()) {
      const more = remembered.get(document)![i]!;
      const most = weight * rarity(uses, postings.size);
      whole += most;
      if (more === 0) continue;
      covered += most;
      const share = shares[place * asked.length + i]!;
      const room = most - share;
      if (room <= 0) continue;
      const own = (K1 * share) / room;
      sum += (most * (own + more)) / (K1 + own + more) - share;
    }
    if (sum > 0) raised.set(document, sum * (covered / whole) ** CLOSENESS);
  }
  return raised;
}
