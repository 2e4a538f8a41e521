import { findFindings } from '../approvals/index.js';
import type { JsonObject } from '../kernel/json.js';
import type { Tool } from '../model/tool.js';

/** A tool of an answer to a search. */
interface Ranked {
  readonly tool: Tool;
  readonly relevance: number;
  readonly need?: string;
}

/** How well the next tool must fit, against one with findings, to stand before it. */
const FITS_AS_WELL = 0.98;

/** Lets tools with findings that do not hold them give way in searches. */
export interface Doubts {
  /** The same hits: one with findings changes places with the next where that one has none and fits nearly as well. */
  order<Hit extends Ranked>(hits: readonly Hit[]): Hit[];
}

/** No definition was looked at yet; each is looked at once, and only where it matters. */
export function createDoubts(): Doubts {
  const known = new WeakMap<JsonObject, boolean>();
  const isDoubtful = ({ tool: { definition } }: Ranked): boolean => {
    const before = known.get(definition);
    if (before !== undefined) return before;
    const found = findFindings(definition).length > 0;
    known.set(definition, found);
    return found;
  };
  return {
    order(hits) {
      const ordered = [...hits];
      for (let at = 0; at + 1 < ordered.length; at++) {
        const [hit, next] = [ordered[at]!, ordered[at + 1]!];
        // A list without a query is ordered by name.
        const isRanked = hit.relevance > 0;
        const fits = isRanked && next.need === hit.need && next.relevance >= hit.relevance * FITS_AS_WELL;
        if (!fits || !isDoubtful(hit) || isDoubtful(next)) continue;
        ordered[at] = next;
        ordered[at + 1] = hit;
        // By one place and no more.
        at++;
      }
      return ordered;
    },
  };
}
