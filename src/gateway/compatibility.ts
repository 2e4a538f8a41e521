import type { RawExchange, RawOptions } from '../connect/index.js';
import { climb, isPlainAnswer, predictTools, type Climbed, type Rung } from '../discover/index.js';
import type { Clock } from '../kernel/clock.js';
import { messageOf } from '../kernel/errors.js';
import { sha256 } from '../kernel/hash.js';
import { isObject, type JsonObject } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import { isWildcardName } from '../kernel/pattern.js';
import type { Config } from '../model/config.js';
import type { Server } from '../model/server.js';
import type { Store } from '../model/store.js';

/** What reaches servers with which no handshake is possible. */
export interface CompatibilityDeps {
  readonly rawRun?: (server: Server, options: RawOptions) => Promise<RawExchange>;
  readonly fetch?: typeof fetch;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: () => Pick<Config, 'timeout' | 'ai'>;
}

const SPACE = 'predictions';
const KEPT_MS = 86_400_000;

/**
 * Finds tools of a local server that barely speaks the protocol (DISC-6). Nothing it finds beside a
 * plain answer can be called; a failure on the way is as if the rung were empty.
 */
export async function learnWithoutHandshake(
  server: Server,
  deps: CompatibilityDeps,
  signal: AbortSignal,
  first?: Rung,
): Promise<Climbed | undefined> {
  const { rawRun } = deps;
  if (server.transport.type !== 'stdio' || !rawRun) return undefined;
  const { timeout, ai } = deps.config();
  const run = async (env: Readonly<Record<string, string>>, request: string): Promise<RawExchange> => {
    const reply = (line: string): 'done' | [] => (isPlainAnswer(line) ? 'done' : []);
    return rawRun(server, { env, opening: [request], reply, timeoutMs: timeout, signal });
  };
  const climbed = await climb(
    {
      run,
      autoApproved: (server.autoApproved ?? []).filter((name) => !isWildcardName(name)),
      predict: async () => (ai.enabled && ai.fallbackToAi ? predict(server, deps, signal) : []),
    },
    first,
  ).catch((thrown: unknown) => {
    signal.throwIfAborted();
    deps.log.debug('discover.ladder', { server: server.id, reason: messageOf(thrown) });
    return undefined;
  });
  if (climbed)
    deps.log.info('discover.climbed', { server: server.id, rung: climbed.rung, tools: climbed.items.length });
  return climbed;
}

async function predict(server: Server, deps: CompatibilityDeps, signal: AbortSignal): Promise<readonly JsonObject[]> {
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
