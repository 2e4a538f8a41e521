import { leastEdits, letterSet } from '../text/letters.js';
import { grown } from './posting-lists.js';

/** Every term once, numbered, with the number of tools that hold it. A number is never another's while its term is in use. */
export interface Vocabulary {
  /** One more than the highest number; some may belong to no term now. */
  readonly size: number;
  /** The number of a term, given to it now if it is new. */
  intern(term: string): number;
  /** The number of a term that at least one tool holds. */
  find(term: string): number | undefined;
  text(id: number): string;
  /** How many tools hold the term. */
  uses(id: number): number;
  addUses(id: number, count: number): void;
  /** Forgets a term that no tool holds any more; the next new term gets its number. */
  forget(id: number): void;
  /** Terms in use that may be within `limit` edits of a text; a cheap superset, for an exact look. */
  near(text: string, limit: number): number[];
}

/** The longest length of a term that is told apart. */
const LONGEST = 255;

/** An empty vocabulary. */
export function createVocabulary(): Vocabulary {
  const ids = new Map<string, number>();
  const texts: string[] = [];
  const vacant: number[] = [];
  let uses = new Uint32Array(0);
  let letters = new Uint32Array(0);
  let lengths = new Uint8Array(0);

  return {
    get size() {
      return texts.length;
    },
    intern(term) {
      const known = ids.get(term);
      if (known !== undefined) return known;
      const id = vacant.pop() ?? texts.length;
      texts[id] = term;
      ids.set(term, id);
      uses = grown(uses, id + 1);
      letters = grown(letters, id + 1);
      letters[id] = letterSet(term);
      lengths = grown(lengths, id + 1);
      lengths[id] = Math.min(term.length, LONGEST);
      return id;
    },
    find(term) {
      const id = ids.get(term);
      return id !== undefined && uses[id]! > 0 ? id : undefined;
    },
    text: (id) => texts[id]!,
    uses: (id) => uses[id]!,
    addUses(id, count) {
      uses[id] = uses[id]! + count;
    },
    forget(id) {
      ids.delete(texts[id]!);
      texts[id] = '';
      vacant.push(id);
    },
    near(text, limit) {
      const wanted = letterSet(text);
      const found: number[] = [];
      const [shortest, longest] = [text.length - limit, text.length + limit].map((length) => Math.min(length, LONGEST));
      for (let id = 0; id < texts.length; id++) {
        // Most terms have another length, which is cheaper to see than other letters.
        if (lengths[id]! < shortest! || lengths[id]! > longest!) continue;
        if (uses[id] !== 0 && leastEdits(wanted, letters[id]!) <= limit) found.push(id);
      }
      return found;
    },
  };
}
