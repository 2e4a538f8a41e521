import { addressOf } from '../kernel/ids.js';
import type { Explanation, SearchOptions } from '../model/hit.js';
import type { Tool } from '../model/tool.js';
import { createAnalyzer } from './analysis.js';
import { createEverydayWords } from './everyday-words.js';
import { explain } from './explain.js';
import { serverTermsOf, termsOf } from './fields.js';
import { createTranslator } from './foreign.js';
import { nearestTerm, nearestTools } from './nearest.js';
import { createPostings, type Segment } from './postings.js';
import { cutQuery, parseQuery, type Query, type QueryTerm, type WordLists } from './query.js';
import { compareAddresses, rank, type Candidate, type Signal } from './rank.js';
import { createScorer } from './score.js';
import { selectTop } from './top.js';
import { createVectorSignal, type EmbeddedTool, type VectorSignal, type VectorSource } from './vectors.js';
import { createVerbClasses } from './verb-classes.js';

/** One answer of the index. */
export interface Ranked {
  readonly tool: Tool;
  /** In [0,1]; 0 when the query held nothing that can be scored. */
  readonly relevance: number;
  /** The words of the query found in the tool, themselves or by a word of the same class. */
  readonly terms: string[];
  /** When asked for with `explain`. */
  readonly explanation?: Explanation;
}

/** What a server calls itself: its id was chosen by a user and may hide the product. */
export interface Evidence {
  readonly title?: string;
  readonly name?: string;
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
  remove(server: string): void;
  tool(server: string, name: string): Tool | undefined;
  /** All tools, or a server's, sorted by name. */
  tools(server?: string): Tool[];
  /** Servers that were put in, sorted. */
  servers(): string[];
  /** The tools that fit a query, best first; an empty query lists by name. */
  search(query: string, options?: SearchOptions): Ranked[];
  /** Addresses of enabled tools whose names look like a text that led to nothing (FIND-5, META-4). */
  nearest(query: string, count?: number): string[];
}

/** Hits unless a caller says otherwise. */
const DEFAULT_LIMIT = 10;

/** Unknown words of a query that are worth guessing at. */
const GUESSED_WORDS = 8;

/** What nearness of meaning counts, against the words themselves. */
const MEANING_WEIGHT = 0.3;

/** An empty index. With word vectors, which are fetched with the first tools, it also ranks by meaning. */
export function createIndex(vectors: VectorSource = () => undefined): ToolIndex {
  let meaning: VectorSignal | undefined;
  const embedded = new WeakMap<Segment, Int8Array>();
  const analyzer = createAnalyzer();
  const termOf = (word: string): string => analyzer.terms(word)[0] ?? word;
  const lists: WordLists = {
    classes: createVerbClasses(termOf),
    everyday: createEverydayWords(termOf),
    translator: createTranslator(),
  };
  const postings = createPostings();
  const score = createScorer();
  const segments = new Map<string, Segment>();

  function replace(server: string, tools: readonly Tool[], evidence: Evidence = {}): void {
    remove(server);
    const serverTerms = serverTermsOf([server, evidence.title ?? '', evidence.name ?? ''], analyzer);
    const named = new Map(tools.map((tool) => [tool.name, tool]));
    const documents = [...named.values()]
      .toSorted(compareNames)
      .map((tool) => ({ tool, terms: termsOf(tool, serverTerms, analyzer) }));
    const segment = postings.add(documents);
    segments.set(server, segment);
    const words = vectors();
    if (words) meaning ??= createVectorSignal(words);
    if (meaning) embedded.set(segment, meaning.embed(documents.map(({ terms }) => terms)));
  }

  function remove(server: string): void {
    const segment = segments.get(server);
    if (!segment) return;
    segments.delete(server);
    postings.remove(segment);
  }

  function* walk(server?: string): Generator<Tool> {
    if (server !== undefined) yield* segments.get(server)?.tools ?? [];
    else for (const segment of segments.values()) yield* segment.tools;
  }

  function search(text: string, options: SearchOptions = {}): Ranked[] {
    const limit = Math.max(0, Math.floor(options.limit ?? DEFAULT_LIMIT)) || 0;
    const query = parseQuery(text, analyzer, postings.vocabulary, lists);
    return query.empty ? list(limit, options) : answer(query, limit, options, meaningOf(text));
  }

  function answer(query: Query, limit: number, options: SearchOptions, further: Signal[] = []): Ranked[] {
    const scores = score([...query.own, ...query.related], postings);
    return rank(query, scores, postings, limit, acceptance(options), further).map((placed) => ({
      tool: placed.tool,
      relevance: placed.relevance,
      terms: wordsFound(query, placed.document),
      ...(options.explain ? { explanation: explain(placed, query, postings) } : {}),
    }));
  }

  /** The opinion of the word vectors about one query, if there are any. */
  function meaningOf(text: string): Signal[] {
    const signal = meaning;
    if (!signal) return [];
    // Words that no tool holds have a meaning too.
    const terms = analyzer.terms(cutQuery(text));
    const place = ({ document, segment }: Candidate): EmbeddedTool => ({
      vectors: embedded.get(segment)!,
      offset: document - segment.first,
    });
    return [
      {
        name: 'meaning',
        weight: MEANING_WEIGHT,
        rate: (candidates) => signal.rate(terms, candidates.map(place)),
      },
    ];
  }

  function list(limit: number, options: SearchOptions): Ranked[] {
    const tools = selectTop(walk(options.server), limit, compareNames, acceptance(options));
    return tools.map((tool) => ({ tool, relevance: 0, terms: [] }));
  }

  function wordsFound(query: Query, document: number): string[] {
    const found = new Set<string>();
    for (const { id, word } of [...query.own, ...query.related]) {
      if (postings.lists.find(id, document) !== 0) found.add(word);
    }
    return [...found];
  }

  function nearest(text: string, count = 3): string[] {
    const wanted = cutQuery(text).trim();
    const named = wanted.slice(0, Math.max(0, wanted.indexOf(':')));
    const tools = [...walk(segments.has(named) ? named : undefined)].filter(acceptance({}));
    const alike = nearestTools(wanted, tools, count).map(({ server, name }) => addressOf(server, name));
    return [...new Set([...alike, ...guess(wanted, count)])].slice(0, count);
  }

  /** Tools that hold the known terms most like the words of a query. */
  function guess(text: string, count: number): string[] {
    const own = new Map<number, QueryTerm>();
    for (const { text: word, term } of analyzer.words(text).slice(0, GUESSED_WORDS)) {
      const id = nearestTerm(term, postings.vocabulary);
      if (id !== undefined) own.set(id, { id, weight: 1, word });
    }
    const query: Query = { empty: false, own: [...own.values()], related: [], unknown: 0, clauses: 1 };
    return answer(query, count, {}).map(({ tool }) => addressOf(tool.server, tool.name));
  }

  return {
    get size() {
      return postings.size;
    },
    replace,
    remove,
    tool: (server, name) => findByName(segments.get(server)?.tools ?? [], name),
    tools: (server) => [...walk(server)].toSorted(compareNames),
    servers: () => [...segments.keys()].toSorted(),
    search,
    nearest,
  };
}

function compareNames(a: Tool, b: Tool): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : compareAddresses(a, b);
}

function acceptance(options: SearchOptions): (tool: Tool) => boolean {
  const { server, includeDisabled = false, tags = [] } = options;
  return (tool) =>
    // What is pending or quarantined is found by nobody, whatever is asked for.
    (tool.status === 'enabled' || (includeDisabled && tool.status === 'disabled')) &&
    (server === undefined || tool.server === server) &&
    tags.every((tag) => tool.tags.includes(tag));
}

/** A look-up in tools sorted by name; a map for each server would hold every name twice. */
function findByName(tools: readonly Tool[], name: string): Tool | undefined {
  let low = 0;
  let high = tools.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (tools[middle]!.name < name) low = middle + 1;
    else high = middle;
  }
  return tools[low]?.name === name ? tools[low] : undefined;
}
