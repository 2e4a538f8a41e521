import type { RawExchange, RawOptions, Tap } from '../../connect/index.js';
import { runStrategies, isPlainAnswer, predictTools, type FallbackList, type Printed } from '../../discover/index.js';
import type { Clock } from '../../kernel/clock.js';
import { messageOf } from '../../kernel/errors.js';
import { sha256 } from '../../kernel/hash.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import type { Log } from '../../kernel/log.js';
import { isWildcardName } from '../../kernel/patterns/pattern.js';
import type { Config } from '../../model/config.js';
import type { Server } from '../../model/server.js';
import type { Store } from '../../model/store.js';

/** What reaches servers with which no handshake is possible. */
export interface FallbackDeps {
  readonly rawRun?: (server: Server, options: RawOptions) => Promise<RawExchange>;
  readonly fetch?: typeof fetch;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: () => Pick<Config, 'timeoutMs' | 'ai'>;
  /** Makes later connections to a server without a handshake, because it answers plain requests only. */
  readonly rememberPlain?: (server: Server) => Promise<void>;
  /** Gets every message. */
  readonly tap?: Tap;
}

const SPACE = 'predictions';
const KEPT_MS = 86_400_000;

/** The share of the time limit that a program gets where a model may be asked after it. */
const PROGRAM_SHARE = 0.7;

/**
 * Finds tools of a server that could not be asked properly (DISC-6), all ways together within `timeoutMs` (DISC-7). Nothing
 * it finds beside a plain answer can be called; a failure on the way is as if that way had found nothing. The program is
 * started only where `mayRun` says so.
 */
export async function learnWithoutHandshake(
  server: Server,
  deps: FallbackDeps,
  signal: AbortSignal,
  mayRun: boolean,
): Promise<FallbackList | undefined> {
  const { rawRun, clock, log, tap } = deps;
  const { timeoutMs, ai } = deps.config();
  const mayPredict = ai.enabled && ai.fallbackToAi;
  const until = clock.monotonic() + timeoutMs;
  const limit = new AbortController();
  const onAbort = (): void => limit.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = clock.after(timeoutMs, () => limit.abort(new Error('its time was over')), { awaited: true });
  const run = async (env: Readonly<Record<string, string>>, request: string): Promise<Printed> => {
    const reply = (line: string): 'done' | [] => (isPlainAnswer(line) ? 'done' : []);
    const left = (until - clock.monotonic()) * (mayPredict ? PROGRAM_SHARE : 1);
    try {
      return await rawRun!(server, { env, opening: [request], reply, timeoutMs: Math.max(1, left), signal, tap });
    } catch (thrown) {
      signal.throwIfAborted();
      log.debug('discover.fallback_failed', { server: server.id, reason: messageOf(thrown) });
      return { stdout: '', stderr: '' };
    }
  };
  try {
    const found = await runStrategies({
      ...(mayRun && rawRun && server.transport.type === 'stdio' && { run }),
      autoApproved: (server.autoApproved ?? []).filter((name) => !isWildcardName(name)),
      predict: async () => (mayPredict ? predict(server, deps, limit.signal) : []),
    });
    signal.throwIfAborted();
    if (!found) return undefined;
    log.info('discover.fallback', { server: server.id, strategy: found.strategy, tools: found.items.length });
    if (found.strategy === 'plain-list') await deps.rememberPlain?.(server);
    return found;
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', onAbort);
  }
}

async function predict(server: Server, deps: FallbackDeps, signal: AbortSignal): Promise<readonly JsonObject[]> {
  const { ai } = deps.config();
  const key = sha256(`${ai.baseUrl}\0${ai.model}\0${server.id}`);
  const known = ai.cache ? (await deps.store.get(SPACE, key))?.value : undefined;
  if (isObject(known) && typeof known['at'] === 'number' && Array.isArray(known['tools'])) {
    const age = deps.clock.now() - known['at'];
    if (age >= 0 && age < KEPT_MS) return known['tools'].filter(isObject);
  }
  if (!deps.fetch) return [];
  const tools = await predictTools(server, ai, { fetch: deps.fetch, log: deps.log, signal });
  if (ai.cache && tools.length > 0) await deps.store.put(SPACE, key, { at: deps.clock.now(), tools: [...tools] });
  return tools;
}
