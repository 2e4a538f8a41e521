import type { Tool } from '../model/tool.js';
import type { Draft } from './draft.js';
import { FIELDS } from './fields.js';
import { letterSet } from './letters.js';
import { createPostingLists, grown, POSTING_WORDS, type PostingLists } from './posting-lists.js';
import { createVocabulary, type Vocabulary } from './vocabulary.js';

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
  /** The mean length of a field over the documents that are there; of a sparse one, over those that have any of it. */
  averageLength(field: number): number;
  /** The segment a document belongs to; `undefined` once it is removed. */
  segmentOf(document: number): Segment | undefined;
  /** Puts in the documents of a draft, which is not to change any more. */
  add(draft: Draft): Segment;
  remove(segment: Segment): void;
}

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
  const holders = new Float64Array(FIELDS.length);

  function countLengths(segment: Segment, sign: 1 | -1): void {
    const end = (segment.first + segment.tools.length) * FIELDS.length;
    for (let at = segment.first * FIELDS.length; at < end; at++) {
      const field = at % FIELDS.length;
      totals[field] = totals[field]! + sign * lengths[at]!;
      if (lengths[at]! > 0) holders[field] = holders[field]! + sign;
    }
    size += sign * segment.tools.length;
  }

  function add(draft: Draft): Segment {
    const first = owners.length;
    const ids = Uint32Array.from(draft.terms, (term) => vocabulary.intern(term));
    lengths = grown(lengths, (first + draft.tools.length) * FIELDS.length);
    lengths.set(draft.lengths, first * FIELDS.length);
    let at = 0;
    for (const [offset, end] of draft.ends.entries()) {
      for (; at < end; at++) lists.append(ids[draft.held[at]!]!, first + offset, draft.packed[at]!);
    }
    for (const [term, count] of draft.uses.entries()) vocabulary.addUses(ids[term]!, count);
    const segment: Segment = {
      tools: draft.tools.slice(),
      first,
      terms: ids,
      uses: Uint32Array.from(draft.uses),
      nameTerms: Uint32Array.from(draft.nameTerms, (term) => ids[term]!),
      nameEnds: Uint32Array.from(draft.nameEnds),
      letters: Uint32Array.from(draft.tools, ({ name }) => letterSet(name)),
    };
    for (let i = 0; i < draft.tools.length; i++) owners.push(segment);
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
    averageLength(field) {
      const documents = FIELDS[field]?.sparse ? holders[field]! : size;
      return documents === 0 ? 0 : totals[field]! / documents;
    },
    segmentOf: (document) => owners[document],
    add,
    remove,
  };
}
