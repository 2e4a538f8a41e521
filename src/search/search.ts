import { addressOf } from '../kernel/ids.js';
import { DEFAULT_HITS, type Explanation, type SearchOptions } from '../model/hit.js';
import type { Tool } from '../model/tool.js';
import { createSegmentTable, type Evidence, type Words } from './index/segment-table.js';
import { compareNames } from './index/names.js';
import { nearestTerm, nearestTools } from './index/nearest.js';
import { createPostings, type Postings } from './index/postings.js';
import type { KnowledgeSource } from './knowledge.js';
import { cutQuery, parseQuery, type Query, type WordLists } from './query.js';
import { candidatesOf, createLookUp, scoreAll, type Candidate, type Lookup } from './rank/candidates.js';
import { combineNeeds, firstOfNeeds } from './rank/combine-needs.js';
import { explain, partsOf } from './rank/explain.js';
import { createVectorSignal, meaningOf, type QueryMeaning } from './rank/meaning.js';
import { diversify, featuresOf, rankLearned, type Placed, type RankingModel } from './rank/rank.js';
import { choose, createScorer, firstOf, SECOND_STAGE, type QueryTerm } from './rank/score.js';
import { rankBySignals, signalsOf } from './rank/signals.js';
import { raisedBy } from './rank/usage.js';
import { createAnalyzer } from './text/analysis.js';
import { splitNeeds } from './text/needs.js';
import { createActions } from './words/actions.js';
import { createWordLists } from './words/word-lists.js';

/** One answer of the index. */
export interface Ranked {
  readonly tool: Tool;
  /** In [0,1]; 0 when the query held nothing that can be scored. */
  readonly relevance: number;
  /** The words of the query found in the tool, themselves or by a word of the same class. */
  readonly terms: string[];
  /** The part of the query that it answers, where the query holds several needs (FIND-7). */
  readonly need?: string;
  /** When asked for with `explain`. */
  readonly explanation?: Explanation;
}

/** For each term of a query how often, weighted, it led to a tool before. */
export type Remembered = readonly number[];

/** What queries with these terms have led to before, by address of the tool. */
export type Experience = (
  terms: ReadonlyArray<{ readonly term: string; readonly uses: number }>,
  size: number,
) => ReadonlyMap<string, Remembered>;

/** How near a tool is to the query by a sentence encoder; `undefined` where it has not been encoded (FIND-8). */
export type Encoded = (tool: Tool) => number | undefined;

/** Which tools come into question. */
export interface Narrowing extends Pick<SearchOptions, 'server' | 'tags'> {
  /** Only tools for which this holds; of the others nothing is said at all. */
  readonly accepts?: (server: string, tool: string) => boolean;
}

/** The catalog as it is searched (FIND-1). */
export interface ToolIndex {
  /** How many tools there are. */
  readonly size: number;
  /**
   * Puts a server's tools in the place of those it had; the cost is that of the server, not of the
   * catalog. Of two tools with one name the later is kept.
   */
  replace(server: string, tools: readonly Tool[], evidence?: Evidence): void;
  /**
   * The same in slices, between which others have their turn: until it is done a search sees all that was there before,
   * then all that is new. Answers `false`, and changes nothing, when the server was changed in the meantime.
   */
  fill(server: string, tools: Iterable<Tool>, evidence?: Evidence): Promise<boolean>;
  /** Changes what is known of a server's tools beside the texts that are searched, such as their status, at once. */
  restate(server: string, change: (tool: Tool) => Tool): void;
  remove(server: string): void;
  tool(server: string, name: string): Tool | undefined;
  /** All tools, or a server's, sorted by name. */
  tools(server?: string): Tool[];
  /** Servers that were put in, sorted. */
  servers(): string[];
  /** The tools that fit a query, best first; an empty query lists by name. */
  search(query: string, options?: SearchOptions & Narrowing, experience?: Experience, encoded?: Encoded): Ranked[];
  /** The tools among which the order is decided, by their words, with a row of features for each: to measure and to learn from. */
  candidates(query: string, options?: SearchOptions): { readonly tools: Tool[]; readonly rows: Float32Array };
  /** The distinct terms of a query. */
  terms(query: string): string[];
  /** Addresses of enabled tools whose names look like a text that led to nothing, among those a search is narrowed to (FIND-5, META-4). */
  nearest(query: string, within?: Narrowing, count?: number): string[];
}

/** Of the best tools so many are looked at for near-twins. */
const DIVERSIFIED = 30;

/** Of the tools that a whole query finds so many are looked at for each of its needs. */
const LOOKED_AT_AGAIN = 120;

/** Unknown words of a query that are worth guessing at. */
const GUESSED_WORDS = 8;

/** What a search knows of a query beside its words. */
interface Aids {
  readonly recalled: ReadonlyMap<number, number>;
  readonly explained: boolean;
  readonly encoded?: Encoded | undefined;
}

const NO_AIDS: Aids = { recalled: new Map(), explained: false };

/** Tools in their order, and what was looked up of them. */
interface Found {
  readonly placed: Placed[];
  readonly lookup: Lookup;
}

/** What is known beside the words of tools, as it is used. */
interface Known extends Words {
  readonly model: RankingModel | undefined;
}

/** An empty index. What is known beside the words of tools is fetched with the first of them; it works without. */
export function createIndex(knowledge: KnowledgeSource = () => ({}), postings: Postings = createPostings()): ToolIndex {
  const analyzer = createAnalyzer();
  const actions = createActions((word) => analyzer.terms(word)[0] ?? word);
  let known: Known | undefined;
  const table = createSegmentTable(postings, analyzer, actions, know);
  const { segments } = table;
  // Thousands of words to cut and to stem: the first query pays for them, not the start of the process.
  let lists: WordLists | undefined;
  const score = createScorer();
  const lookUp = createLookUp();

  function know(): Known {
    if (known) return known;
    const { vectors, lexicon, model } = knowledge();
    known = { lexicon, model, meaning: vectors && createVectorSignal(vectors) };
    return known;
  }

  function* walk(server?: string): Generator<Tool> {
    if (server !== undefined) yield* segments.get(server)?.tools ?? [];
    else for (const segment of segments.values()) yield* segment.tools;
  }

  function search(
    text: string,
    options: SearchOptions & Narrowing = {},
    experience?: Experience,
    encoded?: Encoded,
  ): Ranked[] {
    const limit = Math.max(0, Math.floor(options.limit ?? DEFAULT_HITS)) || 0;
    const query = readQuery(text);
    if (query.empty) return list(limit, options);
    const aids = (part: string, read: Query): Aids => ({
      recalled: experience ? recallBy(experience, part, read) : new Map<number, number>(),
      explained: options.explain ?? false,
      // The encoder was asked for the whole query.
      encoded: part === text ? encoded : undefined,
    });
    const needs = splitNeeds(cutQuery(text), (part) => analyzer.terms(part).length);
    if (needs.length < 2) return answer(query, limit, options, aids(text, query));
    return answerNeeds(text, needs, query, limit, options, aids);
  }

  function answer(query: Query, limit: number, options: SearchOptions & Narrowing, aids: Aids = NO_AIDS): Ranked[] {
    return present(place(query, Math.max(limit, DIVERSIFIED), options, aids).placed, query, limit, options);
  }

  /** Each need among the tools that the whole query finds, unless they turn out to be one. */
  function answerNeeds(
    text: string,
    needs: readonly string[],
    query: Query,
    limit: number,
    options: SearchOptions & Narrowing,
    aids: (text: string, read: Query) => Aids,
  ): Ranked[] {
    const whole = place(query, SECOND_STAGE, options, aids(text, query));
    const reads = needs.map(readQuery);
    const answers = needs.map(
      (need, i) => place(reads[i]!, SECOND_STAGE, options, aids(need, reads[i]!), whole).placed,
    );
    const combined = combineNeeds(whole.placed, answers);
    if (combined.length === 0) return present(whole.placed, query, limit, options);
    return firstOfNeeds(spread(combined), limit, answers).map((one) => ({
      ...presentOne(one, reads[one.need]!, options),
      need: needs[one.need]!,
    }));
  }

  /** The best tools by every signal: of all, or of those that another query found. */
  function place(
    query: Query,
    count: number,
    options: SearchOptions & Narrowing,
    { recalled, explained, encoded }: Aids,
    among?: Found,
  ): Found {
    const { model, meaning: vectors } = know();
    const meaning = meaningOf(query, vectors, postings);
    const { lookup, candidates } = among
      ? lookAgain(query, among, recalled)
      : lookAt(query, count, options, recalled, meaning);
    if (candidates.length === 0) return { lookup, placed: [] };
    if (!model) {
      return { lookup, placed: rankBySignals(query, candidates, postings, count, signalsOf(meaning, encoded)) };
    }
    const rows = featuresOf(query, candidates, lookup, postings, actions, meaning.features(candidates));
    const parts = explained ? (row: Float32Array, score: number) => partsOf(row, score, model) : undefined;
    const learned = { model, rows, encoded, partsOf: parts };
    return { lookup, placed: rankLearned(query, candidates, postings, count, learned) };
  }

  /** The tools among which the order is decided. */
  function lookAt(
    query: Query,
    count: number,
    options: SearchOptions & Narrowing,
    recalled: Aids['recalled'],
    meaning: QueryMeaning,
  ): { lookup: Lookup; candidates: Candidate[] } {
    const within = options.server === undefined ? undefined : segments.get(options.server);
    const scores = score([...query.own, ...query.related, ...query.concepts], postings, within);
    const near = (accept: (document: number) => boolean): number[] => meaning.nearest(accept, within);
    const chosen = choose(scores, postings, Math.max(count, SECOND_STAGE), acceptance(options), recalled, near);
    const lookup = lookUp(chosen, postings);
    const { values } = scores;
    return {
      lookup,
      candidates: candidatesOf(query, chosen, (document) => values[document]!, lookup, postings, recalled),
    };
  }

  /** The same tools for a part of the query: those that hold a word of it. */
  function lookAgain(
    query: Query,
    { lookup, placed }: Found,
    recalled: Aids['recalled'],
  ): { lookup: Lookup; candidates: Candidate[] } {
    const scores = scoreAll([...query.own, ...query.related, ...query.concepts], lookup);
    const documents = placed
      .slice(0, LOOKED_AT_AGAIN)
      .map(({ document }) => document)
      .filter((document) => scores[lookup.placeOf(document)] !== 0 || recalled.has(document));
    const candidates = candidatesOf(query, documents, (_, at) => scores[at]!, lookup, postings, recalled);
    return { lookup, candidates };
  }

  function spread<T extends Placed>(placed: readonly T[]): T[] {
    return [...diversify(placed.slice(0, DIVERSIFIED), nameTermsOf), ...placed.slice(DIVERSIFIED)];
  }

  function present(placed: readonly Placed[], query: Query, limit: number, options: SearchOptions): Ranked[] {
    return spread(placed)
      .slice(0, limit)
      .map((one) => presentOne(one, query, options));
  }

  function presentOne(placed: Placed, query: Query, { explain: explained }: SearchOptions): Ranked {
    return {
      tool: placed.tool,
      relevance: placed.relevance,
      terms: wordsFound(query, placed.document),
      ...(explained ? { explanation: explain(placed, query, postings) } : {}),
    };
  }

  function candidates(text: string, options: SearchOptions = {}): { tools: Tool[]; rows: Float32Array } {
    const query = readQuery(text);
    const meaning = meaningOf(query, know().meaning, postings);
    const { lookup, candidates: found } = lookAt(query, SECOND_STAGE, options, new Map(), meaning);
    const rows = featuresOf(query, found, lookup, postings, actions, meaning.features(found));
    return { tools: found.map(({ tool }) => tool), rows };
  }

  function readQuery(text: string): Query {
    lists ??= createWordLists(analyzer, actions, know());
    return parseQuery(text, analyzer, postings.vocabulary, lists, postings.size);
  }

  function nameTermsOf({ document }: Placed): ReadonlySet<number> {
    const segment = postings.owners[document]!;
    const offset = document - segment.first;
    const begin = offset === 0 ? 0 : segment.nameEnds[offset - 1]!;
    return new Set(segment.nameTerms.subarray(begin, segment.nameEnds[offset]!));
  }

  /** What experience adds to the scores of the documents it speaks for. */
  function recallBy(experience: Experience, text: string, query: Query): Map<number, number> {
    const weights = new Map(query.own.map(({ id, weight }) => [id, weight]));
    const asked = distinctTerms(text).map((term) => {
      const id = postings.vocabulary.find(term);
      const uses = id === undefined ? 0 : postings.vocabulary.uses(id);
      return { term, id: id ?? -1, uses, weight: (id !== undefined && weights.get(id)) || 1 };
    });
    const remembered = new Map<number, Remembered>();
    for (const [address, frequencies] of experience(asked, postings.size)) {
      const document = documentAt(address);
      if (document !== undefined) remembered.set(document, frequencies);
    }
    return raisedBy(remembered, asked, postings);
  }

  function distinctTerms(text: string): string[] {
    return [...new Set(analyzer.terms(cutQuery(text)))];
  }

  function documentAt(address: string): number | undefined {
    // A server's id holds no separator, a tool's name may.
    const at = address.indexOf(':');
    const segment = segments.get(address.slice(0, at));
    const place = segment ? placeOf(segment.tools, address.slice(at + 1)) : -1;
    return place < 0 ? undefined : segment!.first + place;
  }

  function list(limit: number, options: SearchOptions & Narrowing): Ranked[] {
    const lists = [...segments].filter(([server]) => options.server === undefined || server === options.server);
    const sorted = lists.map(([, { tools }]) => tools);
    return firstOf(sorted, limit, compareNames, acceptance(options)).map((tool) => ({ tool, relevance: 0, terms: [] }));
  }

  function wordsFound(query: Query, document: number): string[] {
    const found = new Set<string>();
    for (const { id, word } of [...query.own, ...query.related, ...query.concepts]) {
      if (postings.lists.find(id, document) !== 0) found.add(word);
    }
    return [...found];
  }

  function nearest(text: string, within: Narrowing = {}, count = 3): string[] {
    const wanted = cutQuery(text).trim();
    const { server, tags, accepts } = within;
    const narrowed = { server, tags, accepts };
    const named = wanted.slice(0, Math.max(0, wanted.indexOf(':')));
    const segment = segments.get(server ?? named);
    const looked = segment ? [segment] : server === undefined ? [...segments.values()] : [];
    const alike = nearestTools(wanted, looked, count, acceptance(narrowed));
    const addresses = alike.map((tool) => addressOf(tool.server, tool.name));
    return [...new Set([...addresses, ...guess(wanted, narrowed, count)])].slice(0, count);
  }

  /** Tools that hold the known terms most like the words of a query. */
  function guess(text: string, within: Narrowing, count: number): string[] {
    const own = new Map<number, QueryTerm>();
    for (const { text: word, term } of analyzer.words(text).slice(0, GUESSED_WORDS)) {
      const id = nearestTerm(term, postings.vocabulary);
      if (id !== undefined) own.set(id, { id, weight: 1, word });
    }
    const query: Query = {
      empty: false,
      own: [...own.values()],
      related: [],
      concepts: [],
      actions: [],
      meant: [],
      unknown: 0,
      clauses: 1,
    };
    return answer(query, count, within).map(({ tool }) => addressOf(tool.server, tool.name));
  }

  return {
    get size() {
      return postings.size;
    },
    replace: table.replace,
    fill: table.fill,
    restate: table.restate,
    remove: table.remove,
    tool: (server, name) => {
      const tools = segments.get(server)?.tools ?? [];
      return tools[placeOf(tools, name)];
    },
    tools: (server) => [...walk(server)].toSorted(compareNames),
    servers: () => [...segments.keys()].toSorted(),
    search,
    candidates,
    terms: distinctTerms,
    nearest,
  };
}

function acceptance(options: SearchOptions & Narrowing): (tool: Tool) => boolean {
  const { server, includeDisabled = false, tags = [], accepts } = options;
  return (tool) =>
    // No option of a search finds a pending or quarantined tool.
    (tool.status === 'enabled' || (includeDisabled && tool.status === 'disabled')) &&
    (server === undefined || tool.server === server) &&
    tags.every((tag) => tool.tags.includes(tag)) &&
    (accepts === undefined || accepts(tool.server, tool.name));
}

/** Where a tool stands among tools sorted by name, or -1; a map for each server would hold every name twice. */
function placeOf(tools: readonly Tool[], name: string): number {
  let low = 0;
  let high = tools.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (tools[middle]!.name < name) low = middle + 1;
    else high = middle;
  }
  return tools[low]?.name === name ? low : -1;
}
