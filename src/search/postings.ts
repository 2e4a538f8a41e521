import type { Tool } from '../model/tool.js';
import { FIELDS, NAME_FIELD } from './fields.js';
import { letterSet } from './letters.js';
import {
  createPostingLists,
  frequencyIn,
  grown,
  HIGHEST_FREQUENCY,
  packedOnce,
  POSTING_WORDS,
  type PostingLists,
} from './posting-lists.js';
import { createVocabulary, type Vocabulary } from './vocabulary.js';

/** A tool and its terms, one list for each field. */
export interface Document {
  readonly tool: Tool;
  readonly terms: readonly (readonly string[])[];
}

/**
 * The documents of one server: neighbours, numbered from `first`. What the segment added to the
 * shared statistics is kept with it, so that removing it costs only its own size.
 */
export interface Segment {
  /** Sorted by name. */
  readonly tools: readonly Tool[];
  first: number;
  /** The distinct terms of the segment, and in how many of its documents each stands. */
  terms: Uint32Array;
  readonly uses: Uint32Array;
  /** The distinct terms of each document's name, one after the other, and where each document's end. */
  nameTerms: Uint32Array;
  readonly nameEnds: Uint32Array;
  /** The letters of each document's name, to look for names that are like another. */
  readonly letters: Uint32Array;
}

/** The inverted index: which documents hold a term, in which fields, and the statistics ranking needs. */
export interface Postings {
  readonly vocabulary: Vocabulary;
  readonly lists: PostingLists;
  /** One more than the highest document number; some numbers may belong to removed documents. */
  readonly end: number;
  /** Documents that are there. */
  readonly size: number;
  /** Length of each field of each document in terms: `lengths[document * FIELDS.length + field]`. */
  readonly lengths: Uint8Array;
  /** The mean length of a field over the documents that are there. */
  averageLength(field: number): number;
  /** The segment a document belongs to; `undefined` once it is removed. */
  segmentOf(document: number): Segment | undefined;
  add(documents: readonly Document[]): Segment;
  remove(segment: Segment): void;
}

/** The greatest field length that is told apart; a byte holds it. */
const LONGEST_FIELD = 255;

/** Removed documents that are always tolerated, so that small catalogs are not rewritten over and over. */
const TOLERATED = 256;

/**
 * An empty inverted index. A removed document only loses its segment; its postings stay until more
 * than half of all documents are gone, and then everything that is left moves to fresh arrays.
 */
export function createPostings(): Postings {
  let vocabulary = createVocabulary();
  let lists = createPostingLists();
  let lengths = new Uint8Array(0);
  let owners: Array<Segment | undefined> = [];
  let size = 0;
  const totals = new Float64Array(FIELDS.length);

  function countLengths(segment: Segment, sign: 1 | -1): void {
    const end = (segment.first + segment.tools.length) * FIELDS.length;
    for (let at = segment.first * FIELDS.length; at < end; at++) {
      const field = at % FIELDS.length;
      totals[field] = totals[field]! + sign * lengths[at]!;
    }
    size += sign * segment.tools.length;
  }

  function add(documents: readonly Document[]): Segment {
    const first = owners.length;
    const uses = new Map<number, number>();
    const nameTerms: number[] = [];
    const nameEnds: number[] = [];
    lengths = grown(lengths, (first + documents.length) * FIELDS.length);
    for (const [offset, { terms }] of documents.entries()) {
      for (const [id, packed] of packTerms(terms, vocabulary)) {
        lists.append(id, first + offset, packed);
        uses.set(id, (uses.get(id) ?? 0) + 1);
        if (frequencyIn(packed, NAME_FIELD) > 0) nameTerms.push(id);
      }
      nameEnds.push(nameTerms.length);
      for (const [field, list] of terms.entries()) {
        lengths[(first + offset) * FIELDS.length + field] = Math.min(list.length, LONGEST_FIELD);
      }
    }
    for (const [id, count] of uses) vocabulary.addUses(id, count);
    const segment: Segment = {
      tools: documents.map(({ tool }) => tool),
      first,
      terms: Uint32Array.from(uses.keys()),
      uses: Uint32Array.from(uses.values()),
      nameTerms: Uint32Array.from(nameTerms),
      nameEnds: Uint32Array.from(nameEnds),
      letters: Uint32Array.from(documents, ({ tool }) => letterSet(tool.name)),
    };
    for (let i = 0; i < documents.length; i++) owners.push(segment);
    countLengths(segment, 1);
    return segment;
  }

  function remove(segment: Segment): void {
    countLengths(segment, -1);
    for (const [i, id] of segment.terms.entries()) vocabulary.addUses(id, -segment.uses[i]!);
    owners.fill(undefined, segment.first, segment.first + segment.tools.length);
    if (owners.length - size > size + TOLERATED) compact();
  }

  /** Renumbers documents and terms without gaps; the order of both stays, so every list stays sorted. */
  function compact(): void {
    const documentIds = new Uint32Array(owners.length);
    const keptOwners: Segment[] = [];
    const keptLengths = new Uint8Array(size * FIELDS.length);
    for (const [document, owner] of owners.entries()) {
      if (!owner) continue;
      const row = lengths.subarray(document * FIELDS.length, (document + 1) * FIELDS.length);
      keptLengths.set(row, keptOwners.length * FIELDS.length);
      documentIds[document] = keptOwners.push(owner) - 1;
    }

    const termIds = new Uint32Array(vocabulary.size);
    const keptVocabulary = createVocabulary();
    const keptLists = createPostingLists();
    for (let term = 0; term < vocabulary.size; term++) {
      if (vocabulary.uses(term) === 0) continue;
      const id = keptVocabulary.intern(vocabulary.text(term));
      keptVocabulary.addUses(id, vocabulary.uses(term));
      termIds[term] = id;
      for (let at = lists.start(term); at < lists.end(term); at += POSTING_WORDS) {
        const document = lists.arena[at]!;
        if (owners[document]) keptLists.append(id, documentIds[document]!, lists.arena[at + 1]!);
      }
    }

    for (const segment of new Set(keptOwners)) {
      segment.first = documentIds[segment.first]!;
      segment.terms = segment.terms.map((term) => termIds[term]!);
      segment.nameTerms = segment.nameTerms.map((term) => termIds[term]!);
    }
    vocabulary = keptVocabulary;
    lists = keptLists;
    lengths = keptLengths;
    owners = keptOwners;
  }

  return {
    get vocabulary() {
      return vocabulary;
    },
    get lists() {
      return lists;
    },
    get lengths() {
      return lengths;
    },
    get end() {
      return owners.length;
    },
    get size() {
      return size;
    },
    averageLength: (field) => (size === 0 ? 0 : totals[field]! / size),
    segmentOf: (document) => owners[document],
    add,
    remove,
  };
}

/** The distinct terms of a document with their frequencies in each field. */
function packTerms(terms: Document['terms'], vocabulary: Vocabulary): Map<number, number> {
  const packed = new Map<number, number>();
  for (const [field, list] of terms.entries()) {
    for (const term of list) {
      const id = vocabulary.intern(term);
      const before = packed.get(id) ?? 0;
      if (frequencyIn(before, field) < HIGHEST_FREQUENCY) packed.set(id, before + packedOnce(field));
    }
  }
  return packed;
}
