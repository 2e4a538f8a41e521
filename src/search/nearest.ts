import { editDistance, nearestNames } from '../kernel/text.js';
import { letterSet, mayBeNear } from './letters.js';
import type { Vocabulary } from './vocabulary.js';

/** Names that are compared letter by letter at most; the rest of a huge catalog is passed over. */
const COMPARED = 5000;

/** Characters of a query that can still be a misspelt name or word. */
const LONGEST_NAME = 120;

/** The names most like a misspelt one; a cheap look at their letters spares nearly all of them the comparison. */
export function nearestTo(wanted: string, names: Iterable<string>, count: number): string[] {
  const target = wanted.slice(0, LONGEST_NAME).toLowerCase();
  const letters = letterSet(target);
  const limit = Math.max(1, Math.floor(target.length / 3));
  const similar: string[] = [];
  for (const name of names) {
    if (similar.length >= COMPARED) break;
    const own = letterSet(name.toLowerCase());
    const within = (letters & ~own) === 0 || (own & ~letters) === 0;
    if (within || mayBeNear(letters, own, limit)) similar.push(name);
  }
  return nearestNames(target, similar, count);
}

/** The known term most like an unknown one, up to a third of its letters being wrong. */
export function nearestTerm(term: string, vocabulary: Vocabulary): number | undefined {
  const limit = Math.floor(Math.min(term.length, LONGEST_NAME) / 3);
  if (limit === 0) return undefined;
  let best: { id: number; distance: number } | undefined;
  for (const id of vocabulary.near(term, limit).slice(0, COMPARED)) {
    const distance = editDistance(term, vocabulary.text(id), best ? best.distance - 1 : limit);
    if (distance < (best?.distance ?? Infinity)) best = { id, distance };
    if (best?.distance === 1) break;
  }
  return best?.id;
}
