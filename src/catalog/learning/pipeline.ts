import type { Audit } from '../../audit/index.js';
import type { OpenSession, Pool, Tap } from '../../connect/index.js';
import { STRATEGY_PROVENANCE, type FallbackList, type Strategy, type ToolCache } from '../../discover/index.js';
import { ToolscoutError, toToolscoutError, type ErrorCode } from '../../kernel/errors.js';
import { cooperatively } from '../../kernel/async/cooperative.js';
import type { RateLimitConfig, RetryConfig } from '../../model/config.js';
import type { Server } from '../../model/server.js';
import type { Provenance, Tool } from '../../model/tool.js';
import { isStandIn, type Catalog, type LearnedList } from '../catalog.js';
import { readLists, type Lists, type ReadListsDeps } from './read-lists.js';

/** What learning a server's tools needs. */
export interface PipelineDeps extends Omit<ReadListsDeps, 'known' | 'access'> {
  readonly pool: Pick<Pool, 'access'>;
  readonly terms?: LearnTerms;
  /** Opens a connection beside the pool, where the terms ask for one. */
  readonly open?: OpenSession;
  readonly cache: ToolCache;
  readonly audit: Audit;
  /** The catalog in force when the list arrives: a reload may have swapped it meanwhile. */
  readonly catalog: () => Catalog;
  /** Records what is trusted and requests approval of the rest, before any of it can be used (SEC-9). */
  readonly admit: (server: Server, list: LearnedList, tools: readonly Tool[]) => Promise<void>;
  /** Finds tools of a server with which no handshake is possible (DISC-6). */
  readonly withoutHandshake: (
    server: Server,
    signal: AbortSignal,
    mayRun: boolean,
  ) => Promise<FallbackList | undefined>;
}

/** What was learned of one server. */
export interface Learned {
  readonly tools: number;
  readonly dropped: ReadonlyArray<{ readonly index: number; readonly name?: string; readonly reason: string }>;
  readonly truncated?: string;
  /** How the tools were found when the server did not list them after a handshake (DISC-6). */
  readonly fallback?: { readonly rung: Strategy; readonly provenance: Provenance; readonly confidence: number };
  /** Why the server could not be asked, where something else stands in for its list. */
  readonly failure?: ToolscoutError;
}

/** How one discovery is made, where it differs from the configuration (DISC-2). */
export interface LearnTerms {
  readonly retry?: Partial<RetryConfig>;
  readonly rateLimit?: Partial<RateLimitConfig> | false;
  /** Gets every message; the server is then asked in a session of its own. */
  readonly tap?: Tap;
}

/** Asks a server for its list as the protocol has it. */
async function ask(server: Server, deps: PipelineDeps, signal: AbortSignal): Promise<Lists> {
  const { retry, rateLimit } = deps.terms ?? {};
  const access = deps.pool.access(server, { signal, retry, rateLimit, open: deps.open });
  const known = deps.catalog().list(server.id);
  return access.again(() => readLists(server, { ...deps, known, access }, signal));
}

/** A list, and why it stands in for the one that the server could not be asked for. */
type Found = Lists & { readonly failure?: ToolscoutError };

/**
 * Finds a server's list: by the protocol, or else by the fallback strategies. A server known to print its tools
 * gets no handshake attempt first; one whose list is a stand-in gets one again.
 */
async function find(server: Server, deps: PipelineDeps, signal: AbortSignal): Promise<Found> {
  const known = deps.catalog().list(server.id);
  const isPrinted = known?.rung !== undefined && !isStandIn(known);
  const fallBack = async (mayRun: boolean): Promise<Lists | undefined> => {
    const list = await deps.withoutHandshake(server, signal, mayRun);
    return list && { list, facts: { rung: list.strategy } };
  };
  const printed = isPrinted ? await fallBack(true) : undefined;
  if (printed && !isStandIn(printed.facts)) return printed;
  try {
    return await ask(server, deps, signal);
  } catch (thrown) {
    const failure = toToolscoutError(thrown, 'TOOLS_LIST_FAILED');
    // A list that the server gave is worth more than anything else that could be found now.
    const isGiven = known !== undefined && known.rung === undefined;
    if (signal.aborted || isGiven || NOT_ASKED.has(failure.code)) throw thrown;
    const found = printed ?? (await fallBack(isSpeechless(failure) && !isPrinted));
    if (!found) throw thrown;
    return isStandIn(found.facts) ? { ...found, failure } : found;
  }
}

/** Failures that say nothing of the server: it was not asked. */
const NOT_ASKED: ReadonlySet<ErrorCode> = new Set(['CANCELLED', 'SHUTTING_DOWN', 'APPROVAL_REQUIRED']);

/** Whether no handshake came about; a server that shook hands and then lists nothing usable has no other list. */
function isSpeechless({ code }: ToolscoutError): boolean {
  return SPEECHLESS.has(code);
}

const SPEECHLESS: ReadonlySet<ErrorCode> = new Set(['SESSION_INIT_FAILED', 'SERVER_CONNECTION_ERROR']);

/** Connects to a server, lists its tools, normalises, caches and indexes them. */
export async function learn(server: Server, deps: PipelineDeps, signal: AbortSignal): Promise<Learned> {
  const { list, facts, failure } = await find(server, deps, signal);
  const kept = await deps.cache.write(server, list, facts);

  let catalog: Catalog | undefined;
  // A catalog that was exchanged while the list went in was filled from what was known before.
  while (catalog !== deps.catalog()) {
    catalog = deps.catalog();
    const tools: Tool[] = [];
    await cooperatively(catalog.read(server, kept), (tool) => tools.push(tool));
    await deps.admit(server, kept, tools);
    if (catalog.servers.get(server.id)?.digest === server.digest) await catalog.put(server, kept, tools);
  }
  if (!failure) {
    deps.audit.record({
      kind: 'discovered',
      principal: 'toolscout',
      server: server.id,
      outcome: 'success',
      detail: { kept: list.items.length, dropped: list.bad.length },
    });
  }
  const { rung } = facts;
  return {
    tools: list.items.length,
    dropped: list.bad,
    truncated: list.truncated,
    ...(rung && { fallback: { rung, ...STRATEGY_PROVENANCE[rung] } }),
    ...(failure && { failure }),
  };
}
