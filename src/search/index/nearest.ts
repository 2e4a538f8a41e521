import { addressOf } from '../../kernel/ids.js';
import { editDistance, nearestNames } from '../../kernel/text.js';
import type { Tool } from '../../model/tool.js';
import { leastEdits, letterSet } from '../text/letters.js';
import type { Segment } from './postings.js';
import { compareAddresses } from './names.js';
import type { Vocabulary } from './posting-lists.js';

/** Names that are compared letter by letter at most: those whose letters fit best. */
const COMPARED = 1000;

/** Characters of a text that can still be a misspelt name. */
const MAX_NAME_LENGTH = 120;

/** More than any two sets of letters can differ by. */
const MAX_EDITS = 33;

/** The tools whose names look most like a text, or whose addresses do when it holds a colon; best first, equal ones by address. */
export function nearestTools(
  wanted: string,
  segments: readonly Segment[],
  count: number,
  accept: (tool: Tool) => boolean,
): Tool[] {
  const target = wanted.slice(0, MAX_NAME_LENGTH);
  const letters = letterSet(target);
  const byAddress = target.includes(':');
  const nameOf = ({ server, name }: Tool): string =>
    byAddress ? addressOf(server, name).slice(0, MAX_NAME_LENGTH) : name.slice(0, MAX_NAME_LENGTH);

  const byEdits: Tool[][] = Array.from({ length: MAX_EDITS }, () => []);
  let most = MAX_EDITS - 1;
  let kept = 0;
  for (const { tools, letters: own } of segments) {
    // An address has the letters of its server and of its name.
    const shared = byAddress && tools[0] ? letterSet(addressOf(tools[0].server, '')) : 0;
    for (let i = 0; i < own.length; i++) {
      const edits = leastEdits(letters, own[i]! | shared);
      if (edits > most || !accept(tools[i]!)) continue;
      byEdits[edits]!.push(tools[i]!);
      kept++;
      while (kept - byEdits[most]!.length >= COMPARED) kept -= byEdits[most--]!.length;
    }
  }

  const byName = new Map<string, Tool[]>();
  for (const tool of byEdits
    .slice(0, most + 1)
    .flat()
    .slice(0, COMPARED)) {
    byName.set(nameOf(tool), [...(byName.get(nameOf(tool)) ?? []), tool]);
  }
  return nearestNames(target, byName.keys(), count).flatMap((name) =>
    (byName.get(name) ?? []).toSorted(compareAddresses),
  );
}

/** The known term most like an unknown one, up to a third of its letters being wrong. */
export function nearestTerm(term: string, vocabulary: Vocabulary): number | undefined {
  const limit = Math.floor(term.length / 3);
  if (limit === 0) return vocabulary.find(term);
  const [best] = vocabulary
    .near(term, limit)
    .slice(0, COMPARED)
    .map((id) => ({ id, text: vocabulary.text(id), distance: editDistance(term, vocabulary.text(id), limit) }))
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance || (a.text < b.text ? -1 : 1));
  return best?.id;
}
