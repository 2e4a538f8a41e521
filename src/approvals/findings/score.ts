import type { Sign } from './check.js';
import type { Judged } from './wording.js';

/** Scores of the wording: where nothing is worth a closer look, where it says nothing, where it is worth naming, and where it is enough. */
export const WORDING = { closer: -6.5, neutral: -2, soft: 0.5, hard: 1 } as const;
/** What a point of that score weighs beside signs; what wording takes from them, and adds to them, at most. */
const SLOPE = 2 / 3;
const LEAST = -2;
const MOST = 2;
/** Characters around signs whose wording counts. */
const AROUND = 40;

/** A sign with what it needs to be weighed. */
export interface Weighed extends Sign {
  readonly check: string;
  readonly path?: string;
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
}

/** What the wording around signs weighs. */
function weightOf(score: number): number {
  return Math.max(LEAST, Math.min(MOST, (score - WORDING.neutral) * SLOPE));
}

/** Signs that stand so close in one text are signs of the same thing. */
const TOGETHER = 500;

/** The signs of each place together with those of the definition as a whole. */
export function clustersOf({ signs, windows }: Found): Cluster[] {
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
    else clusters.push({ sum, wording: worstAround(windows, first.at, close.at(-1)!.at) });
  }
  return clusters;
}

/** The heaviest that signs weigh together. */
export function scoreOf(found: Found): number {
  return clustersOf(found).reduce(
    (most, { sum, wording }) => Math.max(most, sum + (wording === undefined ? 0 : weightOf(wording))),
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
