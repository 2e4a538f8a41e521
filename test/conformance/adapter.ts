import { createChildKeeper, createLimiter, createPool, openUpstream } from '../../src/connect/index.js';
import { listTools } from '../../src/discover/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import { isObject, type JsonObject } from '../../src/kernel/json.js';
import { createLog } from '../../src/kernel/log.js';
import type { Upstream } from '../../src/model/upstream.js';
import { VERSION } from '../../src/version.js';
import { httpServer } from '../support/test-server.js';

/** What may be handed to the adapter besides what every connection needs, such as how to sign in. */
export type AdapterExtras = Partial<Parameters<typeof openUpstream>[1]>;

/** Answers a question of the server by the method it asked with. */
export type Answerer = (method: string, params: JsonObject) => JsonObject;

/** The side of toolscout that talks to one server, as the gateway puts it together. */
export interface Adapter {
  request(method: string, params?: JsonObject): Promise<JsonObject>;
  /** The tools that can be used; malformed ones are left out. */
  tools(): Promise<JsonObject[]>;
  /** Runs a tool; questions on the way are answered, and the call is made again with the answers. */
  call(name: string, args: JsonObject): Promise<JsonObject>;
  close(): Promise<void>;
}

/** More rounds than any scenario has. */
const MAX_ROUNDS = 8;

/** Opens nothing yet: the first request makes the connection. */
export function createAdapter(url: string, answer: Answerer, extras: AdapterExtras = {}): Adapter {
  const clock = systemClock;
  const log = createLog({ level: 'debug', now: clock.now, write: (line) => process.stderr.write(line) });
  const children = createChildKeeper({ clock, log });
  // The suite starts many clients at once; a slow machine is not what it tests.
  const server = httpServer('suite', url, { connectTimeoutMs: 100_000, timeoutMs: 100_000 });
  const pool = createPool({
    clock,
    log,
    limiter: createLimiter({ clock }),
    healthIntervalMs: 0,
    breaker: { failures: 5, resetMs: 1000 },
    open: (target, signal) =>
      openUpstream(target, {
        clock,
        log,
        children,
        verdicts: { recall: async () => undefined, remember: async () => undefined },
        baseEnv: {},
        clientInfo: { name: 'toolscout', version: VERSION },
        signal,
        ...extras,
      }),
  });
  const use = <T>(task: (upstream: Upstream) => Promise<T>): Promise<T> => pool.use(server, task);
  const request = (method: string, params?: JsonObject): Promise<JsonObject> =>
    use((upstream) => upstream.request(method, params));

  return {
    request,
    tools: async () => (await use((upstream) => listTools(upstream))).items,
    async call(name, args) {
      let params: JsonObject = { name, arguments: args };
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const result = await request('tools/call', params);
        if (result['resultType'] !== 'input_required') return result;
        const asked = isObject(result['inputRequests']) ? result['inputRequests'] : {};
        const inputResponses: JsonObject = {};
        for (const [key, each] of Object.entries(asked)) {
          if (!isObject(each)) continue;
          inputResponses[key] = answer(String(each['method']), isObject(each['params']) ? each['params'] : {});
        }
        const requestState = result['requestState'];
        params = { name, arguments: args, inputResponses, ...(requestState !== undefined && { requestState }) };
      }
      throw new Error(`${name} asked more than ${MAX_ROUNDS} times.`);
    },
    async close() {
      await pool.close({ drainMs: 0 });
      await children.closeAll();
    },
  };
}
