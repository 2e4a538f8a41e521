import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseQueries, parseServerFile, parseToolLines } from '../../src/front/cli/labelled-files.js';
import type { LabelledQuery, RecordedServer } from '../../src/gateway/index.js';

/** Queries with their right answers, and the tools they are asked of. */
export interface RetrievalSet {
  /** The name under which its floor is kept. */
  readonly name: string;
  readonly servers: readonly RecordedServer[];
  readonly queries: readonly LabelledQuery[];
}

const ROOT = join(import.meta.dirname, '..', '..');
const CORPUS = join(ROOT, '..', 'shared', 'data');
const SETS = join(CORPUS, 'retrieval');

/** The one set whose queries are in the repository. */
const REAL = 'real-intents';

/** Names of the sets that can be measured here, and those that cannot be because their files are absent. */
export function listSets(floors: readonly string[]): { readonly present: string[]; readonly absent: string[] } {
  const listed = existsSync(SETS) ? readdirSync(SETS) : [];
  const complete = listed.filter((name) => existsSync(join(SETS, name, 'tools.jsonl')));
  const present = [...complete, hasCorpus() ? REAL : `${REAL}-excerpt`].toSorted();
  const known = floors.filter((name) => !name.startsWith(REAL) && !name.endsWith(' with memory'));
  return { present, absent: known.filter((name) => !present.includes(name)) };
}

/** Reads a set that {@link listSets} named. */
export function readSet(name: string): RetrievalSet {
  if (name === REAL) return { name, servers: readServers(join(CORPUS, 'servers')), queries: readReal() };
  if (name === `${REAL}-excerpt`) return readExcerpt(name);
  const tools = join(SETS, name, 'tools.jsonl');
  const queries = join(SETS, name, 'queries.jsonl');
  return {
    name,
    servers: parseToolLines(readFileSync(tools, 'utf8'), tools),
    queries: parseQueries(readFileSync(queries, 'utf8'), queries),
  };
}

/** Every recorded server of a folder. */
export function readServers(folder: string): RecordedServer[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .toSorted()
    .map((file) => parseServerFile(readFileSync(join(folder, file), 'utf8'), file, basename(file, '.json')));
}

/** The servers that scale is grown from: the whole corpus, or what of it is in the repository. */
export function readCorpus(): RecordedServer[] {
  return readServers(hasCorpus() ? join(CORPUS, 'servers') : join(ROOT, 'test', 'fixtures', 'catalog'));
}

/** The hand-labelled intents over real servers. */
export function readReal(): LabelledQuery[] {
  const path = join(ROOT, 'test', 'fixtures', 'real-intents.jsonl');
  return parseQueries(readFileSync(path, 'utf8'), path);
}

/** The real intents whose tools are all among the few servers of the repository. */
function readExcerpt(name: string): RetrievalSet {
  const servers = readServers(join(ROOT, 'test', 'fixtures', 'catalog'));
  const ids = new Set(servers.flatMap(({ tools }) => tools.map(({ id }) => id)));
  const queries = readReal().filter(({ relevant }) => relevant.every((id) => ids.has(id)));
  return { name, servers, queries };
}

function hasCorpus(): boolean {
  return existsSync(join(CORPUS, 'servers'));
}
