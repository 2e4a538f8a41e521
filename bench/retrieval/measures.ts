/** What one query is judged by: each group is one wanted thing, any of its ids will do. */
export interface Judged {
  readonly query: string;
  readonly groups: ReadonlyArray<ReadonlySet<string>>;
}

/** Quality of a ranking, 0 to 1 each. */
export interface Quality {
  readonly recall1: number;
  readonly recall3: number;
  readonly recall5: number;
  readonly recall10: number;
  readonly ndcg10: number;
  readonly mrr: number;
}

/** Judges one ranked list of ids: recall over groups, binary nDCG (a group gains once), reciprocal rank of the first hit. */
export function judge(ranked: readonly string[], groups: Judged['groups']): Quality {
  const firstRanks = groups.map((group) => ranked.findIndex((id) => group.has(id)));
  const found = firstRanks.filter((rank) => rank >= 0);
  const recall = (k: number): number => found.filter((rank) => rank < k).length / groups.length;
  const ideal = sum(groups.slice(0, 10).map((_, rank) => gain(rank)));
  // Two groups may share an id; it can only stand at one rank, so it is counted there once.
  const reached = sum([...new Set(found)].filter((rank) => rank < 10).map(gain));
  return {
    recall1: recall(1),
    recall3: recall(3),
    recall5: recall(5),
    recall10: recall(10),
    ndcg10: reached / ideal,
    mrr: found.length === 0 ? 0 : 1 / (Math.min(...found) + 1),
  };
}

/** The mean of each figure. */
export function meanQuality(all: readonly Quality[]): Quality {
  const mean = (key: keyof Quality): number => sum(all.map((one) => one[key])) / all.length;
  return {
    recall1: mean('recall1'),
    recall3: mean('recall3'),
    recall5: mean('recall5'),
    recall10: mean('recall10'),
    ndcg10: mean('ndcg10'),
    mrr: mean('mrr'),
  };
}

/** The value below which a share of the values lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** What a hit at a rank (from 0) is worth to nDCG. */
function gain(rank: number): number {
  return 1 / Math.log2(rank + 2);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
