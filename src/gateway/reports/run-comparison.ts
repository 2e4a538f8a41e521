import { isObject, type JsonValue } from '../../kernel/json.js';
import { comparePaired, type Comparison } from '../../search/index.js';

/** A run as `eval --json` prints it, as far as two of them are compared. */
export interface SavedRun {
  readonly ndcg10: number;
  /** nDCG@10 of each query; absent in reports without `--each`. */
  readonly queries?: ReadonlyArray<{ readonly id: string; readonly ndcg10: number }>;
}

/** How a run stands against another one of the same queries (FIND-2). */
export interface RunComparison {
  /** nDCG@10 of the other run. */
  readonly ndcg10: number;
  /** The change of nDCG@10 over the queries that both runs have, and the interval of 95 of 100 paired bootstrap samples. */
  readonly change?: Comparison;
  /** How many queries both runs have, and how many are better, worse and the same. */
  readonly compared: number;
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
  /** The queries that changed, those that lost most first. */
  readonly changed: ReadonlyArray<{ readonly id: string; readonly before: number; readonly now: number }>;
}

/** Differences below this are those of rounding. */
const SAME = 1e-6;

/** Compares two runs query by query; a query that only one of them has counts in neither. */
export function compareRuns(now: Required<SavedRun>, other: SavedRun): RunComparison {
  const before = new Map((other.queries ?? []).map(({ id, ndcg10 }) => [id, ndcg10]));
  const pairs = now.queries.flatMap(({ id, ndcg10 }) => {
    const was = before.get(id);
    return was === undefined ? [] : [{ id, before: was, now: ndcg10 }];
  });
  const changed = pairs
    .filter((pair) => Math.abs(pair.now - pair.before) > SAME)
    .toSorted((a, b) => a.now - a.before - (b.now - b.before) || (a.id < b.id ? -1 : 1));
  const losses = changed.filter((pair) => pair.now < pair.before).length;
  return {
    ndcg10: other.ndcg10,
    ...(pairs.length === 0
      ? {}
      : {
          change: comparePaired(
            pairs.map((pair) => pair.now),
            pairs.map((pair) => pair.before),
          ),
        }),
    compared: pairs.length,
    wins: changed.length - losses,
    losses,
    ties: pairs.length - changed.length,
    changed,
  };
}

/** The run in a parsed file; `undefined` when the file holds no run. */
export function asSavedRun(value: JsonValue): SavedRun | undefined {
  if (!isObject(value)) return undefined;
  const { n, ndcg10, queries } = value;
  if (typeof n !== 'number' || typeof ndcg10 !== 'number') return undefined;
  if (queries === undefined) return { ndcg10 };
  if (!Array.isArray(queries)) return undefined;
  const read = queries.flatMap((one) =>
    isObject(one) && typeof one['id'] === 'string' && typeof one['ndcg10'] === 'number'
      ? [{ id: one['id'], ndcg10: one['ndcg10'] }]
      : [],
  );
  return read.length === queries.length ? { ndcg10, queries: read } : undefined;
}
