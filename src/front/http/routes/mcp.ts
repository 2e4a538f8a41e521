import * as z from 'zod';
import { viewerOf, type Gateway } from '../../../gateway/index.js';
import { LOCAL, type Principal } from '../../../model/principal.js';
import type { Answer } from '../../../net/http-message.js';
import type { McpEndpoint } from '../../mcp/http/http.js';
import { identityOf } from '../auth/auth.js';
import { EVENT_STREAM } from '../event-stream.js';
import { Events, RpcFailure, RpcMessage } from '../openapi/schemas.js';
import { route, type DocumentedResponse, type Route, type RouteInput } from '../route.js';

const failure = (description: string): DocumentedResponse => ({
  description,
  content: { 'application/json': RpcFailure },
});

const SENSELESS = failure('The message or one of its headers is not valid.');
const GONE = failure('This session has ended, or there is no such server.');
const NO_SESSION = failure('This needs an Mcp-Session-Id.');
const NO_EVENTS = failure('The request must accept application/json and text/event-stream.');

const POST: Route['responses'] = {
  200: {
    description: 'The answer, alone or at the end of a stream of what comes before it.',
    content: { 'application/json': RpcMessage, [EVENT_STREAM]: Events },
  },
  202: { description: 'Taken; there is nothing to answer.' },
  400: SENSELESS,
  404: failure('This session has ended, or there is no such server or method.'),
  406: NO_EVENTS,
  413: failure('The body is too large.'),
  415: failure('The body is not JSON.'),
};

const GET: Route['responses'] = {
  200: { description: 'What the server says on its own account.', content: { [EVENT_STREAM]: Events } },
  400: SENSELESS,
  404: GONE,
  405: NO_SESSION,
  406: NO_EVENTS,
  409: failure('The session has an open stream already.'),
};

const DELETE: Route['responses'] = {
  200: { description: 'The session is ended.' },
  400: SENSELESS,
  404: GONE,
  405: NO_SESSION,
};

/** What the protocol does with each method of HTTP. */
function methodsOf(id: string, of: string): Array<Pick<Route, 'method' | 'id' | 'summary' | 'body' | 'responses'>> {
  return [
    { method: 'POST', id, summary: `A message to ${of} over MCP`, body: RpcMessage, responses: POST },
    { method: 'GET', id: `${id}Events`, summary: `What ${of} says to a session over MCP`, responses: GET },
    { method: 'DELETE', id: `${id}End`, summary: `Ends a session with ${of} over MCP`, responses: DELETE },
  ];
}

const ServerParams = z.object({ server: z.string().meta({ description: 'The id of a server.' }) });

type Asked = Pick<RouteInput<unknown, undefined, unknown>, 'received' | 'principal' | 'traceId'>;

/** What the MCP routes need. */
export interface McpRouteDeps {
  /** The MCP endpoint of one principal, to be shut when `isAdmitted` does not hold any more. */
  readonly mcpFor: (principal: Principal, isAdmitted: () => boolean) => McpEndpoint;
  /** Whether a principal that was let in would still be. */
  readonly admits: (principal: Principal) => boolean;
}

/**
 * The MCP endpoints, for everything behind toolscout and for one server. What the protocol refuses is JSON-RPC, as its hosts
 * expect; a caller that is not let in gets the one format of failures of every route.
 */
export function mcpRoutes({ mcpFor, admits }: McpRouteDeps): Route[] {
  const answer = ({ received, principal, traceId }: Asked, server?: string): Promise<Answer> => {
    const { name, until } = principal;
    const endpoint = mcpFor(principal, () => admits(principal));
    return endpoint.serve(received, { principal: name, server, until, traceId });
  };
  const everything = {
    group: 'mcp',
    scope: 'call',
    isRaw: true,
    path: '/mcp',
    handle: (asked: Asked) => answer(asked),
  } as const;
  const one = {
    ...everything,
    path: '/servers/{server}/mcp',
    params: ServerParams,
    handle: (asked: Asked & { readonly params: z.output<typeof ServerParams> }) => answer(asked, asked.params.server),
  } as const;
  return [
    ...methodsOf('mcp', 'everything behind toolscout').map((each) => route({ ...everything, ...each })),
    ...methodsOf('mcpServer', 'one server').map((each) => route({ ...one, ...each })),
  ];
}

/** The MCP endpoint of each principal. */
export interface PrincipalEndpoints {
  /** The endpoint of a principal; it is shut when `isAdmitted` does not hold after a reload. */
  endpointFor(principal: Principal, isAdmitted: () => boolean): McpEndpoint;
  close(): Promise<void>;
}

/** Endpoints kept at once; beyond that one is closed behind which nothing goes on, the one that was quiet longest. */
const MAX_ENDPOINTS = 256;

interface Opened {
  readonly endpoint: McpEndpoint;
  readonly isAdmitted: () => boolean;
}

/**
 * An endpoint of its own for every principal: it sees only what they may see, and a session of one
 * is unknown at the endpoint of another (S5, S12). With the key that opened it an endpoint is gone, and with it
 * every session and every stream behind it.
 */
export function createPrincipalEndpoints(options: {
  readonly gateway: Gateway;
  /** Whether the user of this machine may administer it through here. */
  readonly localAdmin?: boolean;
  readonly open: (gateway: Gateway, admin: boolean) => McpEndpoint;
}): PrincipalEndpoints {
  const { gateway, localAdmin = false, open } = options;
  const endpoints = new Map<string, Opened>();
  // A key is the same principal again and again.
  const identities = new WeakMap<Principal, string>();
  /** Who asked last: mostly the same again. */
  let latest: { readonly principal: Principal; readonly endpoint: McpEndpoint } | undefined;
  let unfollow: (() => void) | undefined;

  const shut = (key: string, { endpoint }: Opened): void => {
    endpoints.delete(key);
    latest = undefined;
    void endpoint.close();
  };
  const makeRoom = (): void => {
    const all = [...endpoints];
    const quiet = all.find(([, opened]) => !opened.endpoint.isBusy) ?? all[0];
    if (quiet) shut(...quiet);
  };
  const review = (): void => {
    for (const [key, opened] of endpoints) if (!opened.isAdmitted()) shut(key, opened);
  };
  const openEndpoint = (principal: Principal): McpEndpoint => {
    unfollow ??= gateway.onEvent(({ type }) => type === 'reloaded' && review());
    const isAdmin = principal === LOCAL ? localAdmin : principal.scopes.has('admin');
    return open(principal === LOCAL ? gateway : gateway.as(viewerOf(principal)), isAdmin);
  };

  return {
    endpointFor(principal, isAdmitted) {
      if (latest?.principal === principal) return latest.endpoint;
      const key = identities.get(principal) ?? identityOf(principal);
      identities.set(principal, key);
      const endpoint = endpoints.get(key)?.endpoint ?? openEndpoint(principal);
      // Most recently used last, so that the quiet one is the first to go.
      endpoints.delete(key);
      endpoints.set(key, { endpoint, isAdmitted });
      latest = { principal, endpoint };
      if (endpoints.size > MAX_ENDPOINTS) makeRoom();
      return endpoint;
    },
    async close() {
      unfollow?.();
      await Promise.all([...endpoints.values()].map(({ endpoint }) => endpoint.close()));
    },
  };
}
