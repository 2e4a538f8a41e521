import type { Tool } from '../../model/tool.js';
import { compareAddresses } from './addresses.js';
import type { Placed } from './rank.js';

/** Tools alike that may stand together before further ones step back. */
const TOGETHER = 4;

/** What is left of the relevance of each further one. */
const STEP_BACK = 0.8;

/** How many tools of one server keep their place where other servers fit too, and the factor on the relevance of each further one. */
const OF_ONE_SERVER = 2;
const SERVER_STEPS_BACK = 0.94;

/** Another server could serve too when a tool of it reaches this share of the best relevance. */
const COMES_NEAR = 0.7;

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
 * Keeps near-twins and single servers from filling an answer: of tools that are alike the first few keep their place,
 * and each further one steps back a little more. So do further tools of one server, where several servers could do it and the
 * query names none of them. Nothing is hidden: where no other tool takes
 * the place, they follow as before.
 */
export function diversify<T extends Placed>(
  placed: readonly T[],
  termsOf: (placed: Placed) => ReadonlySet<number>,
): T[] {
  const seen: Kind[] = [];
  const isOpen = couldServe(placed).size > 1;
  const moved = placed.map((one) => {
    const kind = { server: one.tool.server, terms: termsOf(one), words: wordsOf(one.tool) };
    const before = seen.reduce((count, other) => (isAlike(kind, other) ? count + 1 : count), 0);
    seen.push(kind);
    const ofServer = seen.reduce((count, { server }) => (server === kind.server ? count + 1 : count), 0) - 1;
    const steps = isOpen && !one.isNamed ? Math.max(0, ofServer - OF_ONE_SERVER + 1) : 0;
    const factor = STEP_BACK ** Math.max(0, before - TOGETHER + 1) * SERVER_STEPS_BACK ** steps;
    if (factor === 1) return one;
    return {
      ...one,
      relevance: one.relevance * factor,
      parts: one.parts.map(({ name, share }) => ({ name, share: share * factor })),
    };
  });
  return moved.toSorted((a, b) => b.relevance - a.relevance || compareAddresses(a.tool, b.tool));
}

/** The servers whose best tools are not far from the best of all. */
function couldServe(placed: readonly Placed[]): ReadonlySet<string> {
  const least = (placed[0]?.relevance ?? 0) * COMES_NEAR;
  return new Set(placed.filter(({ relevance }) => relevance >= least).map(({ tool }) => tool.server));
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
