import { readdir, readFile } from 'node:fs/promises';
import {
  constants,
  monitorEventLoopDelay,
  performance,
  PerformanceObserver,
  type IntervalHistogram,
} from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import type { Clock } from '../../../kernel/clock.js';
import type { Histogram, Measurements, Reading, Sample } from './prometheus.js';

/** How often the delay of the event loop is measured; what is measured holds this time too. */
const EVERY_MS = 50;
const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;

const GC_BOUNDS = [0.001, 0.01, 0.1, 1, 2, 5];
const GC_KINDS: ReadonlyMap<unknown, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

function watchCollections(collections: Histogram): void {
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { duration, detail } = entry as typeof entry & { readonly detail?: { readonly kind?: number } };
      const kind = GC_KINDS.get(detail?.kind);
      if (kind !== undefined) collections.of({ kind }).observe(duration / 1000);
    }
  }).observe({ entryTypes: ['gc'] });
}

const one = (value: number): Sample[] => [{ value }];

/** Files that the process has open, and may have; where there is no such folder nothing is known. */
async function fileReadings(): Promise<Reading[]> {
  const [open, limits] = await Promise.all([
    readdir('/proc/self/fd').catch(() => undefined),
    readFile('/proc/self/limits', 'utf8').catch(() => ''),
  ]);
  const most = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  const readings: Reading[] = [];
  if (open) readings.push(['process_open_fds', 'Open file descriptors.', one(open.length)]);
  if (most !== undefined) readings.push(['process_max_fds', 'Limit of open file descriptors.', one(Number(most))]);
  return readings;
}

function delayReadings(delay: IntervalHistogram): Reading[] {
  // A loop that was not measured yet has no mean.
  const seconds = (nanoseconds: number): Sample[] =>
    one(Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / NANOSECONDS - EVERY_MS / 1000) : 0);
  const about = (what: string): string => `${what} delay of the event loop since the last scrape.`;
  return [
    ['nodejs_eventloop_lag_mean_seconds', about('Mean'), seconds(delay.mean)],
    ['nodejs_eventloop_lag_max_seconds', about('Longest'), seconds(delay.count === 0 ? 0 : delay.max)],
    ['nodejs_eventloop_lag_p50_seconds', about('Median'), seconds(delay.percentile(50))],
    ['nodejs_eventloop_lag_p90_seconds', about('90th percentile of the'), seconds(delay.percentile(90))],
    ['nodejs_eventloop_lag_p99_seconds', about('99th percentile of the'), seconds(delay.percentile(99))],
  ];
}

function memoryReadings(): Reading[] {
  const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
  const spaces = getHeapSpaceStatistics().map(({ space_name: name, space_used_size: value }) => ({
    labels: { space: name.replace(/_space$/, '') },
    value,
  }));
  return [
    ['process_resident_memory_bytes', 'Resident memory.', one(rss)],
    ['nodejs_heap_size_total_bytes', 'Size of the heap.', one(heapTotal)],
    ['nodejs_heap_size_used_bytes', 'Used part of the heap.', one(heapUsed)],
    ['nodejs_external_memory_bytes', 'Memory outside of the heap.', one(external)],
    ['nodejs_heap_space_size_used_bytes', 'Used part of the heap, by space.', spaces],
  ];
}

/**
 * Readings of the process itself, under the names that Prometheus clients use. What must be watched to be known (collections,
 * the event loop) is watched from the first scrape on: without one it costs nothing.
 */
export function createProcessReadings(measured: Measurements, clock: Clock): () => Promise<Reading[]> {
  const startedAt = clock.now() / 1000 - process.uptime();
  const collections = measured.histogram('nodejs_gc_duration_seconds', 'Garbage collections, by kind.', GC_BOUNDS);
  let delay: IntervalHistogram | undefined;
  const watch = (): IntervalHistogram => {
    watchCollections(collections);
    const watched = monitorEventLoopDelay({ resolution: EVERY_MS });
    watched.enable();
    return watched;
  };
  return async () => {
    delay ??= watch();
    const { user, system } = process.cpuUsage();
    const { utilization } = performance.eventLoopUtilization();
    const readings: Reading[] = [
      ['process_cpu_user_seconds_total', 'User CPU time.', one(user / MICROSECONDS), 'counter'],
      ['process_cpu_system_seconds_total', 'System CPU time.', one(system / MICROSECONDS), 'counter'],
      ['process_cpu_seconds_total', 'User and system CPU time.', one((user + system) / MICROSECONDS), 'counter'],
      ['process_start_time_seconds', 'Start of the process, in seconds since 1970.', one(startedAt)],
      ...(await fileReadings()),
      ...memoryReadings(),
      ...delayReadings(delay),
      ['nodejs_eventloop_utilization', 'Share of the time in which the event loop was busy.', one(utilization)],
      ['nodejs_version_info', 'The version of Node.js.', [{ labels: { version: process.version }, value: 1 }]],
    ];
    delay.reset();
    return readings;
  };
}
