/** A query whose right answers are known. */
export interface LabelledQuery {
  readonly id: string;
  readonly query: string;
  /** Ids of the right tools; each is wanted, unless `groups` or `anyOf` says otherwise. */
  readonly relevant: readonly string[];
  /** What is wanted, with alternatives: of each group any one tool will do. */
  readonly groups?: ReadonlyArray<readonly string[]>;
  /** The same; a plain list of ids is one group. */
  readonly anyOf?: readonly string[] | ReadonlyArray<readonly string[]>;
}

/** What a query wants: of each group any one id will do. */
export type Gold = ReadonlyArray<ReadonlySet<string>>;

/** How good one ranking is, or many are in the mean: 0 to 1 each. */
export interface Quality {
  /** Whether something wanted stands first. */
  readonly hit1: number;
  /** The share of the groups found among the first 1, 3, 5 and 10. */
  readonly recall: Readonly<Record<Cut, number>>;
  readonly ndcg10: number;
  /** One over the rank of the first wanted tool. */
  readonly mrr: number;
}

/** The figures of a run over labelled queries. */
export interface Evaluation extends Quality {
  /** How many queries were asked. */
  readonly n: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** How many of the first answers a recall looks at. */
export type Cut = '1' | '3' | '5' | '10';

/** Answers that are looked at: nothing behind them is measured. */
export const JUDGED_RANKS = 10;

/** The groups of a query; empty groups, which nothing could satisfy, are left out. */
export function goldOf({ relevant, groups, anyOf }: LabelledQuery): Gold {
  const alternatives = groups ?? (anyOf && groupsOf(anyOf)) ?? relevant.map((id) => [id]);
  return alternatives.filter((group) => group.length > 0).map((group) => new Set(group));
}

/**
 * Judges one ranking. nDCG is binary and a group gains once, where its first id stands; recall is
 * over groups.
 */
export function judge(ranked: readonly string[], gold: Gold): Quality {
  const found = gold
    .map((group) => ranked.findIndex((id) => group.has(id)))
    .filter((rank) => rank >= 0 && rank < JUDGED_RANKS);
  const recall = (cut: number): number => found.filter((rank) => rank < cut).length / Math.max(1, gold.length);
  const ideal = sum(gold.slice(0, JUDGED_RANKS).map((_, rank) => gainAt(rank)));
  // Two groups may share an id; it can only stand at one rank, so it is counted there once.
  const reached = sum([...new Set(found)].map(gainAt));
  return {
    hit1: found.includes(0) ? 1 : 0,
    recall: { '1': recall(1), '3': recall(3), '5': recall(5), '10': recall(10) },
    ndcg10: ideal === 0 ? 0 : reached / ideal,
    mrr: found.length === 0 ? 0 : 1 / (Math.min(...found) + 1),
  };
}

/** The figures of a whole run: means of the qualities, percentiles of the times. */
export function summariseRun(qualities: readonly Quality[], timesMs: readonly number[]): Evaluation {
  const mean = (read: (quality: Quality) => number): number => sum(qualities.map(read)) / Math.max(1, qualities.length);
  return {
    n: qualities.length,
    hit1: mean(({ hit1 }) => hit1),
    recall: {
      '1': mean(({ recall }) => recall['1']),
      '3': mean(({ recall }) => recall['3']),
      '5': mean(({ recall }) => recall['5']),
      '10': mean(({ recall }) => recall['10']),
    },
    ndcg10: mean(({ ndcg10 }) => ndcg10),
    mrr: mean(({ mrr }) => mrr),
    p50Ms: percentile(timesMs, 0.5),
    p95Ms: percentile(timesMs, 0.95),
  };
}

/** The value below which a share of the values lies; 0 without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function groupsOf(anyOf: NonNullable<LabelledQuery['anyOf']>): ReadonlyArray<readonly string[]> {
  const single = anyOf.filter((one): one is string => typeof one === 'string');
  const groups = anyOf.filter((one): one is readonly string[] => typeof one !== 'string');
  return single.length > 0 ? [single, ...groups] : groups;
}

/** What a hit at a rank (from 0) is worth to nDCG. */
function gainAt(rank: number): number {
  return 1 / Math.log2(rank + 2);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
