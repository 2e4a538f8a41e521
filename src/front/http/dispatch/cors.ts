import { traceIdOf } from '../../../kernel/trace-context.js';
import { methodsOf, type Found } from './find-route.js';

/** What pages of any origin may read carries these. Never with credentials: a browser must not add any by itself. */
export const CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'WWW-Authenticate, Retry-After, X-Trace-Id',
} as const;

/** A star stands for every header but `Authorization`. */
const ALLOWED_HEADERS = 'Authorization, *';
const GOOD_FOR_SECONDS = '3600';

/** What a page that the config allows may use: the API and both kinds of MCP endpoints. */
const SHARED_METHODS = 'GET, HEAD, POST, DELETE';
const SHARED_HEADERS = 'ETag, Mcp-Session-Id, Retry-After, WWW-Authenticate, X-Trace-Id';

/** The answer to a browser that asks before a page may read something. */
export function preflightResponse(found: Found<unknown>, traceId: string): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...CORS,
      'access-control-allow-methods': methodsOf(found),
      'access-control-allow-headers': ALLOWED_HEADERS,
      'access-control-max-age': GOOD_FOR_SECONDS,
      'x-trace-id': traceId,
    },
  });
}

/** Pages of the origins that the config allows may read every answer that they may ask for. */
export interface Sharing {
  /** The answer to a browser that asks beforehand; nothing when the request is something else. */
  preflight(request: Request): Response | undefined;
  /** The answer, readable for the page that asked. */
  share(request: Request, response: Response): Response;
}

/** Without any such origin there is nothing to share, and nothing to look at. */
export function createSharing(allowed: readonly string[]): Sharing | undefined {
  const origins = new Set(allowed.map((origin) => origin.toLowerCase()));
  if (origins.size === 0) return undefined;
  const pageOf = ({ headers }: Request): string | undefined => {
    const origin = headers.get('origin');
    return origin !== null && origins.has(origin.toLowerCase()) ? origin : undefined;
  };
  const share: Sharing['share'] = (request, response) => {
    const origin = pageOf(request);
    // What every page may read says so itself.
    if (origin === undefined || response.headers.has('access-control-allow-origin')) return response;
    response.headers.set('access-control-allow-origin', origin);
    response.headers.set('access-control-expose-headers', SHARED_HEADERS);
    response.headers.append('vary', 'Origin');
    return response;
  };
  return {
    share,
    preflight(request) {
      const isAsking = request.method === 'OPTIONS' && request.headers.has('access-control-request-method');
      if (!isAsking || pageOf(request) === undefined) return undefined;
      const headers = {
        'access-control-allow-methods': SHARED_METHODS,
        'access-control-allow-headers': ALLOWED_HEADERS,
        'access-control-max-age': GOOD_FOR_SECONDS,
        'x-trace-id': traceIdOf(request),
      };
      return share(request, new Response(null, { status: 204, headers }));
    },
  };
}
