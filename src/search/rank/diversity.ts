import type { Tool } from '../../model/tool.js';
import { compareAddresses } from './addresses.js';
import type { Placed } from './rank.js';

/** Tools alike that may stand together before further ones step back. */
const TOGETHER = 4;

/** What is left of the relevance of each further one. */
const STEP_BACK = 0.8;

/** Names that share this many terms, all but one of each, are alike. */
const SHARED_TERMS = 2;

/** What decides whether two tools are alike. */
interface Kind {
  readonly server: string;
  readonly terms: ReadonlySet<number>;
  /** Equal for tools that two servers describe with the same words. */
  readonly words: string;
}

/**
 * Keeps near-twins from filling an answer: of tools that are alike the first few keep their place,
 * and each further one steps back a little more. Nothing is hidden; with nobody else to step in,
 * they follow as before.
 */
export function diversify(placed: readonly Placed[], termsOf: (placed: Placed) => ReadonlySet<number>): Placed[] {
  const seen: Kind[] = [];
  const moved = placed.map((one) => {
    const kind = { server: one.tool.server, terms: termsOf(one), words: wordsOf(one.tool) };
    const before = seen.reduce((count, other) => (isAlike(kind, other) ? count + 1 : count), 0);
    seen.push(kind);
    const factor = STEP_BACK ** Math.max(0, before - TOGETHER + 1);
    if (factor === 1) return one;
    return {
      ...one,
      relevance: one.relevance * factor,
      parts: one.parts.map(({ name, share }) => ({ name, share: share * factor })),
    };
  });
  return moved.toSorted((a, b) => b.relevance - a.relevance || compareAddresses(a.tool, b.tool));
}

function wordsOf({ name, summary }: Tool): string {
  return `${name}\n${summary}`;
}

function isAlike(a: Kind, b: Kind): boolean {
  if (a.server !== b.server) return a.words === b.words;
  let shared = 0;
  for (const term of a.terms) if (b.terms.has(term)) shared++;
  const longer = Math.max(a.terms.size, b.terms.size);
  return shared === longer || (shared >= SHARED_TERMS && shared >= longer - 1);
}
