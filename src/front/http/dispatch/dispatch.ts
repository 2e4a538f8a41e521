import type { Gateway } from '../../../gateway/index.js';
import { messageOf, ToolscoutError } from '../../../kernel/errors.js';
import type { Log } from '../../../kernel/log.js';
import { hasScope, LOCAL, type Principal } from '../../../model/principal.js';
import { keyGone, type Authenticator } from '../auth/auth.js';
import { readBody, readParams, readQuery } from './input.js';
import { problemResponse } from './problem.js';
import { Address } from './address.js';
import { CORS, preflightResponse } from './cors.js';
import { createFinder, methodsOf, type Found } from './find-route.js';
import type { Reply, Route } from '../route.js';
import { scopeGateway } from '../auth/scoped-gateway.js';
import { traceIdOf } from './trace.js';

/** What stands between a request and its route. */
export interface DispatchDeps {
  readonly gateway: Gateway;
  readonly log: Log;
  readonly authenticator: Authenticator;
  /** Whether callers that are not asked for a key may administer toolscout. */
  readonly localAdmin?: boolean;
  /** What stands before every path: `/name`, or nothing. */
  readonly prefix?: string;
  /** Takes a place for a request that may last; throws when its principal has all the places it may have. */
  readonly hold?: (request: Request, principal: Principal) => void;
  /** Told of every answer; the route is one of the table, or nothing. */
  readonly onAnswer?: (route: string, status: number) => void;
}

/** Answers a request for one of the routes; `undefined` when none is meant. */
export type Dispatch = (request: Request) => Response | Promise<Response> | undefined;

/** What a route gets when its query is empty; `undefined` when it cannot be. */
function emptyQueryOf({ query }: Route): unknown {
  return query?.safeParse({}).data;
}

/** A request on its way to its route. */
interface Asked {
  readonly route: Route;
  readonly request: Request;
  readonly address: Address;
  readonly params: Record<string, string>;
  readonly traceId: string;
  admitted: boolean;
}

function createReply(traceId: string, more: Readonly<Record<string, string>> | undefined): Reply {
  return (body, { status = 200, type = 'application/json', headers } = {}) => {
    if (body === undefined || body === null) {
      return new Response(null, { status, headers: { 'x-trace-id': traceId, ...more, ...headers } });
    }
    const isReady = typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream;
    return new Response((isReady ? body : JSON.stringify(body)) as string, {
      status,
      headers: { 'x-trace-id': traceId, 'content-type': type, ...more, ...headers },
    });
  };
}

/** Everybody, where nobody is asked who they are. */
const ANYBODY: Principal = { name: 'anybody', scopes: new Set() };

/**
 * Finds the route of a request, asks who is there, checks every input by the schema of the route, and
 * has it answered. Who may pass is decided by the route that answers, never by the text of the address (A1).
 */
export function createDispatch(routes: readonly Route[], deps: DispatchDeps): Dispatch {
  const { gateway, log, authenticator, prefix = '', onAnswer } = deps;
  const find = createFinder(routes);
  const emptyQueries = new Map(routes.map((route) => [route, emptyQueryOf(route)]));

  // A key is the same principal again and again; so is what its holder may see.
  const narrowed = new WeakMap<Principal, Gateway>();
  const gatewayFor = (principal: Principal): Gateway => {
    const known = narrowed.get(principal);
    if (known) return known;
    const made = scopeGateway(gateway, principal);
    narrowed.set(principal, made);
    return made;
  };

  const queryOf = (route: Route, address: Address): unknown => {
    if (!route.query) return undefined;
    const empty = address.isBare ? emptyQueries.get(route) : undefined;
    return empty ?? readQuery(route.query, address.url.searchParams);
  };

  const demandScope = ({ scope }: Route, principal: Principal): void => {
    if (scope === undefined || hasScope(principal, scope)) return;
    throw new ToolscoutError('FORBIDDEN', `This needs the scope "${scope}".`);
  };

  // Without keys every program and user of this machine is the same caller; being here must not be enough to trust anything (A1).
  const demandAdmin = ({ scope, method }: Route, principal: Principal): void => {
    if (scope !== 'admin' || method === 'GET' || principal !== LOCAL || deps.localAdmin) return;
    throw new ToolscoutError('FORBIDDEN', 'Without http.auth this needs serve --admin.', {
      suggestion: 'Use the command line, start serve with --admin, or configure http.auth.',
    });
  };

  const demandWhole = ({ whole }: Route, principal: Principal): void => {
    if (!whole || !principal.servers) return;
    throw new ToolscoutError('FORBIDDEN', 'This is about all servers, and this caller may see only some of them.');
  };

  const challengeFor = (thrown: unknown, request: Request, route: Route): Record<string, string> => {
    if (!(thrown instanceof ToolscoutError)) return {};
    if (thrown.code === 'UNAUTHENTICATED') return { 'www-authenticate': authenticator.challenge(request) };
    if (thrown.code !== 'FORBIDDEN' || route.scope === undefined) return {};
    return { 'www-authenticate': authenticator.challenge(request, route.scope) };
  };

  const fail = (asked: Asked, thrown: unknown): Response => {
    const { route, request, traceId } = asked;
    if (!(thrown instanceof ToolscoutError)) {
      log.error('http.failed', { route: route.id, trace_id: traceId, error: messageOf(thrown) });
    }
    const challenge = asked.admitted ? {} : challengeFor(thrown, request, route);
    return problemResponse(thrown, { traceId, headers: { ...(route.cors ? CORS : {}), ...challenge } });
  };

  const run = (asked: Asked, principal: Principal, body: unknown): Response | Promise<Response> => {
    const { route, request, address, traceId } = asked;
    return route.handle({
      request,
      address,
      principal: route.scope === undefined ? LOCAL : principal,
      gateway: gatewayFor(principal),
      traceId,
      reply: createReply(traceId, route.cors ? CORS : undefined),
      params: (route.params ? readParams(route.params, asked.params) : undefined) as never,
      query: queryOf(route, address) as never,
      body: body as never,
    });
  };

  const enter = (asked: Asked, who: Principal): Response | Promise<Response> => {
    const { route, request } = asked;
    demandScope(route, who);
    // From here on no other key and no further scope would help, so nobody is asked for one.
    asked.admitted = true;
    demandAdmin(route, who);
    demandWhole(route, who);
    if (!route.body) return run(asked, who, undefined);
    deps.hold?.(request, who);
    return readBody(route.body, request).then((body) => {
      // A body may take its time, and its sender may have been shut out meanwhile.
      if (route.scope !== undefined && !authenticator.admits(who)) {
        asked.admitted = false;
        throw keyGone();
      }
      return run(asked, who, body);
    });
  };

  // What can be answered at once is: a promise costs more than most of these answers.
  const answer = (asked: Asked): Response | Promise<Response> => {
    try {
      const who = asked.route.scope === undefined ? ANYBODY : authenticator.authenticate(asked.request);
      const answered = who instanceof Promise ? who.then((known) => enter(asked, known)) : enter(asked, who);
      return answered instanceof Promise ? answered.catch((thrown: unknown) => fail(asked, thrown)) : answered;
    } catch (thrown) {
      return fail(asked, thrown);
    }
  };

  const refuseMethod = (found: Found, request: Request): Response => {
    const isOpen = [...found.methods.values()].some(({ cors }) => cors);
    if (request.method === 'OPTIONS' && isOpen) return preflightResponse(found, traceIdOf(request));
    const error = new ToolscoutError('METHOD_NOT_ALLOWED', `${request.method} means nothing here.`);
    return problemResponse(error, { traceId: traceIdOf(request), headers: { allow: methodsOf(found) } });
  };

  const finish = (route: Route, response: Response, isHead: boolean): Response => {
    onAnswer?.(route.id, response.status);
    if (!isHead) return response;
    // Nobody will read it, and a stream that is not read must not be left open.
    void response.body?.cancel();
    return new Response(null, { status: response.status, headers: response.headers });
  };

  return (request) => {
    const address = new Address(request.url);
    const { path } = address;
    // Whole parts only: what merely begins alike is somebody else's.
    if (!path.startsWith(prefix) || path[prefix.length] !== '/') return undefined;
    const found = find(prefix === '' ? path : path.slice(prefix.length));
    if (!found) return undefined;
    const isHead = request.method === 'HEAD';
    const route = found.methods.get(isHead ? 'GET' : request.method);
    if (!route) return refuseMethod(found, request);
    const { params } = found;
    const answered = answer({ route, request, address, params, traceId: traceIdOf(request), admitted: false });
    if (answered instanceof Promise) return answered.then((response) => finish(route, response, isHead));
    return finish(route, answered, isHead);
  };
}
