import type { Audit } from '../audit/index.js';
import { isTransient, withRetry } from '../connect/index.js';
import type { ToolCache } from '../discover/index.js';
import type { Clock } from '../kernel/clock.js';
import { ToolscoutError } from '../kernel/errors.js';
import type { Server } from '../model/server.js';
import type { Catalog } from './catalog.js';
import { readLists, type ReadListsDeps } from './read-lists.js';

/** What learning a server's tools needs. */
export interface PipelineDeps extends Omit<ReadListsDeps, 'known'> {
  readonly clock: Clock;
  readonly cache: ToolCache;
  readonly audit: Audit;
  readonly random: () => number;
  /** The catalog in force when the list arrives: a reload may have swapped it meanwhile. */
  readonly catalog: () => Catalog;
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
  const known = deps.catalog().list(server.id);
  const listed = await withRetry(() => readLists(server, { ...deps, known }, signal), server.retry, {
    clock,
    random,
    signal,
    mayRetry: isWorthRetrying,
  });

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
