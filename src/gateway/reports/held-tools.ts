import type { Tool } from '../../model/tool.js';
import type { HeldTools } from '../contract/studio.js';
import type { Why } from './why.js';

/** Tools that are named at most; a number says how many there are. */
const MAX_NAMED = 200;
/** Shorter words say little about what is meant. */
const MIN_WORD = 3;
/** The share of the words that a tool must have. */
const ENOUGH = 2 / 3;

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length >= MIN_WORD);
}

/** Whether a tool may be what these words mean. The text of what waits for approval is left alone (A11). */
function isMeant({ server, name, summary, status }: Tool, words: readonly string[]): boolean {
  const text = `${server} ${name} ${status === 'disabled' ? summary : ''}`.toLowerCase();
  return words.filter((word) => text.includes(word)).length >= Math.ceil(words.length * ENOUGH);
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
