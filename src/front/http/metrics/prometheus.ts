/** One measured value with its labels. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Something that only grows. */
export interface Counter {
  add(labels: Readonly<Record<string, string>>, by?: number): void;
}

/** How values are distributed. */
export interface Histogram {
  observe(labels: Readonly<Record<string, string>>, value: number): void;
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

function shown(labels: Readonly<Record<string, string>>, more = ''): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(value)}"`);
  if (more !== '') pairs.push(more);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

interface Series<Value> {
  readonly labels: Readonly<Record<string, string>>;
  value: Value;
}

function createSeries<Value>(start: () => Value): {
  of(labels: Readonly<Record<string, string>>): Series<Value>;
  all(): Iterable<Series<Value>>;
} {
  const known = new Map<string, Series<Value>>();
  // Labels that are the same object again need not be written out to be found.
  const recent = new WeakMap<object, Series<Value>>();
  return {
    all: () => known.values(),
    of(labels) {
      const found = recent.get(labels) ?? known.get(shown(labels));
      if (found) return found;
      const isFull = known.size >= MAX_SERIES;
      const kept = isFull ? Object.fromEntries(Object.keys(labels).map((name) => [name, 'other'])) : labels;
      const series = known.get(shown(kept)) ?? { labels: kept, value: start() };
      known.set(shown(kept), series);
      recent.set(labels, series);
      return series;
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
      const series = createSeries(() => 0);
      writers.push(() => [
        ...head(name, help, 'counter'),
        ...[...series.all()].map(({ labels, value }) => `${name}${shown(labels)} ${value}`),
      ]);
      return {
        add(labels, by = 1) {
          series.of(labels).value += by;
        },
      };
    },
    histogram(name, help, bounds) {
      const series = createSeries(() => ({ counts: bounds.map(() => 0), count: 0, sum: 0 }));
      writers.push(() => [
        ...head(name, help, 'histogram'),
        ...[...series.all()].flatMap(({ labels, value: { counts, count, sum } }) => [
          ...bounds.map((bound, at) => `${name}_bucket${shown(labels, `le="${bound}"`)} ${counts[at]}`),
          `${name}_bucket${shown(labels, 'le="+Inf"')} ${count}`,
          `${name}_sum${shown(labels)} ${sum}`,
          `${name}_count${shown(labels)} ${count}`,
        ]),
      ]);
      return {
        observe(labels, value) {
          const { value: held } = series.of(labels);
          held.count += 1;
          held.sum += value;
          for (const [at, bound] of bounds.entries()) if (value <= bound) held.counts[at]! += 1;
        },
      };
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
