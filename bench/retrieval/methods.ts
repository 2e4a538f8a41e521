import { create, insertMultiple, search as oramaSearch } from '@orama/orama';
import { Document } from 'flexsearch';
import MiniSearch from 'minisearch';
import { indexRecorded } from '../../src/gateway/reports/evaluation.js';
import { createKnowledgeSource } from '../../src/search/index.js';
import type { RecordedServer } from '../../src/gateway/index.js';
import { compileRules, normalizeTool } from '../../src/normalize/index.js';
import { JUDGED_RANKS } from '../../src/search/index.js';

const knowledge = createKnowledgeSource((reason) => console.error(reason));

/** Something that ranks tools: answers the ids of the best ten. */
export type Ranker = (query: string) => string[] | Promise<string[]>;

/** A way to find tools, built over the tools of a set. */
export interface Method {
  readonly name: string;
  build(servers: readonly RecordedServer[]): Promise<Ranker>;
}

/** What the libraries are given of a tool: the same normalized texts that ours starts from. */
interface Entry {
  readonly id: string;
  readonly server: string;
  readonly name: string;
  readonly description: string;
  readonly summary: string;
}

function entriesOf(servers: readonly RecordedServer[]): Entry[] {
  const rules = compileRules([]);
  return servers.flatMap(({ server, tools }) =>
    tools.map(({ id, definition }) => {
      const { name, description, summary } = normalizeTool({ id: server, tags: [] }, definition, rules);
      return { id, server: server.trimEnd(), name, description, summary };
    }),
  );
}

/** The real pipeline: normalize, index, search. */
export const OURS: Method = {
  name: 'toolscout',
  async build(servers) {
    const { index, idOf } = await indexRecorded(servers, knowledge);
    return (query) => index.search(query, { limit: JUDGED_RANKS }).map(({ tool }) => idOf(tool));
  },
};

/** The first idea of a scoring function: points for parts of name and summary, capped at 1; ties keep their order. */
const SEED: Method = {
  name: 'seed formula',
  async build(servers) {
    const entries = entriesOf(servers).map(({ id, name, summary }) => ({
      id,
      name: name.toLowerCase(),
      summary: summary.toLowerCase(),
    }));
    return (query) => {
      const text = query.toLowerCase();
      const words = text.split(/\s+/);
      return entries
        .map(({ id, name, summary }) => {
          let score = (name.includes(text) ? 1 : 0) + (summary.includes(text) ? 0.8 : 0);
          for (const word of words) score += (name.includes(word) ? 0.5 : 0) + (summary.includes(word) ? 0.3 : 0);
          return { id, score: Math.min(1, score) };
        })
        .filter(({ score }) => score > 0)
        .toSorted((a, b) => b.score - a.score)
        .slice(0, JUDGED_RANKS)
        .map(({ id }) => id);
    };
  },
};

/**
 * MiniSearch the way its users set it up: boosted fields, prefixes, a fifth of a word may be mistyped.
 * Short words are taken as they are: that is 6 and 10 points better on two sets, and 1 worse on a third.
 */
const MINISEARCH: Method = {
  name: 'MiniSearch',
  async build(servers) {
    const index = new MiniSearch<Entry>({
      fields: ['name', 'server', 'description'],
      searchOptions: { boost: { name: 3, server: 1.5 }, prefix: isLong, fuzzy: (word) => (isLong(word) ? 0.2 : false) },
    });
    index.addAll(distinct(entriesOf(servers)));
    return (query) =>
      index
        .search(query)
        .slice(0, JUDGED_RANKS)
        .map(({ id }) => String(id));
  },
};

/** Orama with its defaults over name and description. */
const ORAMA: Method = {
  name: 'Orama',
  async build(servers) {
    const index = create({ schema: { name: 'string', description: 'string' } as const });
    const entries = distinct(entriesOf(servers));
    await insertMultiple(
      index,
      entries.map(({ id, name, description }) => ({ id, name, description })),
      1000,
    );
    return async (query) => {
      const { hits } = await oramaSearch(index, { term: query, limit: JUDGED_RANKS });
      return hits.map(({ id }) => id);
    };
  },
};

/** FlexSearch with its defaults over name and description; `suggest`, or a sentence would have to match word for word. */
const FLEXSEARCH: Method = {
  name: 'FlexSearch',
  async build(servers) {
    const index = new Document<{ id: string; name: string; description: string }>({
      document: { id: 'id', index: ['name', 'description'] },
    });
    for (const { id, name, description } of entriesOf(servers)) index.add({ id, name, description });
    return (query) => {
      const found = index.search(query, { limit: JUDGED_RANKS, suggest: true, merge: true }) as Array<{ id: string }>;
      return found.slice(0, JUDGED_RANKS).map(({ id }) => id);
    };
  },
};

/** What toolscout is compared with. */
export const BASELINES: readonly Method[] = [SEED, MINISEARCH, ORAMA, FLEXSEARCH];

const isLong = (word: string): boolean => word.length > 3;

/** Entries with one id a tool: the libraries refuse a second one. */
function distinct(entries: readonly Entry[]): Entry[] {
  return [...new Map(entries.map((entry) => [entry.id, entry])).values()];
}
