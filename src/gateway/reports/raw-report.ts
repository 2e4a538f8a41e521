import type { RawLine, RawReport } from '../contract/raw-report.js';
import type { Tap } from '../../connect/index.js';
import { toToolscoutError, type ToolscoutError } from '../../kernel/errors.js';
import type { Core } from '../core.js';
import type { Learned } from '../../catalog/learning/pipeline.js';

/** Lines kept for debugging a server, and characters of each. */
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
    else lines.push({ atMs: Math.round(clock.monotonic() - began), from, text: text.slice(0, KEPT_CHARS) });
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
