import { HARD, type Sign } from './check.js';
import type { Judged } from './wording.js';

/** Scores of the wording: where nothing is worth a closer look, where it says nothing, where it is worth naming, and where it is enough. */
export const WORDING = { closer: -6.5, neutral: 0, soft: 0, hard: 0.4 } as const;
/** What a point of that score weighs beside signs; what wording takes from them, and adds to them, at most. */
const SLOPE = 1.25;
const LEAST = -4;
const MOST = 1.5;
/** The weight of a sign that is enough whatever the wording around it. */
const CLEAR = 6;
/** Characters around signs whose wording counts. */
const AROUND = 40;

/** A sign with what it needs to be weighed. */
export interface Weighed extends Sign {
  readonly check: string;
  readonly path?: string;
  readonly text?: string;
  /** Its place in all texts joined. */
  readonly at?: number;
  readonly isShape?: boolean;
}

/** Signs, and the wording of each part of the text. */
export interface Found {
  readonly signs: readonly Weighed[];
  readonly windows: readonly Judged[];
}

/** Signs that stand together, and the score of the wording around them; `undefined` where it does not count. */
export interface Cluster {
  readonly sum: number;
  readonly wording?: number;
  /** One of them is enough whatever the wording around it. */
  readonly isClear?: boolean;
}

/** Windows up to which a definition is short; a long one has more sentences that are strange by chance. */
const SHORT = 16;
/** What the worst of twice as many windows must score more, and what is asked for at most: an order in a long guide is still found when it is a clear one. */
const DOUBLED = 0.5;
const MOST_ASKED = 0.75;

/** How much more the wording of a definition must speak for an order, by the number of its windows. */
export function allowanceOf(windows: number): number {
  return Math.min(MOST_ASKED, DOUBLED * Math.log2(Math.max(1, windows / SHORT)));
}

/** A sentence with fewer words is little evidence. */
const WORDY = 8;
const ASKED_FOR_EACH = 0.25;

/** How much more is asked of the wording of a short sentence: terse tools ("Says what the host declared.") say little of themselves. */
export function tersenessOf({ first, last }: { readonly first: number; readonly last: number }): number {
  return Math.max(0, WORDY - (last - first)) * ASKED_FOR_EACH;
}

/** What the wording around signs weighs. */
function weightOf(score: number, least: number): number {
  return Math.max(least, Math.min(MOST, (score - WORDING.neutral) * SLOPE));
}

/** Signs that stand so close in one text are signs of the same thing. */
const TOGETHER = 500;

/** The signs of each place together with those of the definition as a whole. */
export function clustersOf({ signs: all, windows }: Found): Cluster[] {
  // The wording counts by its score around signs; it is a sign of its own only where it is enough by itself.
  const signs = all.filter(({ check, weight }) => check !== 'wording' || weight >= HARD);
  const allowance = allowanceOf(windows.length);
  const overall = signs.filter(({ at }) => at === undefined);
  const placed = signs
    .filter((sign): sign is Weighed & { at: number } => sign.at !== undefined)
    .toSorted((a, b) => a.at - b.at);
  const clusters: Cluster[] = [{ sum: sumOf(overall) }];
  for (const [index, first] of placed.entries()) {
    const close: Array<Weighed & { at: number }> = [];
    for (let next = index; next < placed.length; next++) {
      const each = placed[next]!;
      if (each.at - first.at > TOGETHER) break;
      if (each.path === first.path) close.push(each);
    }
    const sum = sumOf([...close, ...overall]);
    // The wording around shapes does not change what they mean.
    if (close.some(({ isShape }) => isShape)) clusters.push({ sum });
    else {
      const wording = worstAround(windows, first.at, close.at(-1)!.at) - allowance;
      clusters.push({ sum, wording, isClear: close.some(({ weight }) => weight >= CLEAR) });
    }
  }
  return clusters;
}

/** The heaviest that signs weigh together. */
export function scoreOf(found: Found): number {
  return clustersOf(found).reduce(
    (most, { sum, wording, isClear }) =>
      Math.max(most, sum + (wording === undefined ? 0 : weightOf(wording, isClear ? HARD - CLEAR : LEAST))),
    0,
  );
}

function worstAround(windows: readonly Judged[], from: number, to: number): number {
  let worst = -Infinity;
  for (const { begin, end, score } of windows) {
    if (begin <= to + AROUND && end >= from - AROUND) worst = Math.max(worst, score);
  }
  return worst;
}

/** Each reason counts once, with the heaviest of its signs. */
function sumOf(signs: readonly Weighed[]): number {
  const heaviest = new Map<string, number>();
  for (const { reason, weight } of signs) heaviest.set(reason, Math.max(heaviest.get(reason) ?? 0, weight));
  return [...heaviest.values()].reduce((sum, weight) => sum + weight, 0);
}
