import { addressOf } from '../kernel/ids.js';
import { editDistance, nearestNames } from '../kernel/text.js';
import type { Tool } from '../model/tool.js';
import { leastEdits, letterSet } from './letters.js';
import { compareAddresses } from './rank.js';
import { selectTop } from './top.js';
import type { Vocabulary } from './vocabulary.js';

/** Names that are compared letter by letter at most: those whose letters fit best. */
const COMPARED = 1000;

/** Characters of a text that can still be a misspelt name. */
const LONGEST_NAME = 120;

/** The tools whose names look most like a text, or whose addresses do when it holds a colon; best first. */
export function nearestTools(wanted: string, tools: Iterable<Tool>, count: number): Tool[] {
  const target = wanted.slice(0, LONGEST_NAME);
  const letters = letterSet(target);
  const nameOf = (tool: Tool): string =>
    target.includes(':') ? addressOf(tool.server, tool.name) : tool.name.slice(0, LONGEST_NAME);

  const byName = new Map<string, Tool[]>();
  for (const { tool } of selectTop(measured(tools, letters, nameOf), COMPARED, byEdits)) {
    byName.set(nameOf(tool), [...(byName.get(nameOf(tool)) ?? []), tool]);
  }
  return nearestNames(target, byName.keys(), count).flatMap((name) => byName.get(name) ?? []);
}

interface Measured {
  readonly tool: Tool;
  readonly edits: number;
}

function byEdits(a: Measured, b: Measured): number {
  return a.edits - b.edits || compareAddresses(a.tool, b.tool);
}

function* measured(tools: Iterable<Tool>, letters: number, nameOf: (tool: Tool) => string): Generator<Measured> {
  for (const tool of tools) yield { tool, edits: leastEdits(letters, letterSet(nameOf(tool))) };
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
