import type { Tool } from '../../model/tool.js';
import { FIELDS, SERVER_FIELD } from '../index/fields.js';
import {
  FREQUENCY_BITS,
  frequencyIn,
  HIGHEST_FREQUENCY,
  POSTING_WORDS,
  type Vocabulary,
} from '../index/posting-lists.js';
import type { Postings, Segment } from '../index/postings.js';
import type { Query } from '../query.js';
import { fieldWorth, K1, rarity, type QueryTerm } from './score.js';

/** A document that reached the second stage. */
export interface Candidate {
  readonly document: number;
  /** Where it stands in the lookup. */
  readonly place: number;
  readonly tool: Tool;
  readonly segment: Segment;
  /** What the words alone say: the first stage, raised when the query covers the name. */
  readonly words: number;
  /** What the best clause of the query says alone; 0 when there is only one. */
  readonly clause: number;
  /** How surely the query names the server, in [0,1]. */
  readonly mention: number;
  /** The same, however the name is written. */
  readonly namedAnyhow: number;
  /** How much of the query the tools of its server hold between them. */
  readonly neighbours: number;
  /** What earlier queries that led to the tool add to its words. */
  readonly usage: number;
}

/** How much a name that the query covers entirely is raised. */
const NAME_COVERAGE = 0.4;

/** Terms that are told apart by clause; a query at its longest holds some hundreds. */
const MAX_CLAUSE_TERMS = 200;

/** What is known of documents that were looked up. `scoreOf` is what the first stage says of each, by its place. */
export function candidatesOf(
  query: Query,
  documents: readonly number[],
  scoreOf: (document: number, place: number) => number,
  lookup: Lookup,
  postings: Postings,
  recalled: ReadonlyMap<number, number>,
): Candidate[] {
  const terms = [...query.own, ...query.related];
  const asked = new Map(terms.map(({ id, weight }) => [id, Math.min(1, weight)]));
  const neighbours = rateNeighbours(terms, lookup, postings);
  const mentions = findMentions(query.own, lookup, postings.vocabulary);
  const clauses = query.clauses > 1 ? rateClauses(query.clauses, terms, lookup) : undefined;
  return documents.map((document) => {
    const place = lookup.placeOf(document);
    const server = lookup.segmentAt[place]!;
    const segment = lookup.segments[server]!;
    const offset = document - segment.first;
    const raised = 1 + NAME_COVERAGE * nameCoverage(offset, segment, asked, postings);
    return {
      document,
      place,
      tool: segment.tools[offset]!,
      segment,
      words: scoreOf(document, place) * raised,
      clause: (clauses?.[place] ?? 0) * raised,
      mention: mentions.written.get(segment) ?? 0,
      namedAnyhow: mentions.any.get(segment) ?? 0,
      neighbours: neighbours[server]!,
      usage: (recalled.get(document) ?? 0) * raised,
    };
  });
}

/** What the first stage would say of each document that was looked up, by its place. */
export function scoreAll(terms: readonly QueryTerm[], lookup: Lookup): Float32Array {
  const sums = new Float32Array(lookup.documents.length);
  for (const { id, weight } of terms) {
    const shares = lookup.shares(id);
    for (let place = 0; place < sums.length; place++) sums[place] = sums[place]! + weight * shares[place]!;
  }
  return sums;
}

/**
 * A long query asks for several things, a tool does one: the share of each document by its best clause alone. Clauses
 * are brought to one scale, or the one with the rarest words would speak for all.
 */
function rateClauses(clauses: number, all: readonly QueryTerm[], lookup: Lookup): Float32Array {
  const count = lookup.documents.length;
  const sums = new Float32Array(count * clauses);
  for (const { id, weight, clauses: bitset = 0 } of all.slice(0, MAX_CLAUSE_TERMS)) {
    const shares = lookup.shares(id);
    for (let bits = bitset; bits !== 0; bits &= bits - 1) {
      const from = (31 - Math.clz32(bits & -bits)) * count;
      for (let place = 0; place < count; place++) {
        sums[from + place] = sums[from + place]! + weight * shares[place]!;
      }
    }
  }
  const best = new Float32Array(count);
  for (let from = 0; from < sums.length; from += count) {
    let highest = 0;
    for (let at = from; at < from + count; at++) if (sums[at]! > highest) highest = sums[at]!;
    if (highest === 0) continue;
    for (let place = 0; place < count; place++) best[place] = Math.max(best[place]!, sums[from + place]! / highest);
  }
  return best;
}

/** The share of a name, by rarity of its terms, that the query names; words related to those of the query count in part. */
function nameCoverage(
  offset: number,
  segment: Segment,
  asked: ReadonlyMap<number, number>,
  postings: Postings,
): number {
  let found = 0;
  let whole = 0;
  const begin = offset === 0 ? 0 : segment.nameEnds[offset - 1]!;
  for (let at = begin; at < segment.nameEnds[offset]!; at++) {
    const term = segment.nameTerms[at]!;
    const worth = rarity(postings.vocabulary.uses(term), postings.size);
    whole += worth;
    found += worth * (asked.get(term) ?? 0);
  }
  return whole === 0 ? 0 : found / whole;
}

/** Occurrences that a term must outweigh before it is believed to name a server. */
const DOUBT = 3;

/** Postings that are read for the names in one query; a word that stands everywhere is not the name of a server. */
const MAX_NAME_POSTINGS = 50_000;

/**
 * How surely the query names each server, in [0,1]. A term names a server when it is written as a name, stands
 * in the server's name and hardly anywhere else: `Airtable` does, `time` does not. Servers share a name's sureness.
 * `any` is the same of words in small letters too.
 */
function findMentions(
  terms: readonly QueryTerm[],
  lookup: Lookup,
  vocabulary: Vocabulary,
): { readonly written: ReadonlyMap<Segment, number>; readonly any: ReadonlyMap<Segment, number> } {
  const written = new Map<Segment, number>();
  const any = new Map<Segment, number>();
  let allowance = MAX_NAME_POSTINGS;
  for (const { id, proper = false } of terms.toSorted(
    (a, b) => Number(b.proper ?? false) - Number(a.proper ?? false),
  )) {
    const uses = vocabulary.uses(id);
    if (uses > allowance) continue;
    allowance -= uses;
    const { servers, own } = lookup.named(id);
    const sureness = own / (uses + DOUBT) / Math.sqrt(Math.max(1, servers.size));
    for (const segment of servers) {
      any.set(segment, Math.max(any.get(segment) ?? 0, sureness));
      if (proper) written.set(segment, Math.max(written.get(segment) ?? 0, sureness));
    }
  }
  return { written, any };
}

/** Words of a query that are counted in whole servers; the longest hold some hundreds. */
const MAX_COUNTED_TERMS = 100;

/**
 * How much of a query the tools of each server hold between them: of every word, by its rarity, the fourth root of the share of the
 * tools that hold it, because that some tools of a server hold a word says more than how many do. Among many tools that look
 * alike, those of the server that is about the matter are meant.
 */
function rateNeighbours(terms: readonly QueryTerm[], lookup: Lookup, { vocabulary, size }: Postings): Float64Array {
  const ratings = new Float64Array(lookup.segments.length);
  for (const { id, weight } of terms.slice(0, MAX_COUNTED_TERMS)) {
    const worth = weight * rarity(vocabulary.uses(id), size);
    const spread = lookup.spread(id);
    for (let i = 0; i < ratings.length; i++) {
      if (spread[i] !== 0) ratings[i] = ratings[i]! + worth * Math.sqrt(Math.sqrt(spread[i]!));
    }
  }
  return ratings;
}

/**
 * What some documents hold of the terms of a query. A list is read once for each term, however many features, clauses and needs
 * ask for it.
 */
export interface Lookup {
  /** Ascending; the place of a document is its position here. */
  readonly documents: Uint32Array;
  /** The servers of the documents, ascending. */
  readonly segments: readonly Segment[];
  /** For each document the position of its server in {@link segments}. */
  readonly segmentAt: Uint32Array;
  placeOf(document: number): number;
  /** The packed frequencies of a term in each document; 0 where it is not. */
  frequencies(term: number): Uint32Array;
  /** What a term of weight 1 adds to the score of each document. */
  shares(term: number): Float32Array;
  /** The share of each server's tools that hold a term. */
  spread(term: number): Float32Array;
  /** The servers that have a term in their names. */
  named(term: number): Named;
}

/** Servers with a term in their names, and how many of the documents with the term are theirs. */
interface Named {
  readonly servers: ReadonlySet<Segment>;
  readonly own: number;
}

/** A list that is so many times as long as what is looked for in it is not gone through. */
const GONE_THROUGH = 12;

/** Numbers that are kept for the next lookup: those of an ordinary query. */
const KEPT = 1 << 16;

/** Looks up documents, each once. A lookup is over when the next one begins: they share their memory. */
type LookUp = (chosen: readonly number[], postings: Postings) => Lookup;

/** Lookups one after the other. */
export function createLookUp(): LookUp {
  const kept = new ArrayBuffer(KEPT * 4);
  return (chosen, postings) => createLookup(chosen, postings, kept);
}

function createLookup(chosen: readonly number[], postings: Postings, kept: ArrayBuffer): Lookup {
  let used = 0;

  /** Zeros: of the memory that is kept, or else of their own. */
  function numbers<T extends Uint32Array | Float32Array>(
    type: new (buffer: ArrayBuffer, from: number, length: number) => T,
    length: number,
  ): T {
    if (used + length > KEPT) return new type(new ArrayBuffer(length * 4), 0, length);
    const array = new type(kept, used * 4, length);
    used += length;
    array.fill(0);
    return array;
  }

  const { lists, lengths } = postings;
  const documents = Uint32Array.from(chosen).sort();
  const segments: Segment[] = [];
  const segmentAt = new Uint32Array(documents.length);
  for (let place = 0; place < documents.length; place++) {
    const segment = postings.owners[documents[place]!]!;
    if (segments.at(-1) !== segment) segments.push(segment);
    segmentAt[place] = segments.length - 1;
  }
  let worth: Float32Array | undefined;

  function frequencies(term: number): Uint32Array {
    const { arena } = lists;
    const found = numbers(Uint32Array, documents.length);
    const end = lists.end(term);
    let at = lists.start(term);
    if (end - at <= POSTING_WORDS * GONE_THROUGH * documents.length) {
      for (let place = 0; at < end; at += POSTING_WORDS) {
        const document = arena[at]!;
        while (place < documents.length && documents[place]! < document) place++;
        if (place === documents.length) break;
        if (documents[place] === document) found[place] = arena[at + 1]!;
      }
      return found;
    }
    for (let place = 0; place < documents.length; place++) {
      at = lists.seek(term, documents[place]!, at);
      if (at >= end) break;
      if (arena[at] === documents[place]) found[place] = arena[at + 1]!;
    }
    return found;
  }

  function shares(term: number): Float32Array {
    worth ??= fieldWorth(postings);
    const packed = known(term, 'frequencies', frequencies);
    const most = rarity(postings.vocabulary.uses(term), postings.size);
    const sums = numbers(Float32Array, documents.length);
    for (let place = 0; place < packed.length; place++) {
      if (packed[place] === 0) continue;
      const from = documents[place]! * FIELDS.length;
      let frequency = 0;
      for (let field = 0, left = packed[place]!; left !== 0; field++, left >>>= FREQUENCY_BITS) {
        const inField = left & HIGHEST_FREQUENCY;
        if (inField !== 0) frequency += inField * worth[(field << 8) | lengths[from + field]!]!;
      }
      sums[place] = (most * frequency) / (K1 + frequency);
    }
    return sums;
  }

  function spread(term: number): Float32Array {
    const { arena } = lists;
    const found = numbers(Float32Array, segments.length);
    const end = lists.end(term);
    let at = lists.start(term);
    if (end - at <= POSTING_WORDS * GONE_THROUGH * segments.length) {
      for (let i = 0; at < end; at += POSTING_WORDS) {
        const document = arena[at]!;
        while (i < segments.length && segments[i]!.first + segments[i]!.tools.length <= document) i++;
        if (i === segments.length) break;
        if (document >= segments[i]!.first) found[i] = found[i]! + 1;
      }
    } else {
      for (let i = 0; i < segments.length; i++) {
        const { first, tools } = segments[i]!;
        at = lists.seek(term, first, at);
        if (at >= end) break;
        // Most servers hold none of a word, and one look tells.
        if (arena[at]! >= first + tools.length) continue;
        const begin = at;
        at = lists.seek(term, first + tools.length, at);
        found[i] = (at - begin) / POSTING_WORDS;
      }
    }
    for (let i = 0; i < segments.length; i++) found[i] = found[i]! / segments[i]!.tools.length;
    return found;
  }

  function named(term: number): Named {
    const { arena } = lists;
    const servers = new Set<Segment>();
    let own = 0;
    for (let at = lists.start(term), end = lists.end(term); at < end; at += POSTING_WORDS) {
      if (frequencyIn(arena[at + 1]!, SERVER_FIELD) === 0) continue;
      const segment = postings.owners[arena[at]!];
      if (!segment) continue;
      own++;
      servers.add(segment);
    }
    return { servers, own };
  }

  const memory = {
    frequencies: new Map<number, Uint32Array>(),
    shares: new Map<number, Float32Array>(),
    spread: new Map<number, Float32Array>(),
    named: new Map<number, Named>(),
  };

  function known<K extends keyof typeof memory, T>(term: number, what: K, find: (term: number) => T): T {
    const map = memory[what] as unknown as Map<number, T>;
    const before = map.get(term);
    if (before !== undefined) return before;
    const now = find(term);
    map.set(term, now);
    return now;
  }

  return {
    documents,
    segments,
    segmentAt,
    placeOf(document) {
      let low = 0;
      let high = documents.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (documents[middle]! < document) low = middle + 1;
        else high = middle;
      }
      return low;
    },
    frequencies: (term) => known(term, 'frequencies', frequencies),
    shares: (term) => known(term, 'shares', shares),
    spread: (term) => known(term, 'spread', spread),
    named: (term) => known(term, 'named', named),
  };
}
