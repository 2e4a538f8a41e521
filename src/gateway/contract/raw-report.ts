import { type ToolscoutError } from '../../kernel/errors.js';
import type { Learned } from '../../catalog/learning/pipeline.js';

/** One line between toolscout and a server. */
export interface RawLine {
  /** Since the start. */
  readonly atMs: number;
  /** `server`: a message of a remote server; `note`: what toolscout did. */
  readonly from: 'us' | 'server' | 'stdout' | 'stderr' | 'note';
  readonly text: string;
}

/** A discovery with everything that was said in it, for people who debug a server (DISC-7). */
export interface RawReport {
  readonly server: string;
  readonly lines: readonly RawLine[];
  /** Lines that were said and are not in `lines`. */
  readonly omitted?: number;
  /** What was learned, as any other discovery learns it. */
  readonly learned?: Learned;
  /** Why nothing was learned. */
  readonly error?: ToolscoutError;
  /** What a fallback found when the server did not list its tools after a handshake. */
  readonly read?: NonNullable<Learned['fallback']> & { readonly tools: readonly string[] };
}
