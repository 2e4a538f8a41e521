import type { Tool } from '../model/tool.js';
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
  /** In how many documents each term stands. */
  readonly uses: readonly number[];
  /** The terms of each document and their packed frequencies, one document after the other, and where each ends. */
  readonly held: readonly number[];
  readonly packed: readonly number[];
  readonly ends: readonly number[];
  /** The distinct terms of each document's name, and where each document's end. */
  readonly nameTerms: readonly number[];
  readonly nameEnds: readonly number[];
  /** The length of each field of each document. */
  readonly lengths: readonly number[];
  /** Adds a tool with its terms, one list for each field. */
  add(tool: Tool, fields: ReadonlyArray<readonly string[]>): void;
}

/** The greatest field length that is told apart; a byte holds it. */
const LONGEST_FIELD = 255;

/** An empty draft. */
export function createDraft(): Draft {
  const numbers = new Map<string, number>();
  const tools: Tool[] = [];
  const terms: string[] = [];
  const uses: number[] = [];
  const held: number[] = [];
  const packed: number[] = [];
  const ends: number[] = [];
  const nameTerms: number[] = [];
  const nameEnds: number[] = [];
  const lengths: number[] = [];

  function numberOf(term: string): number {
    const known = numbers.get(term);
    if (known !== undefined) return known;
    const number = terms.push(term) - 1;
    numbers.set(term, number);
    uses.push(0);
    return number;
  }

  return {
    tools,
    terms,
    uses,
    held,
    packed,
    ends,
    nameTerms,
    nameEnds,
    lengths,
    add(tool, fields) {
      tools.push(tool);
      for (const [number, frequencies] of packTerms(fields, numberOf)) {
        held.push(number);
        packed.push(frequencies);
        uses[number] = uses[number]! + 1;
        if (frequencyIn(frequencies, NAME_FIELD) > 0) nameTerms.push(number);
      }
      ends.push(held.length);
      nameEnds.push(nameTerms.length);
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
