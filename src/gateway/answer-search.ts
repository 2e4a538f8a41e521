import type { SearchAnswer, SearchOptions } from '../model/hit.js';
import type { Server } from '../model/server.js';
import { signatureOf } from '../normalize/index.js';
import { problemOf, type Sources } from './views.js';

/** The hits of a search over these servers, and who is missing from it and why (FIND-5). */
export function answerSearch(
  query: string,
  options: SearchOptions,
  servers: readonly Server[],
  sources: Sources,
): SearchAnswer {
  const { catalog, learner } = sources;
  const ranked = catalog.index.search(query, options);
  const missing = servers.filter((server) => server.enabled && !catalog.list(server.id));
  return {
    hits: ranked.map(({ tool, relevance, explanation }) => ({
      server: tool.server,
      tool: tool.name,
      summary: tool.summary,
      relevance,
      tags: tool.tags,
      ...(options.includeSchema ? { signature: signatureOf(tool) } : {}),
      ...(explanation ? { explanation } : {}),
    })),
    nearest: ranked.length === 0 ? catalog.index.nearest(query) : [],
    learning: missing.filter((server) => learner.isLearning(server.id)).map((server) => server.id),
    unavailable: missing
      .filter((server) => !learner.isLearning(server.id))
      .map((server) => ({ server: server.id, reason: problemOf(server, sources) ?? 'not learned yet' })),
  };
}
