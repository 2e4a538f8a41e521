import { viewerOf, type Gateway } from '../../../gateway/index.js';
import { messageOf, ToolscoutError } from '../../../kernel/errors.js';
import type { Log } from '../../../kernel/log.js';
import { traceIdOf } from '../../../kernel/trace-context.js';
import { hasScope, LOCAL, type Principal } from '../../../model/principal.js';
import { keyGone, type Authenticator } from '../auth/auth.js';
import { demandCsrf } from '../auth/browser-sessions.js';
import { responseOf, ReceivedRequest, type Answer, type Received } from '../../../net/http-message.js';
import type { OpenRequestLimit } from '../request-slots.js';
import type { Reply, Route } from '../route.js';
import { CORS, preflightResponse, type Sharing } from './cors.js';
import { Address, createFinder, methodsOf, type Found } from './find-route.js';
import type { Guard } from './guard.js';
import { readBody, readParams, readQuery } from './input.js';
import { isProbe, statusOnly } from './probes.js';
import { problemResponse } from './problem.js';

/** What stands between a request and its route. */
export interface DispatchDeps {
  /** Judges `Host` and `Origin`; without it that is the business of the app that this is part of. */
  readonly guard?: Guard;
  /** Lets pages of the origins that the config allows read what they are answered. */
  readonly sharing?: Sharing;
  readonly gateway: Gateway;
  readonly log: Log;
  readonly authenticator: Authenticator;
  /** Whether callers that are not asked for a key may administer toolscout. */
  readonly localAdmin?: boolean;
  /** What stands before every path: `/name`, or nothing. */
  readonly prefix?: string;
  /** Takes a place for a request that may last; throws when its principal has all the places it may have. */
  readonly hold?: OpenRequestLimit;
  /** Told of every answer of a route of the table. */
  readonly onAnswer?: (route: string, status: number) => void;
}

type Answered = Answer | Promise<Answer>;

/** Answers requests by a table of routes. */
export interface Dispatch {
  /** Answers every request; what is not in the table is not found. */
  serve(received: Received): Answered;
  /** The same for a `Request` that came over no connection of ours. */
  fetch(request: Request): Promise<Response>;
  /** Answers a request for one of the routes; `undefined` when none is meant. */
  answer(request: Request): Promise<Response> | undefined;
}

/** What a route gets when its query is empty; `undefined` when it cannot be. */
function emptyQueryOf({ query }: Route): unknown {
  return query?.safeParse({}).data;
}

/** A request on its way to its route. */
interface Asked {
  readonly route: Route;
  readonly received: Received;
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

/** The answer to `HEAD`. A stream that is not read must not be left open. */
function withoutBody({ body, status, headers }: Response): Response {
  void body?.cancel();
  return new Response(null, { status, headers });
}

/**
 * The one way of a request, for the API, MCP, health checks, metadata and metrics alike: find its route, judge `Host` and
 * `Origin`, ask who sends it, check every input by the schema of the route, have it answered. Who may pass is decided by
 * the route that answers, never by the text of the address (A1).
 */
export function createDispatch(routes: readonly Route[], deps: DispatchDeps): Dispatch {
  const { gateway, log, authenticator, guard, sharing, prefix = '', onAnswer } = deps;
  const find = createFinder(routes);
  const emptyQueries = new Map(routes.map((route) => [route, emptyQueryOf(route)]));

  // A key is the same principal again and again; so is what its holder may see.
  const bound = new WeakMap<Principal, Gateway>([[LOCAL, gateway]]);
  const gatewayFor = (principal: Principal): Gateway => {
    const known = bound.get(principal);
    if (known) return known;
    const made = gateway.as(viewerOf(principal));
    bound.set(principal, made);
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
    throw new ToolscoutError(
      'FORBIDDEN',
      'This operation needs access to all servers, and this caller has access to some of them.',
    );
  };

  const challengeFor = (thrown: unknown, request: Received, route: Route): Record<string, string> => {
    if (!(thrown instanceof ToolscoutError)) return {};
    if (thrown.code === 'UNAUTHENTICATED') return { 'www-authenticate': authenticator.challenge(request) };
    if (thrown.code !== 'FORBIDDEN' || route.scope === undefined) return {};
    return { 'www-authenticate': authenticator.challenge(request, route.scope) };
  };

  const fail = (asked: Asked, thrown: unknown): Response => {
    const { route, received, traceId } = asked;
    if (!(thrown instanceof ToolscoutError)) {
      log.error('http.failed', { route: route.id, trace_id: traceId, error: messageOf(thrown) });
    }
    const challenge = asked.admitted ? {} : challengeFor(thrown, received, route);
    return problemResponse(thrown, { traceId, headers: { ...(route.cors ? CORS : {}), ...challenge } });
  };

  const run = (asked: Asked, principal: Principal, body: unknown): Answered => {
    const { route, received, address, traceId } = asked;
    return route.handle({
      request: received.web,
      received,
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

  /** Keys are taken back, also while a request waits for something. */
  const demandAdmitted = (asked: Asked, who: Principal): void => {
    if (asked.route.scope === undefined || authenticator.admits(who)) return;
    asked.admitted = false;
    throw keyGone();
  };

  const enter = (asked: Asked, who: Principal): Answered => {
    const { route, received } = asked;
    demandScope(route, who);
    // From here on no other key and no further scope would help, so nobody is asked for one.
    asked.admitted = true;
    if (who.session) demandCsrf(who, received);
    demandAdmin(route, who);
    demandWhole(route, who);
    const mayLast = route.body !== undefined || route.isRaw === true;
    if (mayLast && received.outgoing && who !== LOCAL) deps.hold?.(received.outgoing, who);
    if (!route.body || route.isRaw) return run(asked, who, undefined);
    return readBody(route.body, received.web).then((body) => {
      demandAdmitted(asked, who);
      return run(asked, who, body);
    });
  };

  // What can be answered at once is: a promise costs more than most of these answers.
  const admit = (asked: Asked): Answered => {
    try {
      const { route, received } = asked;
      // The route decides, not the text of the address: MCP endpoints take no cookies.
      const cookie = route.path.startsWith('/v1/');
      const who = route.scope === undefined ? ANYBODY : authenticator.authenticate(received, { cookie });
      const answered =
        who instanceof Promise
          ? who.then((known) => {
              demandAdmitted(asked, known);
              return enter(asked, known);
            })
          : enter(asked, who);
      return answered instanceof Promise ? answered.catch((thrown: unknown) => fail(asked, thrown)) : answered;
    } catch (thrown) {
      return fail(asked, thrown);
    }
  };

  const count = (answered: Answered, route: string): Answered => {
    if (answered instanceof Promise) return answered.then((response) => count(response, route));
    onAnswer?.(route, answered.status);
    return answered;
  };

  const refuseMethod = (found: Found<Route>, request: Received): Response => {
    const isOpen = [...found.methods.values()].some(({ cors }) => cors);
    if (request.method === 'OPTIONS' && isOpen) return preflightResponse(found, traceIdOf(request));
    const allowed = methodsOf(found);
    const message = `Method ${request.method} is not allowed here. Allowed: ${allowed}.`;
    const error = new ToolscoutError('METHOD_NOT_ALLOWED', message);
    return problemResponse(error, { traceId: traceIdOf(request), headers: { allow: allowed } });
  };

  const findAt = ({ path }: Address): Found<Route> | undefined => {
    if (prefix === '') return find(path);
    // Whole parts only: a path that merely begins alike belongs to the app.
    return path.startsWith(`${prefix}/`) ? find(path.slice(prefix.length)) : undefined;
  };

  /** The route that a browser asks about beforehand is any that pages may read there. */
  const routeOf = ({ methods }: Found<Route>, method: string): Route | undefined =>
    method === 'OPTIONS'
      ? [...methods.values()].find(({ cors }) => cors)
      : methods.get(method === 'HEAD' ? 'GET' : method);

  const walk = (request: Received): Answered | undefined => {
    const { method } = request;
    const address = new Address(request.url);
    const found = findAt(address);
    const route = found && routeOf(found, method);
    const refused = guard?.(request, route);
    if (refused && !(route?.isProbe && isProbe(request))) return refused;
    const preflight = refused ? undefined : sharing?.preflight(request);
    if (preflight || !found) return preflight;
    if (!route || method === 'OPTIONS') return refuseMethod(found, request);
    const { params } = found;
    const traceId = traceIdOf(request);
    const answered = count(admit({ route, received: request, address, params, traceId, admitted: false }), route.id);
    return refused ? statusOnly(answered) : answered;
  };

  const finish = (request: Received, answered: Answered): Answered => {
    const isHead = request.method === 'HEAD';
    const page = sharing?.pageOf(request);
    if (!isHead && page === undefined) return answered;
    if (answered instanceof Promise) return answered.then((answer) => finish(request, answer));
    const response = responseOf(answered);
    const shared = page === undefined ? response : sharing!.share(page, response);
    return isHead ? withoutBody(shared) : shared;
  };

  const serve = (received: Received): Answered => finish(received, walk(received) ?? notFound(received));

  return {
    serve,
    fetch: async (request) => responseOf(await serve(new ReceivedRequest(request))),
    answer(request) {
      const received = new ReceivedRequest(request);
      const answered = walk(received);
      return answered && Promise.resolve(finish(received, answered)).then(responseOf);
    },
  };
}

function notFound(request: Received): Response {
  const error = new ToolscoutError('NOT_FOUND', 'There is nothing at this address.');
  return problemResponse(error, { traceId: traceIdOf(request) });
}
