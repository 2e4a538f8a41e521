import type { SearchAnswer, SearchOptions } from '../../model/hit.js';
import type { Server } from '../../model/server.js';
import type { Tool } from '../../model/tool.js';
import { signatureOf } from '../../normalize/index.js';
import { estimateTokens } from '../../kernel/tokens.js';
import type { Viewer } from '../../model/viewer.js';
import type { Encoded, Experience } from '../../search/index.js';
import { createDoubts, type Doubts } from '../../catalog/doubts.js';
import { problemOf, type Sources } from '../../catalog/views.js';

/** What signatures may take together unless a caller says otherwise. */
const SCHEMA_TOKENS = 1000;

/** A budget is kept by an estimate that is rather too high: this much above the likely number. */
const MARGIN = 1.15;

/** What a signature takes of the budget. */
export function signatureCost(signature: string): number {
  return Math.ceil(estimateTokens(signature) * MARGIN);
}

/**
 * Signatures for the best hits, as many as the budget holds. One that does not fit is left out, and a
 * smaller one after it may still stand: an agent that misses one asks for the details of that tool.
 */
function fitSignatures(
  ranked: ReadonlyArray<{ readonly tool: Tool }>,
  budget: number = SCHEMA_TOKENS,
): Array<string | undefined> {
  let left = budget;
  return ranked.map(({ tool }) => {
    const signature = signatureOf(tool);
    const cost = signatureCost(signature);
    if (cost > left) return undefined;
    left -= cost;
    return signature;
  });
}

/** What a search uses besides the catalog. */
export interface SearchAids {
  /** What earlier searches of the caller led to. */
  readonly experience?: Experience;
  /** The query and the tools as an encoder reads them (FIND-8). */
  readonly encoded?: Encoded;
  readonly doubts?: Doubts;
}

/** The hits of a search over these servers that a viewer sees, and who is missing from it and why (FIND-5). */
export function answerSearch(
  viewer: Viewer,
  query: string,
  asked: SearchOptions,
  servers: readonly Server[],
  sources: Sources,
  { experience, encoded, doubts = createDoubts() }: SearchAids = {},
): SearchAnswer {
  const { catalog, learner } = sources;
  const options = viewer.isLimited ? { ...asked, accepts: viewer.sees } : asked;
  const ranked = doubts.order(catalog.index.search(query, options, experience, encoded));
  const signatures = options.includeSchema ? fitSignatures(ranked, options.schemaTokens) : [];
  const missing = servers.filter(({ id, enabled }) => enabled && !catalog.list(id) && viewer.sees(id));
  return {
    hits: ranked.map(({ tool, relevance, need, explanation }, place) => ({
      server: tool.server,
      tool: tool.name,
      summary: tool.summary,
      relevance,
      tags: tool.tags,
      ...(need === undefined ? {} : { need }),
      ...(signatures[place] === undefined ? {} : { signature: signatures[place] }),
      ...(explanation ? { explanation } : {}),
    })),
    nearest: ranked.length === 0 ? catalog.index.nearest(query, options) : [],
    learning: missing.filter((server) => learner.isLearning(server.id)).map((server) => server.id),
    unavailable: missing
      .filter((server) => !learner.isLearning(server.id))
      .map((server) => ({ server: server.id, reason: problemOf(server, sources) ?? 'not learned yet' })),
  };
}
