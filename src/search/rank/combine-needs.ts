import { compareAddresses } from './addresses.js';
import type { Placed } from './rank.js';

/** A tool with the number of the need that it answers. */
export interface PlacedForNeed extends Placed {
  readonly need: number;
}

/** What the need alone says, against the whole query: the rest of it says what the need is about. */
const NEED_WEIGHT = 0.15;

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

/** The first of an order, but so that every need has one of them: where one has none, the last of a need with several makes way. */
export function firstOfNeeds(placed: readonly PlacedForNeed[], limit: number): PlacedForNeed[] {
  const chosen = placed.slice(0, limit);
  const rest = placed.slice(limit);
  const count = (need: number): number => chosen.filter((one) => one.need === need).length;
  for (const need of new Set(rest.map((one) => one.need))) {
    const leaves = count(need) === 0 ? chosen.findLastIndex((one) => count(one.need) > 1) : -1;
    if (leaves < 0) continue;
    chosen.splice(leaves, 1);
    chosen.push(rest.find((one) => one.need === need)!);
  }
  return chosen.toSorted((a, b) => b.relevance - a.relevance || compareAddresses(a.tool, b.tool));
}
