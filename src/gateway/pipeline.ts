import type { Audit } from '../audit/index.js';
import type { Limiter, Pool } from '../connect/index.js';
import { isTransient, withRetry } from '../connect/index.js';
import { listBesides, listTools, type ToolCache } from '../discover/index.js';
import type { Clock } from '../kernel/clock.js';
import { ToolscoutError } from '../kernel/errors.js';
import type { Server } from '../model/server.js';
import type { Upstream } from '../model/upstream.js';
import type { Catalog, ServerFacts } from './catalog.js';

/** What learning a server's tools needs. */
export interface PipelineDeps {
  readonly clock: Clock;
  readonly limiter: Limiter;
  readonly pool: Pool;
  readonly cache: ToolCache;
  readonly audit: Audit;
  readonly random: () => number;
  /** The catalog in force when the list arrives: a reload may have swapped it meanwhile. */
  readonly catalog: () => Catalog;
  /** Told of a list besides the tools that a server announced and did not give. */
  readonly onPartial?: (server: Server, method: string, reason: string) => void;
}

/** What was learned of one server. */
export interface Learned {
  readonly tools: number;
  readonly dropped: ReadonlyArray<{ readonly index: number; readonly name?: string; readonly reason: string }>;
  readonly truncated?: string;
}

/** A slow server is not asked again at once: only failures that come quickly are worth a retry here. */
function isWorthRetrying(error: ToolscoutError): boolean {
  return isTransient(error) && error.code !== 'TOOL_EXECUTION_TIMEOUT';
}

/** Connects to a server, lists its tools, normalises, caches and indexes them. */
export async function learn(server: Server, deps: PipelineDeps, signal: AbortSignal): Promise<Learned> {
  const { clock, random } = deps;
  const listed = await withRetry(
    async () => {
      await deps.limiter.wait(server, signal);
      const ask = async (
        upstream: Upstream,
      ): Promise<{ list: Awaited<ReturnType<typeof listTools>>; facts: ServerFacts }> => {
        const list = await listTools(upstream, { signal, timeoutMs: server.timeoutMs });
        const { info, instructions, era, capabilities } = upstream;
        const onFailed = (method: string, reason: string): void => deps.onPartial?.(server, method, reason);
        const besides = await listBesides(upstream, { signal, timeoutMs: server.timeoutMs, onFailed });
        return { list, facts: { info, instructions, era, capabilities, ...besides } };
      };
      return deps.pool.use(server, ask, signal, { brief: true });
    },
    server.retry,
    { clock, random, signal, mayRetry: isWorthRetrying },
  );

  const { list, facts } = listed;
  const kept = await deps.cache.write(server, list, facts);

  const catalog = deps.catalog();
  if (catalog.servers.get(server.id)?.digest === server.digest) catalog.put(server, kept);
  deps.audit.record({
    kind: 'discovered',
    principal: 'toolscout',
    server: server.id,
    outcome: 'success',
    detail: { kept: list.items.length, dropped: list.bad.length },
  });
  return { tools: list.items.length, dropped: list.bad, truncated: list.truncated };
}
