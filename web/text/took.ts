import { isUnreached } from './code-words.js';
import { formatDuration } from './format.js';

/** How long something took without the time in which a person or a host was asked; `undefined` when it is not known. */
export function workedMs(wholeMs: number | undefined, askedMs = 0): number | undefined {
  return wholeMs === undefined ? undefined : Math.max(0, wholeMs - askedMs);
}

/** The same as text: what is compared when the slowest is looked for. Empty when it is not known. */
export function workedText(wholeMs: number | undefined, askedMs?: number): string {
  const ms = workedMs(wholeMs, askedMs);
  return ms === undefined ? '' : formatDuration(ms);
}

/** The wait for a person, or for the host that answers in their place, as part of a line; `undefined` when there was none. */
export function askedText(askedMs: number | undefined): string | undefined {
  return askedMs === undefined || askedMs <= 0
    ? undefined
    : `waited ${formatDuration(askedMs)} for a person or the host`;
}

/** Compares by the time without waits for an answer, the slowest first. */
export function bySlowest<T>(timesOf: (item: T) => readonly [whole?: number, asked?: number]): (a: T, b: T) => number {
  const worked = (item: T): number => workedMs(...timesOf(item)) ?? 0;
  return (a, b) => worked(b) - worked(a);
}

/** Shorter calls need no reason. */
const LONG_MS = 1000;

/** What the time of a call went to, as far as it is known; `undefined` where there is nothing to say. */
export function spentText(call: {
  readonly outcome: string;
  readonly code?: string | undefined;
  readonly latencyMs?: number | undefined;
  readonly connectMs?: number | undefined;
  readonly waitedMs?: number | undefined;
  readonly askedMs?: number | undefined;
}): string | undefined {
  const { outcome, code, connectMs, waitedMs } = call;
  // The wait for a person is told apart, and is no time of the server.
  const latencyMs = workedMs(call.latencyMs, call.askedMs) ?? 0;
  if (isUnreached(code)) return latencyMs >= LONG_MS ? 'spent on reaching the server' : undefined;
  const isAnswered = outcome === 'success' || code === 'TOOL_EXECUTION_ERROR' || code === 'TOOL_EXECUTION_TIMEOUT';
  const isServer = isAnswered && waitedMs === undefined && latencyMs - (connectMs ?? 0) >= LONG_MS;
  if (connectMs === undefined) return isServer ? 'waiting for the answer of the server' : undefined;
  const connecting = `${formatDuration(connectMs)} of it connecting to the server`;
  return isServer ? `${connecting}, the rest waiting for its answer` : connecting;
}
