import type { Gateway } from '../../gateway/index.js';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import type { Log } from '../../kernel/log.js';
import { hasScope, LOCAL, type Principal } from '../../model/principal.js';
import type { Authenticator } from './auth.js';
import { readBody, readParams, readQuery } from './input.js';
import { problemResponse } from './problem.js';
import type { Reply, Route } from './route.js';
import { scopeGateway } from './scoped-gateway.js';
import { traceIdOf, traceMeta } from './trace.js';

/** What stands between a request and its route. */
export interface DispatchDeps {
  readonly gateway: Gateway;
  readonly log: Log;
  readonly authenticator: Authenticator;
  /** What stands before every path. */
  readonly prefix?: string;
  /** Told of every answer; the route is one of the table, or nothing. */
  readonly onAnswer?: (route: string, status: number) => void;
}

/** Answers a request for one of the routes; `undefined` when none is meant. */
export type Dispatch = (request: Request) => Promise<Response> | undefined;

interface Template {
  readonly segments: readonly string[];
  readonly methods: Map<string, Route>;
}

interface Found {
  readonly methods: Map<string, Route>;
  readonly params: Record<string, string>;
}

const CORS = { 'access-control-allow-origin': '*' };

/** Everybody, where nobody is asked who they are. */
const ANYBODY: Principal = { name: 'anybody', scopes: new Set() };

const segmentsOf = (path: string): string[] => path.split('/').slice(1);

/** One part of a path; what cannot be decoded fits nothing. */
function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    // A broken escape is no name of anything.
    return undefined;
  }
}

function matchTemplate(template: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  if (template.length !== segments.length) return undefined;
  const params = Object.create(null) as Record<string, string>;
  for (const [place, wanted] of template.entries()) {
    const segment = segments[place]!;
    if (!wanted.startsWith('{')) {
      if (wanted !== segment) return undefined;
      continue;
    }
    const value = decode(segment);
    if (value === undefined || value === '') return undefined;
    params[wanted.slice(1, -1)] = value;
  }
  return params;
}

/** A finder of routes: those without anything that varies by one look, the others in order. */
function createFinder(routes: readonly Route[]): (path: string) => Found | undefined {
  const fixed = new Map<string, Map<string, Route>>();
  const templates = new Map<string, Template>();
  for (const route of routes) {
    if (!route.path.includes('{')) {
      const methods = fixed.get(route.path) ?? new Map<string, Route>();
      fixed.set(route.path, methods.set(route.method, route));
      continue;
    }
    const template = templates.get(route.path) ?? { segments: segmentsOf(route.path), methods: new Map() };
    template.methods.set(route.method, route);
    templates.set(route.path, template);
  }
  const varying = [...templates.values()];
  return (path) => {
    const exact = fixed.get(path);
    if (exact) return { methods: exact, params: {} };
    const segments = segmentsOf(path);
    for (const { segments: template, methods } of varying) {
      const params = matchTemplate(template, segments);
      if (params) return { methods, params };
    }
    return undefined;
  };
}

/**
 * Finds the route of a request, asks who is there, checks every input by the schema of the route, and
 * has it answered. Who may pass is decided by the route that answers, never by the text of the address (A1).
 */
export function createDispatch(routes: readonly Route[], deps: DispatchDeps): Dispatch {
  const { gateway, log, authenticator, prefix = '', onAnswer } = deps;
  const find = createFinder(routes);

  const admit = async (route: Route, request: Request): Promise<Principal> => {
    if (route.scope === undefined) return ANYBODY;
    const principal = await authenticator.authenticate(request);
    if (!hasScope(principal, route.scope)) {
      throw new ToolscoutError('FORBIDDEN', `This needs the scope "${route.scope}".`);
    }
    if (route.whole && principal.servers) {
      throw new ToolscoutError('FORBIDDEN', 'This is about all servers, and this caller may see only some of them.');
    }
    return principal;
  };

  const challengeFor = (thrown: unknown, request: Request, route: Route): Record<string, string> => {
    if (!(thrown instanceof ToolscoutError)) return {};
    if (thrown.code === 'UNAUTHENTICATED') return { 'www-authenticate': authenticator.challenge(request) };
    if (thrown.code !== 'FORBIDDEN' || route.scope === undefined) return {};
    return { 'www-authenticate': authenticator.challenge(request, route.scope) };
  };

  const answer = async (
    route: Route,
    request: Request,
    url: URL,
    params: Record<string, string>,
    traceId: string,
  ): Promise<Response> => {
    const base = route.cors ? CORS : undefined;
    let admitted = false;
    try {
      const principal = await admit(route, request);
      admitted = true;
      const reply: Reply = (body, { status = 200, type = 'application/json', headers } = {}) => {
        const content = body === undefined || body === null ? undefined : { 'content-type': type };
        const isReady = typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream;
        return new Response((isReady ? body : content && JSON.stringify(body)) as string | undefined, {
          status,
          headers: { 'x-trace-id': traceId, ...content, ...base, ...headers },
        });
      };
      return await route.handle({
        request,
        url,
        principal: route.scope === undefined ? LOCAL : principal,
        gateway: scopeGateway(gateway, principal),
        traceId,
        meta: traceMeta(request),
        reply,
        params: (route.params ? readParams(route.params, params) : undefined) as never,
        query: (route.query ? readQuery(route.query, url.searchParams) : undefined) as never,
        body: (route.body ? await readBody(route.body, request) : undefined) as never,
      });
    } catch (thrown) {
      if (!(thrown instanceof ToolscoutError)) {
        log.error('http.failed', { route: route.id, trace_id: traceId, error: messageOf(thrown) });
      }
      const challenge = admitted ? {} : challengeFor(thrown, request, route);
      return problemResponse(thrown, { traceId, headers: { ...base, ...challenge } });
    }
  };

  const refuseMethod = ({ methods }: Found, request: Request): Response => {
    const offered = [...methods.keys()];
    const allow = [...offered, ...(methods.has('GET') ? ['HEAD'] : [])].join(', ');
    const isOpen = [...methods.values()].some(({ cors }) => cors);
    if (request.method === 'OPTIONS' && isOpen) {
      const preflight = { ...CORS, 'access-control-allow-methods': allow, 'access-control-allow-headers': '*' };
      return new Response(null, { status: 204, headers: { ...preflight, 'x-trace-id': traceIdOf(request) } });
    }
    const error = new ToolscoutError('METHOD_NOT_ALLOWED', `${request.method} means nothing here.`);
    return problemResponse(error, { traceId: traceIdOf(request), headers: { allow } });
  };

  return (request) => {
    const url = new URL(request.url);
    if (!url.pathname.startsWith(prefix)) return undefined;
    const found = find(prefix === '' ? url.pathname : url.pathname.slice(prefix.length));
    if (!found) return undefined;
    const isHead = request.method === 'HEAD';
    const route = found.methods.get(isHead ? 'GET' : request.method);
    if (!route) return Promise.resolve(refuseMethod(found, request));
    return answer(route, request, url, found.params, traceIdOf(request)).then((response) => {
      onAnswer?.(route.id, response.status);
      return isHead ? new Response(null, { status: response.status, headers: response.headers }) : response;
    });
  };
}
