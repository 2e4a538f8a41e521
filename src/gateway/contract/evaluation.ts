import type { JsonObject } from '../../kernel/json.js';
import type { Evaluation, Quality } from '../../search/index.js';

/** The recorded tool list of a server, to be searched instead of the user's own. */
export interface RecordedServer {
  readonly server: string;
  /** What the server calls itself. */
  readonly title?: string;
  readonly name?: string;
  /** The tools as the server listed them, each with the id that labelled queries use. */
  readonly tools: ReadonlyArray<{ readonly id: string; readonly definition: JsonObject }>;
}

/** One query of a run: what was wanted, what came, how good that is. */
export interface JudgedQuery {
  readonly id: string;
  readonly query: string;
  readonly wanted: ReadonlyArray<readonly string[]>;
  /** Ids of the first ten answers, best first. */
  readonly came: readonly string[];
  readonly quality: Quality;
  /** Why wanted tools are not where they should be, one for each group that is not among the first. */
  readonly losses: readonly Loss[];
}

/**
 * Why a wanted tool does not stand high: its words did not bring it among those whose order is decided, a tool of the same server
 * or name stands in its place, or others were thought to fit better.
 */
export type Loss = 'not among candidates' | 'near-twin first' | 'outranked';

/** How well tools are found for labelled queries (FIND-2). */
export interface EvaluationReport {
  readonly figures: Evaluation;
  /** The figures of the run before, over the same queries and tools. */
  readonly before?: Evaluation;
  readonly queries: readonly JudgedQuery[];
  /** Wanted ids that no search can find: they are not among the offered tools. */
  readonly missing: readonly string[];
  /** How many tools were searched. */
  readonly tools: number;
}
