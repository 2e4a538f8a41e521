import { Distribution } from '../../../kernel/distribution.js';

/** One measured value with its labels. */
export interface Sample {
  readonly labels?: Labels;
  readonly value: number;
}

/** The labels of one measured value. */
export type Labels = Readonly<Record<string, string>>;

/** Something that only grows: whoever counts adds to the value of its labels. */
export interface Counter {
  of(labels: Labels): { value: number };
}

/** How values are distributed, for each set of labels. */
export interface Histogram {
  of(labels: Labels): Distribution;
}

/** A value of the moment with its name; a gauge unless it says that it only grows. */
export type Reading = readonly [name: string, help: string, samples: readonly Sample[], type?: 'gauge' | 'counter'];

/** Measurements in the text format of Prometheus. */
export interface Measurements {
  counter(name: string, help: string): Counter;
  histogram(name: string, help: string, bounds: readonly number[]): Histogram;
  /** Everything counted so far, and these values of the moment. */
  text(values: readonly Reading[]): string;
}

/** Label sets of one metric; what comes after is counted under `other`, so that nothing grows without end. */
const MAX_SERIES = 2000;

const escape = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

function shown(labels: Labels, more = ''): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(value)}"`);
  if (more !== '') pairs.push(more);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

interface Series<Measured> {
  readonly labels: Labels;
  readonly measured: Measured;
}

function createSeries<Measured>(start: () => Measured): {
  of(labels: Labels): Measured;
  all(): Iterable<Series<Measured>>;
} {
  const known = new Map<string, Series<Measured>>();
  return {
    all: () => known.values(),
    of(labels) {
      const found = known.get(shown(labels));
      if (found) return found.measured;
      const isFull = known.size >= MAX_SERIES;
      const kept = isFull ? Object.fromEntries(Object.keys(labels).map((name) => [name, 'other'])) : labels;
      const series = known.get(shown(kept)) ?? { labels: kept, measured: start() };
      known.set(shown(kept), series);
      return series.measured;
    },
  };
}

/** Nothing measured yet. */
export function createMeasurements(): Measurements {
  const writers: Array<() => string[]> = [];
  const head = (name: string, help: string, type: string): string[] => [
    `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
    `# TYPE ${name} ${type}`,
  ];
  return {
    counter(name, help) {
      const series = createSeries(() => ({ value: 0 }));
      writers.push(() => [
        ...head(name, help, 'counter'),
        ...[...series.all()].map(({ labels, measured: { value } }) => `${name}${shown(labels)} ${value}`),
      ]);
      return series;
    },
    histogram(name, help, bounds) {
      const series = createSeries(() => new Distribution(bounds));
      writers.push(() => [
        ...head(name, help, 'histogram'),
        ...[...series.all()].flatMap(({ labels, measured: { counts, count, sum } }) => [
          ...bounds.map((bound, at) => `${name}_bucket${shown(labels, `le="${bound}"`)} ${counts[at]}`),
          `${name}_bucket${shown(labels, 'le="+Inf"')} ${count}`,
          `${name}_sum${shown(labels)} ${sum}`,
          `${name}_count${shown(labels)} ${count}`,
        ]),
      ]);
      return series;
    },
    text(values) {
      const now = values.flatMap(([name, help, samples, type = 'gauge']) => [
        ...head(name, help, type),
        ...samples.map(({ labels = {}, value }) => `${name}${shown(labels)} ${value}`),
      ]);
      return `${[...writers.flatMap((write) => write()), ...now].join('\n')}\n`;
    },
  };
}
