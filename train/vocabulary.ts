import { createAnalyzer, isStopWord, splitSentence, splitWords } from '../src/search/text/analysis.js';
import type { Pair } from './contrast.js';
import type { CorpusTool } from './corpus.js';
import type { Embeddings } from './embeddings.js';

/** The terms that get a vector, and the vectors they begin with. */
export interface Terms {
  readonly list: readonly string[];
  readonly number: ReadonlyMap<string, number>;
  /** The mean of the embeddings of a term's words, as long as the term says much; zero for a term without any. */
  readonly given: Float32Array;
  /** Terms that stand in tools, and terms that have embeddings. */
  readonly used: number;
  readonly known: number;
}

const analyzer = createAnalyzer();

/** Tools that must use a term without an embedding before it can learn one. */
const MIN_USES = 4;

/** A term that fewer tools use than this says no more than one that so many use. */
const RAREST = 8;

/** Each tool once: copies of one text would be held against themselves. */
export function distinctTools(tools: readonly CorpusTool[]): CorpusTool[] {
  const kept = new Map<string, CorpusTool>();
  for (const tool of tools) {
    const key = `${splitWords(tool.name).join(' ')}\n${splitWords(tool.description).slice(0, 40).join(' ')}`;
    if (!kept.has(key)) kept.set(key, tool);
  }
  return [...kept.values()];
}

/** Chooses the terms: first those that tools use, by how many do, then the most frequent of the embeddings. */
export function chooseTerms(tools: readonly CorpusTool[], embeddings: Embeddings, most: number): Terms {
  const uses = new Map<string, number>();
  const surfaces = new Map<string, Map<string, number>>();
  for (const { name, description, parameters } of tools) {
    const words = [...splitWords(name), ...splitSentence(description), ...splitSentence(parameters)];
    const terms = new Set<string>();
    for (const word of words) {
      if (isStopWord(word)) continue;
      const term = termOf(word);
      terms.add(term);
      const counts = surfaces.get(term) ?? new Map<string, number>();
      counts.set(word, (counts.get(word) ?? 0) + 1);
      surfaces.set(term, counts);
    }
    for (const term of terms) uses.set(term, (uses.get(term) ?? 0) + 1);
  }

  const frequent = new Map<string, string[]>();
  for (const word of embeddings.words) {
    if (!/^[a-z]{2,24}$/.test(word) || isStopWord(word)) continue;
    const term = termOf(word);
    const words = frequent.get(term) ?? [];
    if (words.length < 4) words.push(word);
    frequent.set(term, words);
  }

  const list = [...uses]
    .filter(([term, count]) => count >= (frequent.has(term) ? 2 : MIN_USES) && !/^\d+$/.test(term))
    .toSorted(([a, first], [b, second]) => second - first || (a < b ? -1 : 1))
    .map(([term]) => term)
    .slice(0, most);
  const chosen = new Set(list);
  for (const term of frequent.keys()) {
    if (chosen.size >= most) break;
    if (chosen.has(term)) continue;
    chosen.add(term);
    list.push(term);
  }

  const { dimension } = embeddings;
  const given = new Float32Array(list.length * dimension);
  let known = 0;
  for (const [number, term] of list.entries()) {
    const weights = new Map<string, number>(surfaces.get(term));
    for (const word of frequent.get(term) ?? []) weights.set(word, (weights.get(word) ?? 0) + 1);
    const mean = new Float64Array(dimension);
    for (const [word, weight] of weights) {
      const vector = Object.hasOwn(embeddings.vectors, word) ? embeddings.vectors[word]! : [];
      const length = Math.hypot(...vector.slice(0, dimension));
      if (length === 0) continue;
      for (let i = 0; i < dimension; i++) mean[i] = mean[i]! + (weight * vector[i]!) / length;
    }
    const length = Math.hypot(...mean);
    if (length === 0) continue;
    known++;
    const says = rarity(uses.get(term) ?? 0, tools.length);
    for (let i = 0; i < dimension; i++) given[number * dimension + i] = (says * mean[i]!) / length;
  }
  return { list, number: new Map(list.map((term, i) => [term, i])), given, used: uses.size, known };
}

/** The pairs of a tool: name and description, first sentence and the rest. */
export function makePairs(tools: readonly CorpusTool[], terms: Terms): Pair[] {
  const kinds = new Map<string, number>();
  const numbersOf = (found: readonly string[]): Int32Array =>
    Int32Array.from(new Set(found.map((term) => terms.number.get(term)).filter((number) => number !== undefined)));
  return tools.flatMap(({ name, description, parameters }) => {
    const nameTerms = analyzer.nameTerms(name);
    const key = nameTerms.join(' ');
    const kind = kinds.get(key) ?? kinds.size;
    kinds.set(key, kind);
    const text = description.slice(0, 600);
    const first = /^[\s\S]*?[.!?。\n](?=\s|$)/.exec(text)?.[0] ?? text;
    const rest = `${text.slice(first.length)} ${parameters.slice(0, 400)}`;
    const pairs = [
      { left: numbersOf(nameTerms), right: numbersOf(analyzer.terms(text)), kind },
      { left: numbersOf(analyzer.terms(first)), right: numbersOf([...nameTerms, ...analyzer.terms(rest)]), kind },
    ];
    return pairs.filter(({ left, right }) => left.length > 0 && right.length > 1);
  });
}

function rarity(uses: number, size: number): number {
  return Math.log(1 + size / Math.max(uses, RAREST)) / Math.log(1 + size / RAREST);
}

function termOf(word: string): string {
  return analyzer.nameTerms(word)[0] ?? word;
}
