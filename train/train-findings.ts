import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ALL_FEATURES, FEATURE_COUNT, nameFeature } from '../src/approvals/findings/windows.js';
import { packWords } from '../src/approvals/findings/wording.js';
import { addAddresses, readExamples, readOcean, SETS, type Labelled } from './findings/examples.js';
import { judge, shareHeld, type Verdict } from './findings/judge.js';
import { learn, type Learned, type Settings } from './findings/learn.js';

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** What the shipped weights were learned with: chosen by the left-out sets. */
const SETTINGS: Settings = {
  seeds: [7, 8, 9, 10, 11],
  rounds: 4,
  epochs: 8,
  rate: 0.3,
  sparse: [0.3, 0.3, 0.3, 0.01],
  decay: [8, 8, 8, 0.5],
};
const COSTS = { missed: 3, harmless: 3, real: 1 };
/** Decimals of a weight. */
const PLACES = 3;
/** Characters of a line of the file. */
const LINE = 1000;

const all = readExamples(COSTS);
const ocean = readOcean(COSTS.real, all);
const addressed = addAddresses([...all, ...ocean], COSTS.harmless);
if (ocean.length === 0)
  say('The corpus of further tools is not here: only the recorded servers are learned from as harmless.');

/** What the files of real definitions are called in the table. */
const REAL: Readonly<Record<string, string>> = {
  ocean: 'real, public registries',
  'with an address': 'real, with an address',
};

/** One of as many parts as there are sets: real definitions by their server, so that nothing of a server is learned from when it is judged. */
function partOf({ set }: Labelled): number {
  return createHash('sha256').update(set).digest()[0]! % SETS.length;
}

function learnWithout(isLeftOut: (example: Labelled) => boolean): Learned {
  return learn(
    [...all, ...ocean, ...addressed].filter((example) => !isLeftOut(example)),
    ALL_FEATURES,
    SETTINGS,
  );
}

function print(title: string, verdicts: readonly Verdict[], by: (example: Labelled) => string): void {
  say(`\n${title}`);
  for (const name of [...new Set(verdicts.map(({ example }) => by(example)))].toSorted()) {
    say(`  ${name.padEnd(26)} ${shareHeld(verdicts.filter(({ example }) => by(example) === name))}`);
  }
}

/** Learns without one set and a part of the real servers, and judges those. */
function leaveSetsOut(): void {
  const verdicts = SETS.flatMap((set, part) => {
    const isLeftOut = (one: Labelled): boolean => (one.kind === 'real' ? partOf(one) === part : one.set === set);
    return judge(learnWithout(isLeftOut), [...all, ...ocean, ...addressed].filter(isLeftOut));
  });
  const malicious = verdicts.filter(({ example }) => example.isMalicious);
  print('Held back, each set judged without it: by file', verdicts, ({ kind, file }) =>
    kind === 'real' ? (REAL[file] ?? 'real') : file,
  );
  print('By kind', malicious, ({ kind }) => kind);
  print('By language', malicious, ({ language }) => language);
  for (const { example, isHeld } of verdicts) {
    if (isHeld && example.kind === 'real' && !REAL[example.file])
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
if (flags.length === 0) leaveSetsOut();
