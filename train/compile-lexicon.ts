import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLexicon, createWordTable } from '../src/search/words/lexicon.js';
import { compileLexicon, readBlocks, writeLexicon } from './lexicon.js';

const say = (...parts: readonly string[]): void => {
  process.stdout.write(`${parts.join(' ')}\n`);
};

const blocks = readBlocks(join(import.meta.dirname, 'lexicon'));
const data = compileLexicon(blocks.map(({ text }) => text));
const bytes = writeLexicon(data);
writeFileSync(join(import.meta.dirname, '..', 'assets', 'lexicon.bin'), bytes);
say(
  `${blocks.length} blocks, ${createLexicon(data).size} concepts, ${createWordTable(data.words).size} words, ${bytes.length} bytes`,
);
