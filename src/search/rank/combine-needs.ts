import { compareAddresses } from '../index/names.js';
import type { Placed } from './rank.js';

/** A tool with the number of the need that it answers. */
export interface PlacedForNeed extends Placed {
  readonly need: number;
}

/** What the need alone says, against the whole query: the rest of it says what the need is about. */
const NEED_WEIGHT = 0.5;

/** The share of an answer that is given to the needs in equal parts; the rest goes by the order of all. */
const GIVEN = 0.8;

/**
 * One order out of that by the whole query and those by each of its needs, best first. Every tool is put down to the need it fits best;
 * tools that fit none are left out. Empty when all needs are answered best by one tool: then there is only one.
 */
export function combineNeeds(whole: readonly Placed[], needs: ReadonlyArray<readonly Placed[]>): PlacedForNeed[] {
  const strength = whole[0]?.relevance ?? 0;
  if (strength === 0 || new Set(needs.map(([best]) => best?.document)).size < 2) return [];
  const byWhole = new Map(whole.map(({ document, relevance }) => [document, relevance / strength]));
  const best = new Map<number, { readonly placed: Placed; readonly need: number; readonly share: number }>();
  for (const [need, answers] of needs.entries()) {
    const full = answers[0]?.relevance || 1;
    for (const placed of answers) {
      const share = placed.relevance / full;
      if (share > (best.get(placed.document)?.share ?? 0)) best.set(placed.document, { placed, need, share });
    }
  }
  const scored = [...best.values()].map(({ placed, need, share }) => {
    const relevance = (strength * ((byWhole.get(placed.document) ?? 0) + NEED_WEIGHT * share)) / (1 + NEED_WEIGHT);
    const parts = placed.parts.map((part) => ({ ...part, share: (part.share * relevance) / placed.relevance }));
    return { ...placed, need, relevance, parts };
  });
  return scored.toSorted((a, b) => b.relevance - a.relevance || compareAddresses(a.tool, b.tool));
}

/**
 * The first of an order, but so that every need has its share of them: what it finds best itself, by `answers`, among the tools that were put
 * down to it. Otherwise the need with the rarer words would fill a short answer.
 */
export function firstOfNeeds(
  placed: readonly PlacedForNeed[],
  limit: number,
  answers: ReadonlyArray<readonly Placed[]>,
): PlacedForNeed[] {
  const given = Math.max(1, Math.floor((limit * GIVEN) / answers.length));
  const byDocument = new Map(placed.map((one) => [one.document, one]));
  const own = answers.flatMap((answer, need) => {
    const best = answer.map(({ document }) => byDocument.get(document)).filter((one) => one?.need === need);
    return best.slice(0, given) as PlacedForNeed[];
  });
  const chosen = new Set(own.slice(0, limit));
  for (const one of placed) {
    if (chosen.size >= limit) break;
    chosen.add(one);
  }
  return [...chosen].toSorted((a, b) => b.relevance - a.relevance || compareAddresses(a.tool, b.tool));
}
