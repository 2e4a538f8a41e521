import type { Tool } from '../../model/tool.js';
import { createActions } from '../../search/index.js';
import type { HeldTools } from '../contract/studio.js';
import type { Why } from './why.js';

/** Tools that are named at most; a number says how many there are. */
const MAX_NAMED = 200;
/** Shorter words say little about what is meant. */
const MIN_WORD = 3;
/** Words that name nothing: "delete everything" asks for what deletes. */
const GENERIC = new Set(
  'all and any anything are can every everything for from how into its not now one please some something that the then there these things this those use using want what which with you your'.split(
    ' ',
  ),
);
/** The share of the words that a tool must have. */
const ENOUGH = 2 / 3;

/** What words of one action share: who asks to remove means what deletes. */
const { byTerm: ACTIONS } = createActions((word) => word);

/** The words of a text, each in the form of one: "notes" is "note". */
function wordsOf(text: string): string[] {
  return text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length >= MIN_WORD && !GENERIC.has(word))
    .map((word) => (word.length > MIN_WORD ? word.replace(/(?<!s)s$/, '') : word));
}

/** Whether two words are one, or name one action. */
function isSame(word: string, other: string): boolean {
  return word === other || (ACTIONS.has(word) && ACTIONS.get(word) === ACTIONS.get(other));
}

/**
 * Whether a tool may be what these words mean: it has most of them, or they have all of its name. The text of what waits
 * for approval is left alone (A11).
 */
function isMeant({ server, name, summary, status }: Tool, words: readonly string[]): boolean {
  const named = wordsOf(name);
  const text = `${server} ${name} ${status === 'disabled' ? summary : ''}`.toLowerCase();
  const had = words.filter((word) => text.includes(word) || named.some((other) => isSame(word, other)));
  if (had.length >= Math.ceil(words.length * ENOUGH)) return true;
  return named.length > 1 && named.every((word) => words.some((other) => isSame(word, other)));
}

/** The tools that servers have and agents do not get, and why; with a query those that it may mean. */
export function heldTools(
  tools: readonly Tool[],
  explain: (tool: Tool) => Pick<Why, 'because' | 'reason'>,
  query: string | undefined,
): HeldTools {
  const words = wordsOf(query ?? '');
  const held = tools.filter(
    (tool) => tool.status !== 'enabled' && (query === undefined || (words.length > 0 && isMeant(tool, words))),
  );
  return {
    total: held.length,
    tools: held.slice(0, MAX_NAMED).map((tool) => {
      const { because, reason } = explain(tool);
      return { server: tool.server, tool: tool.name, status: tool.status, because, reason };
    }),
  };
}
