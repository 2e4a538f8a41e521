/** A value with its labels. */
export interface PrometheusSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What a scrape says. */
export interface Scrape {
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly PrometheusSample[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SUFFIXES: Record<string, readonly string[]> = {
  histogram: ['_bucket', '_sum', '_count'],
  counter: [''],
  gauge: [''],
};

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = Object.create(null) as Record<string, string>;
  let rest = text;
  while (rest !== '') {
    const found = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(,|$)/.exec(rest);
    if (!found) throw new Error(`These are no labels: ${rest}`);
    const [whole, name = '', value = ''] = found;
    if (name in labels) throw new Error(`The label ${name} stands there twice`);
    labels[name] = value.replaceAll(/\\([\\n"])/g, (_, sign: string) => (sign === 'n' ? '\n' : sign));
    rest = rest.slice(whole.length);
  }
  return labels;
}

/** Reads the text format of Prometheus as strictly as it is written down; throws at whatever is not in it. */
export function readPrometheus(text: string): Scrape {
  if (!text.endsWith('\n')) throw new Error('The last line does not end');
  const types = new Map<string, string>();
  const samples: PrometheusSample[] = [];
  const seen = new Set<string>();
  for (const line of text.slice(0, -1).split('\n')) {
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line);
    if (type) {
      if (types.has(type[1]!)) throw new Error(`${type[1]} has two types`);
      types.set(type[1]!, type[2]!);
      continue;
    }
    if (/^# HELP \S+ (?:[^\\]|\\[\\n])+$/.test(line)) continue;
    const sample = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|NaN)$/s.exec(line);
    if (!sample || !NAME.test(sample[1]!)) throw new Error(`This is no sample: ${JSON.stringify(line)}`);
    const [, name = '', labels = '', value = ''] = sample;
    const family = [...types].find(([known, kind]) => SUFFIXES[kind]!.some((suffix) => name === known + suffix));
    if (!family) throw new Error(`${name} has no type`);
    if (seen.has(`${name}{${labels}}`)) throw new Error(`${name}{${labels}} stands there twice`);
    seen.add(`${name}{${labels}}`);
    samples.push({ name, labels: readLabels(labels), value: Number(value) });
  }
  for (const { name, labels, value } of samples) {
    if (!name.endsWith('_bucket') || labels['le'] !== '+Inf') continue;
    const same = (other: PrometheusSample): boolean =>
      other.name === name.replace(/_bucket$/, '_count') &&
      Object.entries(other.labels).every(([key, held]) => labels[key] === held);
    if (samples.find(same)?.value !== value) throw new Error(`${name} does not add up`);
  }
  return { types, samples };
}
