import { messageOf } from '../kernel/errors.js';
import { readAsset } from '../kernel/package-file.js';
import { readModel } from './rank/model.js';
import type { RankingModel } from './rank/rank.js';
import { readVectors, type WordVectors } from './words/vector-file.js';
import { readLexicon } from './words/lexicon-data.js';
import { createLexicon, type Lexicon } from './words/lexicon.js';

/** What search knows beside the words of the tools: files of the package. It works without any of them. */
export interface Knowledge {
  readonly vectors?: WordVectors;
  readonly lexicon?: Lexicon;
  readonly model?: RankingModel;
}

/** Where an index gets its knowledge from, when it is first needed. */
export type KnowledgeSource = () => Knowledge;

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
