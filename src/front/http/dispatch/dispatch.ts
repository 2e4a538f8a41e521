import { viewerOf, type Gateway } from '../../../gateway/index.js';
import { messageOf, ToolscoutError } from '../../../kernel/errors.js';
import type { Log } from '../../../kernel/log.js';
import { oneLine, printable } from '../../../kernel/text.js';
import { traceIdOf } from '../../../kernel/trace-context.js';
import { hasScope, LOCAL, type Principal } from '../../../model/principal.js';
import { keyGone, type Authenticator } from '../auth/auth.js';
import { demandCsrf } from '../auth/browser-sessions.js';
import { responseOf, ReceivedRequest, type Answer, type Received } from '../../../net/http-message.js';
import type { OpenRequestLimit } from '../request-slots.js';
import type { Reply, Route, RouteInput } from '../route.js';
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

/** An address, and the routes there. */
interface Located {
  readonly url: string;
  readonly address: Address;
  readonly found: Found<Route> | undefined;
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

/**
 * What a route is given. A class: an object with a getter of its own has a hidden class of its own as well, which keeps the whole
 * request until the next full collection.
 */
class LetIn implements RouteInput<never, never, never> {
  constructor(
    readonly received: Received,
    readonly address: Address,
    readonly principal: Principal,
    readonly gateway: Gateway,
    readonly traceId: string,
    readonly reply: Reply,
    readonly params: never,
    readonly query: never,
    readonly body: never,
  ) {}

  get request(): Request {
    return this.received.web;
  }
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

/** Requests that are not larger need no memory of their own. */
const SMALL_BYTES = 16 * 1024;
/** What a request may have that does not say how large it is. */
const UNKNOWN_BYTES = 256 * 1024;

/** The caller of a public route. */
const ANONYMOUS: Principal = { name: 'anonymous', scopes: new Set() };

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

  const demandScope = ({ scope, method, path }: Route, principal: Principal): void => {
    if (scope === undefined || principal.scopes.has(scope) || hasScope(principal, scope)) return;
    throw new ToolscoutError(
      'FORBIDDEN',
      `${method} ${path} needs the scope "${scope}"; this caller has ${[...principal.scopes].join(', ') || 'none'}.`,
      {
        suggestion: 'Use a key that has it, or ask an administrator.',
      },
    );
  };

  // Without keys every program and user of this machine is the same caller; being here must not be enough to trust anything (A1).
  const demandAdmin = ({ scope, method }: Route, principal: Principal): void => {
    if (scope !== 'admin' || method === 'GET' || principal !== LOCAL || deps.localAdmin) return;
    throw new ToolscoutError('FORBIDDEN', 'Without http.auth, only a signed-in administrator can make changes.', {
      suggestion:
        'Run `toolscout studio` to sign in, use the command line, start serve with --admin, or configure http.auth.',
    });
  };

  const demandWhole = ({ whole }: Route, principal: Principal): void => {
    if (!whole || !principal.servers) return;
    throw new ToolscoutError(
      'FORBIDDEN',
      'This operation needs access to all servers, but this caller has access to only some of them.',
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
    return route.handle(
      new LetIn(
        received,
        address,
        route.scope === undefined ? LOCAL : principal,
        gatewayFor(principal),
        traceId,
        createReply(traceId, route.cors ? CORS : undefined),
        (route.params ? readParams(route.params, asked.params) : undefined) as never,
        queryOf(route, address) as never,
        body as never,
      ),
    );
  };

  /** Keys are taken back, also while a request waits for something. */
  const demandAdmitted = (asked: Asked, who: Principal): void => {
    if (asked.route.scope === undefined || authenticator.admits(who)) return;
    asked.admitted = false;
    throw keyGone();
  };

  /** Sets memory aside for what is about to be read, until it has been answered (R12). */
  const reserveFor = ({ headers, outgoing }: Received): void => {
    const bytes = headers.has('transfer-encoding') ? UNKNOWN_BYTES : Number(headers.get('content-length') ?? 0);
    if (bytes > SMALL_BYTES) outgoing?.once('close', gateway.internal.reserve(bytes));
  };

  const enter = (asked: Asked, who: Principal): Answered => {
    const { route, received } = asked;
    demandScope(route, who);
    // From here on another key or scope would not help, so a refusal asks for none.
    asked.admitted = true;
    if (who.session) demandCsrf(who, received);
    demandAdmin(route, who);
    demandWhole(route, who);
    const mayLast = route.body !== undefined || route.isRaw === true;
    if (mayLast && received.outgoing && who !== LOCAL) deps.hold?.(received.outgoing, who);
    if (mayLast) reserveFor(received);
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
      const who = route.scope === undefined ? ANONYMOUS : authenticator.authenticate(received, { cookie });
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

  /** What is at the address that was asked for last: mostly it is the same again. */
  let latest: Located | undefined;
  const locate = (url: string): Located => {
    if (latest?.url === url) return latest;
    const address = new Address(url);
    return (latest = { url, address, found: findAt(address) });
  };

  /** The route that a browser asks about beforehand is any that pages may read there. */
  const routeOf = ({ methods }: Found<Route>, method: string): Route | undefined =>
    method === 'OPTIONS'
      ? [...methods.values()].find(({ cors }) => cors)
      : methods.get(method === 'HEAD' ? 'GET' : method);

  const walk = (request: Received): Answered | undefined => {
    const { method } = request;
    const { address, found } = locate(request.url);
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
  const { path } = new Address(request.url);
  const error = new ToolscoutError('NOT_FOUND', `No route matches ${request.method} ${oneLine(printable(path), 100)}.`);
  return problemResponse(error, { traceId: traceIdOf(request) });
}
