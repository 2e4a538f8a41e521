// Fits the prices of src/kernel/token-prices.ts on half A of the corpus; half B is never read here. The same seed gives the same prices.
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { TOKEN_PRICES } from '../src/kernel/token-prices.js';
import { estimateTokens } from '../src/kernel/tokens.js';
import { readTokenCorpus } from '../test/support/token-corpus.js';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const SEED = 20261117;
/** Texts of one kind: no kind outweighs another, and a round takes seconds. */
const TEXTS = 120;
const ROUNDS = 12;

let state = SEED;
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((item) => [random(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item);
}

interface Fitted {
  readonly text: string;
  readonly tokens: number;
}

const kinds = new Map<string, Fitted[]>();
for (const { kind, half, text } of shuffled(readTokenCorpus())) {
  const texts = kinds.get(kind) ?? [];
  kinds.set(kind, texts);
  if (half !== 'A' || texts.length >= TEXTS) continue;
  texts.push({ text, tokens: countTokens(text, { disallowedSpecial: new Set() }) });
}

/** The mean over kinds of how far off a text is, the worst twentieth counted again. */
function loss(): number {
  const losses = [...kinds.values()]
    .filter((texts) => texts.length > 0)
    .map((texts) => {
      const errors = texts.map(({ text, tokens }) => Math.abs(Math.log(estimateTokens(text) / tokens)));
      errors.sort((a, b) => a - b);
      const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
      return mean + 0.3 * errors[Math.floor(0.95 * (errors.length - 1))]!;
    });
  return losses.reduce((sum, each) => sum + each, 0) / losses.length;
}

const prices = TOKEN_PRICES as unknown as Record<string, number | number[]>;
const before = structuredClone(prices);
/** Every single price, with how it is read and written. */
const knobs = Object.entries(prices).flatMap(([name, price]) =>
  typeof price === 'number'
    ? [{ get: () => prices[name] as number, set: (value: number) => (prices[name] = value) }]
    : price.slice(1).map((_, at) => ({ get: () => price[at + 1]!, set: (value: number) => (price[at + 1] = value) })),
);
const start = loss();
let best = start;
for (let round = 0; round < ROUNDS; round++) {
  const step = 0.12 * 0.75 ** round;
  for (const { get, set } of shuffled(knobs)) {
    const was = get();
    for (const value of [was * (1 + step), was * (1 - step)]) {
      set(value);
      const now = loss();
      if (now < best - 1e-6) {
        best = now;
        break;
      }
      set(was);
    }
  }
  print(`round ${round + 1}: ${best.toFixed(4)}`);
}
const round3 = (value: number): number => Math.round(value * 1000) / 1000;
for (const [name, price] of Object.entries(prices)) {
  const shown = (value: number | number[] | undefined): string =>
    JSON.stringify(value, (_, each: unknown) => (typeof each === 'number' ? round3(each) : each));
  print(`${name.padEnd(20)} ${shown(before[name]).padEnd(28)} ${shown(price)}`);
}
print(JSON.stringify({ seed: SEED, before: round3(start), after: round3(best) }));
