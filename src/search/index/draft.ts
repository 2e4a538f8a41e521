import type { Tool } from '../../model/tool.js';
import type { Action } from '../words/actions.js';
import { FIELDS, NAME_FIELD } from './fields.js';
import { frequencyIn, HIGHEST_FREQUENCY, packedOnce } from './posting-lists.js';

/**
 * The documents of one server before they are in the index: everything that can be reckoned without it, so that what
 * is left to do when they go in is short.
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
  /** Adds a tool with its terms, one list for each field. */
  add(tool: Tool, fields: ReadonlyArray<readonly string[]>, action?: Action): void;
}

/** The greatest field length that is told apart; a byte holds it. */
const LONGEST_FIELD = 255;

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
    add(tool, fields, action = 0) {
      const document = tools.push(tool) - 1;
      for (const [number, frequencies] of packTerms(fields, numberOf)) {
        postings[number]!.push(document, frequencies);
        if (frequencyIn(frequencies, NAME_FIELD) > 0) nameTerms.push(number);
      }
      nameEnds.push(nameTerms.length);
      actions.push(action);
      for (let field = 0; field < FIELDS.length; field++) {
        lengths.push(Math.min(fields[field]?.length ?? 0, LONGEST_FIELD));
      }
    },
  };
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
