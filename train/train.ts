import { trainByContrast, type Settings } from './contrast.js';
import type { Source } from './corpus.js';
import type { Embeddings } from './embeddings.js';
import { writeVectors } from './format.js';
import { principalMap } from './principal.js';
import { chooseTerms, distinctTools, makePairs } from './vocabulary.js';

/** What the shipped file was made with. */
export const SETTINGS: Settings = {
  epochs: 4,
  batch: 128,
  temperature: 0.07,
  mapRate: 0.002,
  termRate: 0.006,
  seed: 7,
};

/** Everything after reading: terms, pairs, training, bytes. The same input gives the same bytes. */
export function trainVectors(
  embeddings: Embeddings,
  sources: readonly Source[],
  words: number,
  dimension: number,
  settings: Settings,
  say: (line: string) => void,
): Uint8Array {
  const tools = distinctTools(sources.flatMap((source) => source.tools));
  const terms = chooseTerms(tools, embeddings, words);
  const pairs = makePairs(tools, terms);
  say(`tools        ${tools.length} distinct, ${pairs.length} pairs`);
  say(`vocabulary   ${terms.list.length} terms, ${terms.known} with embeddings; the tools use ${terms.used}`);
  const map = principalMap(terms.given, embeddings.dimension, dimension);
  const vectors = trainByContrast(terms.given, map, pairs, embeddings.dimension, dimension, settings, (epoch, loss) =>
    say(`epoch ${epoch + 1}/${settings.epochs}    loss ${loss.toFixed(4)}`),
  );
  return writeVectors(terms.list, vectors, dimension);
}
