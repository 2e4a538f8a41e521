import type { Audit } from '../audit/index.js';
import { isTransient, withRetry } from '../connect/index.js';
import type { Climbed, Rung, ToolCache } from '../discover/index.js';
import type { Clock } from '../kernel/clock.js';
import { ToolscoutError, type ErrorCode } from '../kernel/errors.js';
import { inTurns } from '../kernel/turns.js';
import type { Server } from '../model/server.js';
import type { Tool } from '../model/tool.js';
import type { Catalog, LearnedList } from './catalog.js';
import { readLists, type Lists, type ReadListsDeps } from './read-lists.js';

/** What learning a server's tools needs. */
export interface PipelineDeps extends Omit<ReadListsDeps, 'known' | 'again'> {
  readonly clock: Clock;
  readonly cache: ToolCache;
  readonly audit: Audit;
  readonly random: () => number;
  /** The catalog in force when the list arrives: a reload may have swapped it meanwhile. */
  readonly catalog: () => Catalog;
  /** Notes what is trusted and asks for what is not, before anybody can use it (SEC-9). */
  readonly admit: (server: Server, list: LearnedList, tools: readonly Tool[]) => Promise<void>;
  /** Finds tools of a server with which no handshake is possible (DISC-6). */
  readonly withoutHandshake: (server: Server, signal: AbortSignal, first?: Rung) => Promise<Climbed | undefined>;
}

/** What was learned of one server. */
export interface Learned {
  readonly tools: number;
  readonly dropped: ReadonlyArray<{ readonly index: number; readonly name?: string; readonly reason: string }>;
  readonly truncated?: string;
}

/** A slow server is not asked for a list again at once: only failures that come quickly are worth a retry here. */
export function isWorthRetrying(error: ToolscoutError): boolean {
  return isTransient(error) && error.code !== 'TOOL_EXECUTION_TIMEOUT';
}

/** Asks a server for its list as the protocol has it. */
async function ask(server: Server, deps: PipelineDeps, signal: AbortSignal): Promise<Lists> {
  const { clock, random } = deps;
  const known = deps.catalog().list(server.id);
  const again = <T>(task: () => Promise<T>, makesSense = () => true): Promise<T> =>
    withRetry(task, server.retry, {
      clock,
      random,
      signal,
      mayRetry: (error) => isWorthRetrying(error) && makesSense(),
    });
  return again(() => readLists(server, { ...deps, known, again }, signal));
}

/**
 * Finds a server's list: as the protocol has it, or else by the ladder. What worked before is tried
 * first, so that a server known to print its tools is not waited for in vain every time.
 */
async function find(server: Server, deps: PipelineDeps, signal: AbortSignal): Promise<Lists> {
  const before = deps.catalog().list(server.id)?.rung;
  const climb = async (first?: Rung): Promise<Lists | undefined> => {
    const list = await deps.withoutHandshake(server, signal, first);
    return list && { list, facts: { rung: list.rung } };
  };
  const again = before === undefined ? undefined : await climb(before);
  if (again) return again;
  try {
    return await ask(server, deps, signal);
  } catch (thrown) {
    const found = before === undefined && isSpeechless(thrown) ? await climb() : undefined;
    if (found) return found;
    throw thrown;
  }
}

/** Whether no handshake came about; a server that shook hands and then lists nothing usable has no other list. */
function isSpeechless(thrown: unknown): boolean {
  return thrown instanceof ToolscoutError && SPEECHLESS.has(thrown.code);
}

const SPEECHLESS: ReadonlySet<ErrorCode> = new Set(['SESSION_INIT_FAILED', 'SERVER_CONNECTION_ERROR']);

/** Connects to a server, lists its tools, normalises, caches and indexes them. */
export async function learn(server: Server, deps: PipelineDeps, signal: AbortSignal): Promise<Learned> {
  const { list, facts } = await find(server, deps, signal);
  const kept = await deps.cache.write(server, list, facts);

  let catalog: Catalog | undefined;
  // A catalog that was exchanged while the list went in was filled from what was known before.
  while (catalog !== deps.catalog()) {
    catalog = deps.catalog();
    const tools: Tool[] = [];
    await inTurns(catalog.read(server, kept), (tool) => tools.push(tool));
    await deps.admit(server, kept, tools);
    if (catalog.servers.get(server.id)?.digest === server.digest) await catalog.put(server, kept, tools);
  }
  deps.audit.record({
    kind: 'discovered',
    principal: 'toolscout',
    server: server.id,
    outcome: 'success',
    detail: { kept: list.items.length, dropped: list.bad.length },
  });
  return { tools: list.items.length, dropped: list.bad, truncated: list.truncated };
}
