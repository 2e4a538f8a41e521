import type { Tool } from '../../model/tool.js';
import type { Action } from '../words/actions.js';
import { FIELDS, NAME_FIELD } from './fields.js';
import { frequencyIn, HIGHEST_FREQUENCY, packedOnce } from './posting-lists.js';

/**
 * The documents of one server before they are in the index: everything that can be computed without the index, so that
 * adding them takes little time.
 */
export interface Draft {
  /** In the order they were added. */
  readonly tools: readonly Tool[];
  /** The distinct terms; a term's place here is its number in this draft. */
  readonly terms: readonly string[];
  /** For each term the documents that hold it, ascending, each followed by its packed frequencies. */
  readonly postings: ReadonlyArray<readonly number[]>;
  /** The distinct terms of each document's name, and where each document's end. */
  readonly nameTerms: readonly number[];
  readonly nameEnds: readonly number[];
  /** The length of each field of each document. */
  readonly lengths: readonly number[];
  /** What each document does. */
  readonly actions: readonly Action[];
  /** The vector of each document, and its sketch: {@link SKETCH_WORDS} numbers. */
  readonly rows: readonly Int8Array[];
  readonly sketches: readonly number[];
  /** Adds a tool with its terms, one list for each field. */
  add(tool: Tool, fields: ReadonlyArray<readonly string[]>, action?: Action, row?: Int8Array): void;
}

/** Numbers of 32 bits in the sketch of a vector: a bit for each of its first 64 numbers, which says whether it is positive. */
export const SKETCH_WORDS = 2;

/** The greatest field length that is told apart; a byte holds it. */
const MAX_FIELD_LENGTH = 255;

/** An empty draft. */
export function createDraft(): Draft {
  const numbers = new Map<string, number>();
  const tools: Tool[] = [];
  const terms: string[] = [];
  const postings: number[][] = [];
  const nameTerms: number[] = [];
  const nameEnds: number[] = [];
  const lengths: number[] = [];
  const actions: Action[] = [];
  const rows: Int8Array[] = [];
  const sketches: number[] = [];

  function numberOf(term: string): number {
    const known = numbers.get(term);
    if (known !== undefined) return known;
    const number = terms.push(term) - 1;
    numbers.set(term, number);
    postings.push([]);
    return number;
  }

  return {
    tools,
    terms,
    postings,
    nameTerms,
    nameEnds,
    lengths,
    actions,
    rows,
    sketches,
    add(tool, fields, action = 0, row = new Int8Array(0)) {
      const document = tools.push(tool) - 1;
      for (const [number, frequencies] of packTerms(fields, numberOf)) {
        postings[number]!.push(document, frequencies);
        if (frequencyIn(frequencies, NAME_FIELD) > 0) nameTerms.push(number);
      }
      nameEnds.push(nameTerms.length);
      actions.push(action);
      rows.push(row);
      sketches.push(...sketchOf(row));
      for (let field = 0; field < FIELDS.length; field++) {
        lengths.push(Math.min(fields[field]?.length ?? 0, MAX_FIELD_LENGTH));
      }
    },
  };
}

function sketchOf(row: Int8Array): Uint32Array {
  const words = new Uint32Array(SKETCH_WORDS);
  for (let i = 0; i < Math.min(row.length, SKETCH_WORDS << 5); i++) {
    if (row[i]! > 0) words[i >>> 5] = words[i >>> 5]! | (1 << (i & 31));
  }
  return words;
}

/** The distinct terms of a document with their frequencies in each field. */
function packTerms(
  fields: ReadonlyArray<readonly string[]>,
  numberOf: (term: string) => number,
): ReadonlyMap<number, number> {
  const packed = new Map<number, number>();
  for (const [field, list] of fields.entries()) {
    for (const term of list) {
      const number = numberOf(term);
      const before = packed.get(number) ?? 0;
      if (frequencyIn(before, field) < HIGHEST_FREQUENCY) packed.set(number, before + packedOnce(field));
    }
  }
  return packed;
}
