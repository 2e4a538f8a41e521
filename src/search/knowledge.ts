import { readFileSync } from 'node:fs';
import { messageOf } from '../kernel/errors.js';
import { readModel, type RankingModel } from './rank/model.js';
import { readVectors, type WordVectors } from './rank/vectors.js';
import { createLexicon, readLexicon, type Lexicon } from './words/lexicon.js';

/** What search knows beside the words of the tools: files of the package. It works without any of them. */
export interface Knowledge {
  readonly vectors?: WordVectors;
  readonly lexicon?: Lexicon;
  readonly model?: RankingModel;
}

/** Where an index gets its knowledge from, when it is first needed. */
export type KnowledgeSource = () => Knowledge;

/**
 * Where a file lies, seen from `dist/*.js`, and from `dist/chunks/*.js` or the source. The nearer place
 * comes first: the farther one, seen from `dist/*.js`, is outside the package.
 */
const PLACES: readonly string[] = ['../assets/', '../../assets/'];

/** A file of the package; `undefined` when it is not there. */
export function readAsset(name: string): Uint8Array | undefined {
  for (const place of PLACES) {
    try {
      return readFileSync(new URL(`${place}${name}`, import.meta.url));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return undefined;
}

/** Reads the shipped files when they are first wanted, and once; what is missing or damaged is said, and done without. */
export function createKnowledgeSource(onMissing: (reason: string) => void): KnowledgeSource {
  let known: Knowledge | undefined;
  const read = <T>(name: string, parse: (bytes: Uint8Array) => T): T | undefined => {
    try {
      const bytes = readAsset(name);
      if (!bytes) onMissing(`the file ${name} is not there`);
      return bytes && parse(bytes);
    } catch (thrown) {
      onMissing(messageOf(thrown));
      return undefined;
    }
  };
  return () =>
    (known ??= {
      vectors: read('words.bin', readVectors),
      lexicon: read('lexicon.bin', (bytes) => createLexicon(readLexicon(bytes))),
      model: read('ranking.json', readModel),
    });
}
