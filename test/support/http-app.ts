import { onTestFinished } from 'vitest';
import { createHttpApp, type HttpAppOptions } from '../../src/front/http/app.js';
import { createPrincipalEndpoints } from '../../src/front/http/routes/mcp.js';
import { createMcpEndpoint, type McpEndpoint } from '../../src/front/mcp/http/http.js';
import type { Gateway } from '../../src/gateway/index.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { systemClock } from '../../src/kernel/clock.js';
import { silentLog } from '../../src/kernel/log.js';
import { openOfflineGateway } from './offline-gateway.js';
import { createContract, type Contract } from './contract.js';
import { STUDIO_PAGE } from './studio-page.js';

const BASE = 'http://127.0.0.1:7077';
const HOST = { host: '127.0.0.1:7077' };

/** The HTTP front in this process; every answer is checked against its OpenAPI document. */
export interface TestApp {
  readonly app: ReturnType<typeof createHttpApp>;
  /** The OpenAPI document of these routes; which address it names is not of this app. */
  readonly document: JsonObject;
  readonly contract: Contract;
  /** Sends a request to a path. */
  send(path: string, init?: RequestInit & { readonly headers?: Record<string, string> }): Promise<Response>;
  /** Sends JSON. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** What every app here is given. */
const USUAL = {
  log: silentLog,
  version: '9.9.9',
  allowedHosts: [],
  allowedOrigins: [],
  localAdmin: true,
  studio: STUDIO_PAGE,
} as const;

const documents = new Map<boolean, Promise<JsonObject>>();

/** Asked of an app of its own, once: the routes are the same for all, and writing the document takes longer than most tests. */
function documentOf({ studio }: Pick<HttpAppOptions, 'studio'>): Promise<JsonObject> {
  const hasPage = studio !== undefined;
  const known = documents.get(hasPage);
  if (known) return known;
  const asked = (async () => {
    const { gateway } = await openOfflineGateway([]);
    const mcpFor = (): never => {
      throw new Error('Only the document is asked for.');
    };
    const app = createHttpApp({ ...USUAL, studio, gateway, mcpFor });
    const answer = await app.fetch(new Request(`${BASE}/openapi.json`, { headers: HOST }));
    await gateway.close({ drainMs: 0 });
    return (await answer.json()) as JsonObject;
  })();
  documents.set(hasPage, asked);
  return asked;
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
  const settings = { ...USUAL, gateway, mcpFor: endpoints.endpointFor, ...options };
  const app = createHttpApp(settings);
  const fetchBare = async (request: Request): Promise<Response> => app.fetch(request);
  const document = await documentOf(settings);
  const contract = options.contract ?? createContract(document);
  const send: TestApp['send'] = async (path, init = {}) => {
    const request = new Request(`${BASE}${path}`, { ...init, headers: { ...HOST, ...init.headers } });
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
