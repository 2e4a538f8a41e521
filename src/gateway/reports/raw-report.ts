import type { Tap } from '../../connect/index.js';
import { toToolscoutError, type ToolscoutError } from '../../kernel/errors.js';
import type { Core } from '../core.js';
import type { Learned } from '../../catalog/learning/pipeline.js';

/** One line between toolscout and a server. */
export interface RawLine {
  /** Milliseconds since the start. */
  readonly at: number;
  /** `server`: a message of a remote server; `note`: what toolscout did. */
  readonly from: Parameters<Tap>[0];
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

/** Lines kept for whoever debugs a server, and characters of each. */
const KEPT_LINES = 2000;
const KEPT_CHARS = 64 * 1024;

/** Discovers a server as always, in a session of its own, and keeps every line. */
export async function discoverRaw(core: Core, id: string): Promise<RawReport> {
  const { clock } = core.deps;
  const server = core.usable(id);
  const began = clock.monotonic();
  const lines: RawLine[] = [];
  let omitted = 0;
  const tap: Tap = (from, text) => {
    if (lines.length >= KEPT_LINES) omitted += 1;
    else lines.push({ at: Math.round(clock.monotonic() - began), from, text: text.slice(0, KEPT_CHARS) });
  };
  await core.learner.ended(id);
  let learned: Learned | undefined;
  let error: ToolscoutError | undefined;
  try {
    learned = await core.learner.learn(server, { tap });
  } catch (thrown) {
    error = toToolscoutError(thrown);
  }
  const names = core.catalog.index.tools(id).map(({ name }) => name);
  return {
    server: id,
    lines: lines.map((line) => ({ ...line, text: core.hide(line.text) })),
    ...(omitted > 0 && { omitted }),
    ...(learned && { learned }),
    ...(error && { error }),
    ...(learned?.fallback && { read: { ...learned.fallback, tools: names } }),
  };
}
