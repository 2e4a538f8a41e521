import type { Tool } from '../../model/tool.js';
import { SKETCH_WORDS, type Draft } from './draft.js';
import { FIELDS } from './fields.js';
import { letterSet } from '../text/letters.js';
import {
  createPostingLists,
  createVocabulary,
  grown,
  POSTING_WORDS,
  type PostingLists,
  type Vocabulary,
} from './posting-lists.js';

/**
 * The documents of one server: neighbours, numbered from `first`. What the segment added to the
 * shared statistics is kept with it, so that removing it costs only its own size.
 */
export interface Segment {
  /** Sorted by name. They may be exchanged for others of the same texts. */
  tools: readonly Tool[];
  first: number;
  /** The distinct terms of the segment, and in how many of its documents each stands. */
  readonly terms: Uint32Array;
  readonly uses: Uint32Array;
  /** The distinct terms of each document's name, one after the other, and where each document's end. */
  readonly nameTerms: Uint32Array;
  readonly nameEnds: Uint32Array;
  /** The letters of each document's name, to look for names that are like another. */
  readonly letters: Uint32Array;
  /** What each document does. */
  readonly actions: Uint8Array;
  /** The vector of each document, one after the other; empty without word vectors. */
  readonly rows: Int8Array;
}

/**
 * The inverted index: which documents hold a term, in which fields, and the statistics ranking needs. Arrays are replaced as they
 * grow, so read them anew for every query.
 */
export interface Postings {
  readonly vocabulary: Vocabulary;
  readonly lists: PostingLists;
  /** The segment of each document, by its number; `undefined` once it is removed. */
  readonly owners: ReadonlyArray<Segment | undefined>;
  /** Documents that are there. */
  readonly size: number;
  /** Length of each field of each document in terms: `lengths[document * FIELDS.length + field]`. */
  readonly lengths: Uint8Array;
  /** The sketch of each document's vector: `sketches[document * SKETCH_WORDS + word]`. */
  readonly sketches: Uint32Array;
  /** For each field the lengths of the documents that are there, added up, and how many have any of it. */
  readonly totals: Float64Array;
  readonly holders: Float64Array;
  /** Puts in the documents of a draft, which is not to change any more. */
  add(draft: Draft): Segment;
  /** Takes a segment out: it is not found any more, and its documents wait to be cleared out. */
  remove(segment: Segment): void;
  /**
   * Clears out some of what was removed, about this many postings' worth of work; answers whether there is more to
   * do. Whatever is asked in between is answered as if it had all been done, or nothing.
   */
  clear(work: number): boolean;
  /** Memory of the typed arrays, which is nearly all there is, in bytes. */
  readonly bytes: number;
}

/** Removed documents that are always tolerated, so that small catalogs are not rewritten over and over. */
const TOLERATED = 256;

/** What is there and a quarter more: so many removed documents are tolerated. */
const withQuarter = (count: number): number => count + (count >>> 2);

/** A segment that knows its place in the arrays that are being written. */
interface Owner extends Segment {
  next: number;
}

/** Everything that goes by the numbers of documents. */
interface Numbering {
  lists: PostingLists;
  lengths: Uint8Array;
  sketches: Uint32Array;
  owners: Array<Owner | undefined>;
}

/**
 * The way to a numbering without gaps. First every document gets its new number, then every list is copied; both in
 * ascending order, so every list stays sorted. Once the first list is copied, whatever is added goes to both sides.
 */
interface Move extends Numbering {
  /** Documents below this have a new number. */
  documents: number;
  /** Lists below this are copied. */
  copied: number;
}

/**
 * An empty inverted index. A removed document only loses its segment; its postings stay until a fifth of all documents
 * are gone (and more than `tolerated`), and then what is left moves to fresh arrays, a little with each call of `clear`.
 */
export function createPostings(tolerated = TOLERATED): Postings {
  const vocabulary = createVocabulary();
  const totals = new Float64Array(FIELDS.length);
  const holders = new Float64Array(FIELDS.length);
  const now: Numbering & Postings & { size: number } = {
    vocabulary,
    lists: createPostingLists(),
    lengths: new Uint8Array(0),
    sketches: new Uint32Array(0),
    owners: [],
    size: 0,
    totals,
    holders,
    add,
    remove,
    clear,
    get bytes() {
      return [now, ...(move ? [move] : [])].reduce(
        (sum, { lists, lengths, sketches }) => sum + lists.bytes + lengths.byteLength + sketches.byteLength,
        0,
      );
    },
  };
  let move: Move | undefined;
  /** Postings of the documents that are there. */
  let held = 0;

  function countLengths({ first, tools }: Segment, sign: 1 | -1): void {
    const end = (first + tools.length) * FIELDS.length;
    for (let at = first * FIELDS.length; at < end; at++) {
      const field = at % FIELDS.length;
      totals[field] = totals[field]! + sign * now.lengths[at]!;
      if (now.lengths[at]! > 0) holders[field] = holders[field]! + sign;
    }
    now.size += sign * tools.length;
  }

  function add(draft: Draft): Segment {
    const count = draft.terms.length;
    const ids = new Uint32Array(count);
    const uses = new Uint32Array(count);
    let postings = 0;
    for (let term = 0; term < count; term++) {
      ids[term] = vocabulary.intern(draft.terms[term]!);
      uses[term] = draft.postings[term]!.length / POSTING_WORDS;
      postings += uses[term]!;
    }
    const nameTerms = new Uint32Array(draft.nameTerms);
    for (let at = 0; at < nameTerms.length; at++) nameTerms[at] = ids[nameTerms[at]!]!;
    const letters = new Uint32Array(draft.tools.length);
    for (let at = 0; at < letters.length; at++) letters[at] = letterSet(draft.tools[at]!.name);
    const owner: Owner = {
      tools: draft.tools.slice(),
      first: now.owners.length,
      next: 0,
      terms: ids,
      uses,
      nameTerms,
      nameEnds: new Uint32Array(draft.nameEnds),
      letters,
      actions: Uint8Array.from(draft.actions),
      rows: joined(draft.rows),
    };
    put(owner, draft.lengths, draft.sketches, now);
    countLengths(owner, 1);
    const copied = move?.copied ?? 0;
    if (move && copied > 0 && owner.tools.length > 0) renumber(move);
    held += postings;
    now.lists.expect(postings);
    for (let term = 0; term < count; term++) {
      const id = ids[term]!;
      vocabulary.addUses(id, uses[term]!);
      now.lists.extend(id, owner.first, draft.postings[term]!);
      if (id < copied) move!.lists.extend(id, owner.next, draft.postings[term]!);
    }
    return owner;
  }

  /** Gives the documents of a segment the next numbers. */
  function put(owner: Owner, lengths: ArrayLike<number>, sketches: ArrayLike<number>, to: Numbering): void {
    const first = to.owners.length;
    for (let i = 0; i < owner.tools.length; i++) to.owners.push(owner);
    to.lengths = grown(to.lengths, to.owners.length * FIELDS.length);
    to.lengths.set(lengths, first * FIELDS.length);
    to.sketches = grown(to.sketches, to.owners.length * SKETCH_WORDS);
    to.sketches.set(sketches, first * SKETCH_WORDS);
  }

  function remove(segment: Segment): void {
    const { first, next, tools, terms, uses } = segment as Owner;
    countLengths(segment, -1);
    now.owners.fill(undefined, first, first + tools.length);
    if (move && first < move.documents) move.owners.fill(undefined, next, next + tools.length);
    for (const [i, id] of terms.entries()) {
      vocabulary.addUses(id, -uses[i]!);
      held -= uses[i]!;
      if (vocabulary.uses(id) > 0) continue;
      // Only removed documents are left in the lists, and another term gets the number.
      now.lists.empty(id);
      move?.lists.empty(id);
      vocabulary.forget(id);
    }
  }

  function isOverdue(): boolean {
    return now.owners.length > withQuarter(now.size) + tolerated;
  }

  function clear(work: number): boolean {
    if (!move && !isOverdue()) return false;
    move ??= {
      lists: createPostingLists(held),
      lengths: new Uint8Array(withQuarter(now.size) * FIELDS.length),
      sketches: new Uint32Array(withQuarter(now.size) * SKETCH_WORDS),
      owners: [],
      documents: 0,
      copied: 0,
    };
    let left = work;
    while (left > 0 && move.documents < now.owners.length) left -= renumber(move);
    while (left > 0 && move.copied < vocabulary.size) left -= copyList(move);
    if (left <= 0) return true;
    finish(move);
    return isOverdue();
  }

  /** Gives the next segment its new numbers, or skips a removed document; answers what work it was. */
  function renumber(to: Move): number {
    const owner = now.owners[to.documents];
    const count = owner?.tools.length ?? 1;
    if (owner) {
      owner.next = to.owners.length;
      const { first } = owner;
      const lengths = now.lengths.subarray(first * FIELDS.length, (first + count) * FIELDS.length);
      put(owner, lengths, now.sketches.subarray(first * SKETCH_WORDS, (first + count) * SKETCH_WORDS), to);
    }
    to.documents += count;
    return count;
  }

  /** Copies the next list without what was removed; answers what work it was. A list is short work, even of a million. */
  function copyList(to: Move): number {
    const term = to.copied++;
    const { arena } = now.lists;
    const [start, end] = [now.lists.start(term), now.lists.end(term)];
    if (start === end) return 1;
    to.lists.reserve(term, vocabulary.uses(term));
    for (let at = start; at < end; at += POSTING_WORDS) {
      const document = arena[at]!;
      const owner = now.owners[document];
      if (owner) to.lists.append(term, owner.next + document - owner.first, arena[at + 1]!);
    }
    return 1 + (end - start) / POSTING_WORDS;
  }

  function finish({ lists, lengths, sketches, owners }: Move): void {
    for (let at = 0; at < owners.length; at += owners[at]?.tools.length ?? 1) {
      const owner = owners[at];
      if (owner) owner.first = at;
    }
    Object.assign(now, { lists, lengths, sketches, owners } satisfies Numbering);
    move = undefined;
  }

  return now;
}

function joined(rows: readonly Int8Array[]): Int8Array {
  const width = rows[0]?.length ?? 0;
  const whole = new Int8Array(width * rows.length);
  for (const [i, row] of rows.entries()) whole.set(row, i * width);
  return whole;
}
