import type { ServerResponse } from 'node:http';
import { Hono, type MiddlewareHandler } from 'hono';
import type { Gateway } from '../../gateway/index.js';
import { systemClock, type Clock } from '../../kernel/clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { Log } from '../../kernel/log.js';
import { hasScope, LOCAL, type Principal } from '../../model/principal.js';
import type { McpEndpoint } from '../mcp/http/http.js';
import { apiRoutes, baseUrlOf } from './api.js';
import { createAuthenticator, keyGone, type Authenticator } from './auth/auth.js';
import { createPageCheck, createSharing, type Sharing } from './dispatch/cors.js';
import { createDispatch } from './dispatch/dispatch.js';
import { createGuard } from './dispatch/guard.js';
import { mcpOperations } from './openapi/mcp-operations.js';
import { createMetrics, type Metrics } from './metrics/metrics.js';
import { createPlaces } from './places.js';
import { createProbes } from './dispatch/probes.js';
import { problemResponse } from './dispatch/problem.js';
import type { FetchDocument } from './auth/token.js';
import { keptTraceIdOf } from './dispatch/trace.js';

const RETRY_AFTER_MS = 5000;

/** What later handlers find on the context of a request. */
export interface HttpVariables {
  readonly Variables: { principal: Principal };
}

/** What the HTTP front is made of. */
export interface HttpAppOptions {
  readonly gateway: Gateway;
  /** The MCP endpoint of one principal, to be shut when `isAdmitted` does not hold any more. */
  readonly mcpFor: (principal: Principal, isAdmitted: () => boolean) => McpEndpoint;
  readonly version: string;
  readonly log: Log;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** Others than this machine can reach it: without authentication nobody is let in (S2). */
  readonly exposed?: boolean;
  /** Asks the issuer of tokens for a document; without it no token can be checked. */
  readonly fetchDocument?: FetchDocument;
  readonly metrics?: Metrics;
  readonly clock?: Clock;
  /** Whether callers without a key may administer toolscout where `http.auth` is not set. */
  readonly localAdmin?: boolean;
  /** Requests of one principal that may be open at once. */
  readonly maxOpenEach?: number;
}

/** What a request came over, when it came over a connection. */
interface Bindings {
  readonly outgoing?: ServerResponse;
}

/** Holds a place for each request until its answer has been sent, for each principal apart. */
function createHolding(each: number) {
  const places = createPlaces({ total: Infinity, each });
  const connections = new WeakMap<Request, ServerResponse>();
  return {
    note(request: Request, { outgoing }: Bindings = {}): void {
      if (outgoing) connections.set(request, outgoing);
    },
    hold(request: Request, principal: Principal): void {
      const connection = connections.get(request);
      if (!connection || principal === LOCAL) return;
      const leave = places.enter(principal.name);
      if (leave) {
        connection.once('close', leave);
        return;
      }
      const message = `${each} requests of this client are open already.`;
      throw new ToolscoutError('RATE_LIMITED', message, { retryAfterMs: RETRY_AFTER_MS });
    },
  };
}

function refuseCaller(authenticator: Authenticator, request: Request, thrown: unknown): Response {
  const isScope = thrown instanceof ToolscoutError && thrown.code === 'FORBIDDEN';
  const challenge = authenticator.challenge(request, isScope ? 'call' : undefined);
  return problemResponse(thrown, { traceId: keptTraceIdOf(request), headers: { 'www-authenticate': challenge } });
}

/** Lets through whoever may run tools, and notes who it is. */
function admitCaller(
  authenticator: Authenticator,
  hold: (request: Request, principal: Principal) => void,
): MiddlewareHandler<HttpVariables> {
  return async (context, next) => {
    const request = context.req.raw;
    try {
      const principal = await authenticator.authenticate(request);
      if (!hasScope(principal, 'call')) throw new ToolscoutError('FORBIDDEN', 'This needs the scope "call".');
      context.set('principal', principal);
    } catch (thrown) {
      return refuseCaller(authenticator, request, thrown);
    }
    try {
      hold(request, context.get('principal'));
    } catch (thrown) {
      return problemResponse(thrown, { traceId: keptTraceIdOf(request) });
    }
    return next();
  };
}

/** The HTTP front: the MCP endpoint and the HTTP API, behind one guard and one authentication. */
export function createHttpApp(options: HttpAppOptions): Hono<HttpVariables> {
  const { gateway, log, clock = systemClock, mcpFor } = options;
  const metrics = options.metrics ?? createMetrics(gateway, clock);
  const auth = (): ReturnType<Gateway['config']>['config']['http']['auth'] => gateway.config().config.http.auth;
  const baseUrl = baseUrlOf(gateway);
  const authenticator = createAuthenticator({
    auth,
    required: options.exposed ?? false,
    baseUrl,
    clock,
    log,
    fetchDocument: options.fetchDocument ?? (() => Promise.resolve(undefined)),
  });
  const routes = apiRoutes({
    version: options.version,
    clock,
    log,
    baseUrl,
    auth,
    metrics: () => metrics.text(),
    beside: mcpOperations(),
  });
  const { note, hold } = createHolding(options.maxOpenEach ?? Infinity);
  const { localAdmin } = options;
  const dispatch = createDispatch(routes, {
    gateway,
    log,
    authenticator,
    localAdmin,
    hold,
    onAnswer: metrics.onAnswer,
  });
  const nothing = (request: Request): Response =>
    problemResponse(new ToolscoutError('NOT_FOUND', 'There is nothing at this address.'), {
      traceId: keptTraceIdOf(request),
    });

  const isPublished = createPageCheck(routes);
  const guard = createGuard({
    hosts: options.allowedHosts,
    origins: options.allowedOrigins,
    checkTarget: true,
    // With keys every request brings its own; without them being on this machine is the key, and every page has that.
    isForPages: (request) => auth() !== undefined && isPublished(request),
  });
  const probe = createProbes(guard, dispatch);
  const sharing = createSharing(options.allowedOrigins);
  const guarded: MiddlewareHandler<HttpVariables> = async (context, next) => {
    const { raw } = context.req;
    const answered = guard(raw) ?? sharing?.preflight(raw);
    if (answered) return answered;
    await next();
    if (!context.res.headers.has('x-trace-id')) context.res.headers.set('x-trace-id', keptTraceIdOf(raw));
    sharing?.share(raw, context.res);
    return undefined;
  };
  const answer = (raw: Request): Response | Promise<Response> => dispatch(raw) ?? nothing(raw);
  const answerPage = async (raw: Request, { preflight, share }: Sharing): Promise<Response> =>
    guard(raw) ?? preflight(raw) ?? share(raw, await answer(raw));

  const app = new Hono<HttpVariables>();
  for (const path of ['/mcp', '/servers/:server/mcp']) app.use(path, guarded, admitCaller(authenticator, hold));
  const answerMcp = (raw: Request, principal: Principal, server?: string): Response | Promise<Response> => {
    const { name, until } = principal;
    const isAdmitted = (): boolean => authenticator.admits(principal);
    // A key may be taken back in the moment in which it is looked at.
    if (!isAdmitted()) return refuseCaller(authenticator, raw, keyGone());
    return mcpFor(principal, isAdmitted).fetch(raw, { principal: name, server, until, traceId: keptTraceIdOf(raw) });
  };
  app.all('/mcp', (context) => answerMcp(context.req.raw, context.get('principal')));
  app.all('/servers/:server/mcp', (context) =>
    answerMcp(context.req.raw, context.get('principal'), context.req.param('server')),
  );
  // One handler for everything else, so that nothing stands between the guard and the route.
  app.all('*', ({ req: { raw } }) =>
    sharing && raw.headers.has('origin') ? answerPage(raw, sharing) : (guard(raw) ?? answer(raw)),
  );
  // Most requests are for the API and do not come from a page: they need not walk through the app, which would share an
  // answer with its page, and take the body off what only asks for the head.
  const throughApp = app.fetch;
  const mustWalk = (raw: Request): boolean =>
    raw.method === 'HEAD' || (sharing !== undefined && raw.headers.has('origin'));
  app.fetch = (raw, ...rest) => {
    // What only reads the API is answered at once and needs no place.
    if (raw.method !== 'GET' || raw.url.includes('/mcp')) note(raw, rest[0] as Bindings | undefined);
    return probe(raw) ?? (mustWalk(raw) ? undefined : (guard(raw) ?? dispatch(raw))) ?? throughApp(raw, ...rest);
  };
  app.onError((error, context) => {
    // What went wrong is for the log of the operator; a message may hold what a server wrote.
    log.error('http.failed', { path: context.req.path, error: error.message });
    return problemResponse(error, { traceId: keptTraceIdOf(context.req.raw) });
  });
  return app;
}
