import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FRESH, listSets } from '../bench/retrieval/sets.js';
import { readAsset } from '../src/kernel/package-file.js';
import { FEATURES } from '../src/search/rank/rank.js';
import { MODEL_VERSION } from '../src/search/rank/model.js';
import { readVectors } from '../src/search/words/vector-file.js';
import { createLexicon } from '../src/search/words/lexicon.js';
import { compileLexicon, readBlocks } from './lexicon.js';
import { FAMILIES, readExamples, type ExampleSet } from './ranking/examples.js';
import { learnFromAll, leaveOneOut, mean, type LeftOut } from './ranking/leave-one-out.js';
import type { Settings } from './ranking/learn.js';

const say = (...parts: readonly string[]): void => {
  process.stdout.write(`${parts.join(' ')}\n`);
};

/** What the shipped weights were learned with: chosen by the left-out sets, with both halves of their servers in sight. */
const SETTINGS: Settings = {
  seed: 7,
  mostQueries: 300,
  mostTools: 50,
  evenness: 0.5,
  steps: 120,
  rate: 0.1,
  decay: 0.3,
};

const points = (value: number): string => (100 * value).toFixed(1).padStart(6);

function print(title: string, judged: readonly LeftOut[]): void {
  say(`\n${title}`);
  // The fresh intents are learned from for what ships and shown, and stay out of the mean, which is that of the same seven sets as ever.
  const results = judged.filter(({ set }) => set !== FRESH);
  for (const { set, before, all, halves } of judged) {
    say(`${set.padEnd(16)} signals ${points(before)}  learned ${points(all)}  halves ${halves.map(points).join(' ')}`);
  }
  const column = (read: (one: LeftOut) => number): string => points(mean(results.map(read)));
  say(
    `${'mean'.padEnd(16)} signals ${column(({ before }) => before)}  learned ${column(({ all }) => all)}  halves ${column(({ halves }) => halves[0])} ${column(({ halves }) => halves[1])}`,
  );
}

const flags = process.argv.slice(2);
const { present } = listSets([]);
const names = Object.keys(FAMILIES).filter((name) => name === FRESH || present.includes(name));
if (names.length < 3) {
  say('The labelled sets are not here: nothing is learned, and the weights stay as they are.');
} else {
  const vectors = readVectors(readAsset('words.bin')!);
  const last = flags.find((flag) => flag.startsWith('--blocks='))?.slice('--blocks='.length);
  const blocks = readBlocks(join(import.meta.dirname, 'lexicon')).filter(
    ({ name }) => last === undefined || name <= last,
  );
  const lexicon = blocks.length === 0 ? undefined : createLexicon(compileLexicon(blocks.map(({ text }) => text)));
  say(`lexicon: ${blocks.length} blocks, ${lexicon?.size ?? 0} concepts`);
  const sets: ExampleSet[] = [];
  for (const name of names) sets.push(await readExamples(name, { vectors, lexicon }));
  if (!flags.includes('--signals')) print('Leave one set out, nDCG@10', leaveOneOut(sets, SETTINGS));
  else {
    const before = sets.map(({ name, examples }) => ({ name, value: mean(examples.map((one) => one.before)) }));
    say(
      before.map(({ name, value }) => `${name} ${points(value)}`).join('  '),
      'mean',
      points(mean(before.map(({ value }) => value))),
    );
  }
  if (flags.includes('--write')) {
    const learned = learnFromAll(sets, SETTINGS);
    const weights = Object.fromEntries(FEATURES.map(({ name }, i) => [name, Number(learned[i]!.toPrecision(4))]));
    const file = `${JSON.stringify({ version: MODEL_VERSION, weights }, undefined, 2)}\n`;
    writeFileSync(join(import.meta.dirname, '..', 'assets', 'ranking.json'), file);
    say(file);
  }
}
