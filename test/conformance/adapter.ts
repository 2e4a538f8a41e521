import { createChildKeeper, createPool, openUpstream } from '../../src/connect/index.js';
import { listTools } from '../../src/discover/index.js';
import { createParamHeaders } from '../../src/protocol/param-headers.js';
import { systemClock } from '../../src/kernel/clock.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { createLog } from '../../src/kernel/log.js';
import { EVERY_CAPABILITY, type Host } from '../../src/model/host.js';
import type { Upstream } from '../../src/model/upstream.js';
import { VERSION } from '../../src/kernel/version.js';
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
  /** Runs a tool that was listed; questions on the way are answered. */
  call(name: string, args: JsonObject): Promise<JsonObject>;
  close(): Promise<void>;
}

/** Opens nothing yet: the first request makes the connection. */
export function createAdapter(
  url: string,
  {
    answer,
    write,
    extras = {},
  }: { readonly answer: Answerer; readonly write: (line: string) => void; readonly extras?: AdapterExtras },
): Adapter {
  const clock = systemClock;
  const log = createLog({ level: 'debug', now: clock.now, write });
  const children = createChildKeeper({ clock, log });
  // The suite starts many clients at once; a slow machine is not what it tests.
  const server = httpServer('suite', url, { connectTimeoutMs: 100_000, timeoutMs: 100_000 });
  const pool = createPool({
    clock,
    log,
    healthIntervalMs: 0,
    breaker: { failures: 5, resetMs: 1000 },
    open: (target, signal, key) =>
      openUpstream(target, {
        clock,
        log,
        children,
        verdicts: { recall: async () => undefined, remember: async () => undefined },
        baseEnv: {},
        clientInfo: { name: 'toolscout', version: VERSION },
        signal,
        key,
        ...extras,
      }),
  });
  // One that is asked by requests: whatever rounds the server makes of it are the business of the adapter.
  const host: Host = {
    id: 'suite',
    era: 'legacy',
    capabilities: EVERY_CAPABILITY,
    request: async (method, params) => answer(method, params ?? {}),
    notify: () => undefined,
  };
  const use = <T>(task: (upstream: Upstream) => Promise<T>): Promise<T> => pool.use(server, task, undefined, { host });
  let listed: readonly JsonObject[] = [];

  return {
    request: (method, params) => use((upstream) => upstream.request(method, params, { host })),
    async tools() {
      const { items } = await use((upstream) => listTools(upstream));
      listed = items;
      return items;
    },
    call(name, args) {
      const definition = listed.find((tool) => tool['name'] === name);
      const headers = definition && createParamHeaders().of(definition, args);
      return use((upstream) => upstream.request('tools/call', { name, arguments: args }, { host, headers }));
    },
    async close() {
      await pool.close({ drainMs: 0 });
      await children.closeAll();
    },
  };
}
