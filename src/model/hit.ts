import type { JsonObject } from '../kernel/json.js';
import type { Progress } from './call.js';
import type { ShownConfirm } from './pending-call.js';

/** How many hits a search gives, where the caller does not say. */
export const DEFAULT_HITS = 10;

/** The most hits that an agent may ask for in one search. */
export const MAX_AGENT_HITS = 50;

/** Why a hit stands where it stands. */
export interface Explanation {
  /** Words of the query, the indexed terms they met, the fields those stand in, and their shares of the words' score. */
  readonly terms: ReadonlyArray<{
    readonly word: string;
    readonly term: string;
    readonly fields: readonly string[];
    readonly share: number;
  }>;
  /** What each signal gave; together they are the relevance. */
  readonly signals: ReadonlyArray<{ readonly name: string; readonly share: number }>;
}

/** One answer to a search (FIND-1). */
export interface Hit {
  readonly server: string;
  readonly tool: string;
  readonly summary: string;
  /** In [0,1]; 0 when the query was empty and nothing was scored. */
  readonly relevance: number;
  readonly tags: readonly string[];
  /** The part of the query that it answers; only where the query holds several needs (FIND-7). */
  readonly need?: string;
  /** Calls of it need a person's yes (SEC-11). */
  readonly confirm?: ShownConfirm;
  /** Compact signature, when asked for with `includeSchema`. */
  readonly signature?: string;
  /** When asked for with `explain`; absent when nothing was scored. */
  readonly explanation?: Explanation;
}

/** What a search may be narrowed by (FIND-1). */
export interface SearchOptions {
  readonly server?: string;
  readonly limit?: number;
  readonly includeDisabled?: boolean;
  readonly tags?: readonly string[];
  readonly includeSchema?: boolean;
  readonly explain?: boolean;
  /** The most tokens that all signatures together may take (o200k, reckoned on the safe side). */
  readonly schemaTokens?: number;
  /** `_meta` of the asker's request: the trace that the search belongs to. */
  readonly meta?: JsonObject;
  /** The id of the asker's request; the span of the search has it too. */
  readonly traceId?: string;
  /** Which front asks, for the audit log. */
  readonly route?: 'library' | 'mcp' | 'cli' | 'http';
  /** What the host or the program calls itself that searches, for the audit log. */
  readonly hostName?: string;
  /** Shows what an agent would get: leaves no record and does not count as experience. */
  readonly isPreview?: boolean;
  /** Told how many of the servers that the search waits for are learned; never after it was answered. */
  readonly onLearning?: (progress: Progress) => void;
}

/** Hits, and what the asker must know to judge that they are not the whole truth (FIND-5). */
export interface SearchAnswer {
  readonly hits: readonly Hit[];
  /** Up to three addresses that look like the query, given only when there are no hits. */
  readonly nearest: readonly string[];
  /** Servers whose tools are being learned right now. */
  readonly learning: readonly string[];
  /** Servers whose tools are not known, and why. */
  readonly unavailable: ReadonlyArray<{ readonly server: string; readonly reason: string }>;
}
