import { onTestFinished } from 'vitest';
import { createHttpApp, type HttpAppOptions } from '../../src/front/http/app.js';
import { createPrincipalEndpoints } from '../../src/front/http/routes/mcp.js';
import { createMcpEndpoint, type McpEndpoint } from '../../src/front/mcp/http/http.js';
import type { Gateway } from '../../src/gateway/index.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { systemClock } from '../../src/kernel/clock.js';
import { silentLog } from '../../src/kernel/log.js';
import { createContract, type Contract } from './contract.js';
import { STUDIO_PAGE } from './studio-page.js';

const BASE = 'http://127.0.0.1:7077';

/** The HTTP front in this process, every answer of which is held against its document. */
export interface TestApp {
  readonly app: ReturnType<typeof createHttpApp>;
  readonly document: JsonObject;
  readonly contract: Contract;
  /** Sends a request to a path. */
  send(path: string, init?: RequestInit & { readonly headers?: Record<string, string> }): Promise<Response>;
  /** Sends JSON. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** The HTTP front over a gateway. */
export async function openHttpApp(
  gateway: Gateway,
  options: Partial<HttpAppOptions> & { readonly contract?: Contract; readonly mcpOver?: Gateway } = {},
): Promise<TestApp> {
  const open = (seen: Gateway): McpEndpoint =>
    createMcpEndpoint({
      gateway: seen,
      info: { name: 'toolscout', version: '9.9.9' },
      log: silentLog,
      clock: options.clock ?? systemClock,
    });
  const endpoints = createPrincipalEndpoints({ gateway: options.mcpOver ?? gateway, open });
  onTestFinished(() => endpoints.close());
  const app = createHttpApp({
    gateway,
    mcpFor: endpoints.endpointFor,
    log: silentLog,
    version: '9.9.9',
    allowedHosts: [],
    allowedOrigins: [],
    localAdmin: true,
    studio: STUDIO_PAGE,
    ...options,
  });
  const fetchBare = async (request: Request): Promise<Response> => app.fetch(request);
  const host = { host: '127.0.0.1:7077' };
  const answer = await fetchBare(new Request(`${BASE}/openapi.json`, { headers: host }));
  const document = (await answer.json()) as JsonObject;
  const contract = options.contract ?? createContract(document);
  const send: TestApp['send'] = async (path, init = {}) => {
    const request = new Request(`${BASE}${path}`, { ...init, headers: { ...host, ...init.headers } });
    return contract.check(request, await fetchBare(request));
  };
  return {
    app,
    document,
    contract,
    send,
    post: (path, body, headers = {}) =>
      send(path, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
      }),
  };
}
