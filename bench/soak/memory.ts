import { readdirSync, readFileSync } from 'node:fs';
import { shareOf } from './load.js';
import type { Caller } from './callers.js';

/** What a process holds at one moment, in MB. */
interface Sample {
  readonly atMs: number;
  readonly rss: number;
  /** What its own metrics say, where it has an HTTP front. */
  readonly heap?: { readonly used: number; readonly total: number; readonly fullCollections: number };
  readonly files: number;
}

/** How a figure went: its slope, and what that makes over the time of its points. */
export interface Trend {
  readonly perHour: number;
  readonly grown: number;
  readonly least: number;
  readonly most: number;
}

/** What a process held while it was watched. */
export interface Holdings {
  /** The least resident memory of each window: between two full collections it swings, and what stays is its floor. */
  readonly rss: Trend;
  /** The least and the most resident memory of all, without warming up. */
  readonly rssRange: readonly [least: number, most: number];
  /** The least used heap of each window: what is alive, without what only waits to be collected. */
  readonly live?: Trend;
  /** What the heap takes, used or not: it swings with collections, and resident memory with it. */
  readonly heapTotal?: Trend;
  readonly fullCollections?: number;
  readonly grownFiles: number;
  /** Looks that failed, such as metrics that did not answer within five seconds. */
  readonly missed: number;
  /** Resident memory in each window from the beginning, warming up included. */
  readonly rssWindows: readonly number[];
}

const SAMPLE_MS = 1000;
const WINDOW_MS = 10_000;
/** Long enough to hold a full collection under load; shorter in runs that would have too few of them. */
const floorWindowMs = (spanMs: number): number => (spanMs >= 300_000 ? 30_000 : WINDOW_MS);
/** The part at the beginning that is warming up: compiled code, caches and the queue of the audit log find their size. */
export const WARM_UP_SHARE = 0.3;

const MB = 1e6;

async function heapOf(url: string): Promise<Sample['heap']> {
  const text = await (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(SAMPLE_MS * 5) })).text();
  const read = (line: RegExp, missing = NaN): number => Number(line.exec(text)?.[1] ?? missing);
  return {
    used: read(/^nodejs_heap_size_used_bytes (\S+)$/m) / MB,
    total: read(/^nodejs_heap_size_total_bytes (\S+)$/m) / MB,
    fullCollections: read(/^nodejs_gc_duration_seconds_count\{kind="major"\} (\S+)$/m, 0),
  };
}

/** Resident memory of a process in MB; Linux only. */
const residentMb = (pid: number): number =>
  (Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024) / MB;

/** The values in windows, each as one. */
function inWindows(
  points: ReadonlyArray<readonly [atMs: number, value: number]>,
  windowMs: number,
  one: (values: readonly number[]) => number,
): Array<readonly [atMs: number, value: number]> {
  const windows = new Map<number, number[]>();
  for (const [at, value] of points) {
    const window = Math.floor(at / windowMs);
    windows.set(window, [...(windows.get(window) ?? []), value]);
  }
  return [...windows].map(([at, inside]) => [at * windowMs, one(inside)]);
}

/** The middle of the slopes between all pairs (Theil and Sen): up to a quarter of the points may be anything. */
function trendOf(points: ReadonlyArray<readonly [atMs: number, value: number]>): Trend {
  const slopes = points.flatMap(([x1, y1], at) => points.slice(at + 1).map(([x2, y2]) => (y2 - y1) / (x2 - x1)));
  const perMs = slopes.length === 0 ? 0 : shareOf(slopes, 0.5);
  const values = points.map(([, value]) => value);
  return {
    perHour: perMs * 3_600_000,
    grown: perMs * ((points.at(-1)?.[0] ?? 0) - (points[0]?.[0] ?? 0)),
    least: Math.min(...values),
    most: Math.max(...values),
  };
}

/** How many files more are open at least in the second half than in the first: connections of the load come and go. */
function grownFiles(samples: readonly Sample[]): number {
  const least = (some: readonly Sample[]): number => Math.min(...some.map(({ files }) => files));
  const half = Math.floor(samples.length / 2);
  return samples.length < 2 ? 0 : least(samples.slice(half)) - least(samples.slice(0, half));
}

const median = (values: readonly number[]): number => shareOf(values, 0.5);
const least = (values: readonly number[]): number => Math.min(...values);

function holdingsOf(all: readonly Sample[], missed: number): Holdings {
  const began = (all.at(-1)?.atMs ?? 0) * WARM_UP_SHARE;
  const warm = all.filter(({ atMs }) => atMs >= began);
  const ofHeap = (key: 'used' | 'total'): Array<readonly [number, number]> =>
    warm.flatMap(({ atMs, heap }) => (heap === undefined ? [] : [[atMs, heap[key]] as const]));
  const rss = (some: readonly Sample[]): Array<readonly [number, number]> => some.map((each) => [each.atMs, each.rss]);
  const windowMs = floorWindowMs(all.at(-1)?.atMs ?? 0);
  const floor = (points: Array<readonly [number, number]>): Trend => trendOf(inWindows(points, windowMs, least));
  const [first, last] = [warm[0]?.heap, warm.at(-1)?.heap];
  return {
    rss: floor(rss(warm)),
    rssRange: [least(warm.map((each) => each.rss)), Math.max(...warm.map((each) => each.rss))],
    ...(first !== undefined &&
      last !== undefined && {
        live: floor(ofHeap('used')),
        heapTotal: trendOf(ofHeap('total')),
        fullCollections: last.fullCollections - first.fullCollections,
      }),
    grownFiles: grownFiles(warm),
    missed,
    rssWindows: inWindows(rss(all), WINDOW_MS, median).map(([, value]) => Math.round(value * 10) / 10),
  };
}

/** Looks at a process every second until it is told to stop. */
export function watch({ pid, url }: Caller): { stop(): Holdings } {
  const samples: Sample[] = [];
  const began = performance.now();
  let missed = 0;
  const look = async (): Promise<void> => {
    const heap = url === undefined ? undefined : await heapOf(url);
    const files = readdirSync(`/proc/${pid}/fd`).length;
    samples.push({ atMs: performance.now() - began, rss: residentMb(pid), files, ...(heap && { heap }) });
  };
  const timer = setInterval(() => void look().catch(() => missed++), SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      return holdingsOf(samples, missed);
    },
  };
}
