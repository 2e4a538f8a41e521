import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseQueries, parseServerFile, parseToolLines } from '../../src/front/cli/labelled-files.js';
import type { LabelledQuery, RecordedServer } from '../../src/gateway/index.js';
import { readCorpusTexts } from '../../test/support/recorded-servers.js';

/** Queries with their right answers, and the tools they are asked of. */
export interface RetrievalSet {
  /** The name under which its floor is kept. */
  readonly name: string;
  readonly servers: readonly RecordedServer[];
  readonly queries: readonly LabelledQuery[];
}

const ROOT = join(import.meta.dirname, '..', '..');
const SETS = join(ROOT, '..', 'shared', 'data', 'retrieval');

/** The one set whose queries and tools are in the repository. */
const REAL = 'real-intents';

/** Names of the sets that can be measured here, and those that cannot be because their files are absent. */
export function listSets(floors: readonly string[]): { readonly present: string[]; readonly absent: string[] } {
  const listed = existsSync(SETS) ? readdirSync(SETS) : [];
  const complete = listed.filter((name) => existsSync(join(SETS, name, 'tools.jsonl')));
  const present = [...complete, REAL].toSorted();
  const known = floors.filter((name) => !name.endsWith(' with memory'));
  return { present, absent: known.filter((name) => !present.includes(name)) };
}

/** The fresh intents that are open for development, as a set of the repository. */
export const FRESH = 'fresh-intents';

/** Reads a set that {@link listSets} named, or the fresh intents. */
export function readSet(name: string): RetrievalSet {
  if (name === FRESH) return { name, servers: readCorpus(), queries: [...readFresh('open'), ...readFresh('open-2')] };
  if (name === REAL) return { name, servers: readCorpus(), queries: readReal() };
  const tools = join(SETS, name, 'tools.jsonl');
  const queries = join(SETS, name, 'queries.jsonl');
  return {
    name,
    servers: parseToolLines(readFileSync(tools, 'utf8'), tools),
    queries: parseQueries(readFileSync(queries, 'utf8'), queries),
  };
}

/** The 110 recorded servers of the repository. */
export function readCorpus(): RecordedServer[] {
  return readCorpusTexts().map(({ id, text }) => parseServerFile(text, id, id));
}

/** One file of fresh intents. */
export function readFresh(file: string): LabelledQuery[] {
  const path = join(import.meta.dirname, 'intents', `${file}.jsonl`);
  return parseQueries(readFileSync(path, 'utf8'), path);
}

/** The hand-labelled intents over real servers. */
export function readReal(): LabelledQuery[] {
  const path = join(ROOT, 'test', 'fixtures', 'real-intents.jsonl');
  return parseQueries(readFileSync(path, 'utf8'), path);
}
