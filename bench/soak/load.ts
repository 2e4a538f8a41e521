import { setTimeout as delay } from 'node:timers/promises';
import { quantile } from '../support/report.js';
import type { Caller } from './callers.js';

/** What calls at a steady rate showed. */
export interface LoadReport {
  readonly calls: number;
  readonly errors: number;
  /** One of the errors. */
  readonly error?: string;
  /** Calls that were sent, by the time in which they were due. */
  readonly callsPerSecond: number;
  /** The most calls that waited for their answer at once. */
  readonly mostInFlight: number;
  /** How late the client itself sent: the part of each latency that is not the server's. */
  readonly lateP95Ms: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** The 95th percentile of each window, in order: an average over all of them hides a bad minute. */
  readonly windowsP95Ms: readonly number[];
}

/** Latencies of calls at a steady rate, whole: those of ten minutes are a few million numbers. */
export interface Measured {
  readonly report: LoadReport;
  readonly latencies: readonly number[];
}

const WINDOW_MS = 30_000;
/** Calls that wait at once: with more of them the server has fallen behind for good, and the run ends. */
const MOST_IN_FLIGHT = 20_000;

const sorted = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => a - b);

/** The value below which the share `q` of some numbers lies. */
export const shareOf = (numbers: readonly number[], q: number): number => quantile(sorted(numbers), q);

/** So many calls at once, each followed by the next: calls a second. */
export async function closedLoop({ call }: Caller, inFlight: number, ms: number): Promise<number> {
  const began = performance.now();
  let calls = 0;
  const work = async (): Promise<void> => {
    while (performance.now() - began < ms) {
      await call();
      calls++;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  return (calls * 1000) / (performance.now() - began);
}

/** How often calls that are due are sent. */
const TICK_MS = 2;

/** So many calls a second whatever becomes of them; a latency counts from the moment at which the call was due. */
export async function openLoop({ call }: Caller, perSecond: number, ms: number): Promise<Measured> {
  const latencies: number[] = [];
  const late: number[] = [];
  const windows: number[][] = Array.from({ length: Math.ceil(ms / WINDOW_MS) }, () => []);
  const running = new Set<Promise<void>>();
  let [calls, errors, mostInFlight] = [0, 0, 0];
  let error: string | undefined;
  const began = performance.now();
  const send = async (dueAt: number): Promise<void> => {
    late.push(performance.now() - dueAt);
    try {
      await call();
      const took = performance.now() - dueAt;
      latencies.push(took);
      windows[Math.floor((dueAt - began) / WINDOW_MS)]?.push(took);
    } catch (thrown) {
      errors++;
      error ??= String(thrown);
    }
  };
  for (let elapsed = 0; elapsed < ms; elapsed = performance.now() - began) {
    const due = Math.floor((elapsed / 1000) * perSecond);
    for (; calls < due; calls++) {
      const each = send(began + (calls * 1000) / perSecond).finally(() => running.delete(each));
      running.add(each);
    }
    mostInFlight = Math.max(mostInFlight, running.size);
    if (running.size > MOST_IN_FLIGHT) throw new Error(`${running.size} calls wait: ${perSecond}/s is too much.`);
    await delay(TICK_MS);
  }
  const callsPerSecond = (calls * 1000) / (performance.now() - began);
  await Promise.all(running);
  const all = sorted(latencies);
  const report: LoadReport = {
    calls,
    errors,
    ...(error !== undefined && { error }),
    callsPerSecond,
    mostInFlight,
    lateP95Ms: shareOf(late, 0.95),
    p50Ms: quantile(all, 0.5),
    p95Ms: quantile(all, 0.95),
    p99Ms: quantile(all, 0.99),
    windowsP95Ms: windows.filter((each) => each.length > 0).map((each) => shareOf(each, 0.95)),
  };
  return { report, latencies };
}
