import { existsSync, readFileSync } from 'node:fs';
import { payloadsOf } from '../../src/approvals/findings/decode.js';
import { plainOf, prepare } from '../../src/approvals/findings/prepare.js';
import { readText } from '../../src/approvals/findings/reading.js';
import { FeatureSeer, windowsOf } from '../../src/approvals/findings/windows.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { readReal } from '../../test/support/finding-cases.js';
import { withAddress } from './honest-addresses.js';
import type { Example } from './learn.js';

const FOLDER = new URL('../../test/fixtures/findings/', import.meta.url);

/** A definition of a labelled set, with the file it comes from. */
export interface Labelled extends Example {
  readonly author: string;
  readonly language: string;
  readonly definition: JsonObject;
  readonly file: string;
}

interface Line {
  readonly kind?: string;
  readonly author?: string;
  readonly language?: string;
  readonly definition: JsonObject;
}

const seer = new FeatureSeer();

/** The features of each window of a text. */
export function featuresIn(plain: string): Int32Array[] {
  const reading = readText(plain);
  return windowsOf(reading).map((window) => {
    const features: number[] = [];
    seer.see(reading, window, (feature) => features.push(feature));
    return Int32Array.from(features).sort();
  });
}

function windowsIn(definition: JsonObject, withPayloads: boolean): Int32Array[] {
  const { plain, raw } = prepare(definition);
  const windows = featuresIn(plain);
  if (withPayloads) for (const { text } of payloadsOf(raw)) windows.push(...featuresIn(plainOf(text)));
  return windows;
}

function readSet(set: string, file: string, isMalicious: boolean, cost: number): Labelled[] {
  return readFileSync(new URL(`${file}.jsonl`, FOLDER), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
    .map(({ kind = 'benign', author = '', language = 'en', definition }) => ({
      set,
      file,
      kind,
      author,
      language,
      definition,
      isMalicious,
      cost,
      windows: windowsIn(definition, isMalicious),
    }));
}

/** What a mistake costs: one missed attack, one harmless text held back, one real tool held back. */
export interface Costs {
  readonly missed: number;
  readonly harmless: number;
  readonly real: number;
}

/** Sets of one author each, in a file of malicious and one of harmless definitions. */
const FURTHER_SETS = [
  'workshop',
  'researcher',
  'vendor',
  'languages',
  'amateurs',
  'tongues',
  'oblique',
  'practitioner',
  'saboteur',
  'polyglot',
  'unseen',
  'sealed',
  'exam',
] as const;

/** The sets that are learned from. */
export const SETS = ['first', 'second', ...FURTHER_SETS] as const;

/** Every labelled definition: the sets, and what real servers sent. */
export function readExamples({ missed, harmless, real }: Costs): Labelled[] {
  return [
    ...readSet('first', 'malicious-dev', true, missed),
    ...readSet('first', 'malicious-held-out', true, missed),
    ...readSet('second', 'fresh-malicious-dev', true, missed),
    ...readSet('second', 'fresh-malicious-opened', true, missed),
    ...readSet('second', 'fresh-benign-dev', false, harmless),
    ...readSet('second', 'fresh-benign-opened', false, harmless),
    ...FURTHER_SETS.flatMap((set) => [
      ...readSet(set, `${set}-malicious`, true, missed),
      ...readSet(set, `${set}-benign`, false, harmless),
    ]),
    ...(['dev', 'held-out'] as const).flatMap((half) =>
      readReal(half).map(({ server, name, definition }) => ({
        set: `server:${server}`,
        file: half,
        kind: 'real',
        author: name,
        language: 'en',
        definition,
        isMalicious: false,
        cost: real,
        windows: windowsIn(definition, false),
      })),
    ),
  ];
}

/** Tools of public registries, learned from as harmless; see `../README.md` for their licences. Those of recorded servers are left out. */
const OCEAN = new URL('../../../shared/data/retrieval/mcp-ocean/tools.jsonl', import.meta.url);
/** Characters of a description by which two tools are the same. */
const SAME = 200;

/** The further tools, where the corpus is here. */
export function readOcean(cost: number, known: readonly Labelled[]): Labelled[] {
  if (!existsSync(OCEAN)) return [];
  const seen = new Set(known.map(({ definition }) => String(definition['description']).slice(0, SAME)));
  return readFileSync(OCEAN, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject)
    .filter(({ description }) => {
      const start = String(description).slice(0, SAME);
      return !seen.has(start) && seen.add(start);
    })
    .map(({ server, name, description, inputSchema }) => {
      const definition = { name: name!, description: description!, inputSchema: inputSchema! };
      return {
        set: `server:${String(server)}`,
        file: 'ocean',
        kind: 'real',
        author: String(name),
        language: 'en',
        definition,
        isMalicious: false,
        cost,
        windows: windowsIn(definition, false),
      };
    });
}

/** Every so many real definitions one has an honest address added: attacks name addresses far more often, and a contact is no attack. */
const ADDRESSED = 8;

/** Some of the real definitions with an honest address, learned from as harmless. */
export function addAddresses(real: readonly Labelled[], cost: number): Labelled[] {
  return real
    .filter(({ kind }, index) => kind === 'real' && index % ADDRESSED === 0)
    .map((example, number) => {
      const definition = withAddress(example.definition, example.set, number);
      return { ...example, file: 'with an address', definition, cost, windows: windowsIn(definition, false) };
    });
}
