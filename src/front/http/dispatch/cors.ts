import { traceIdOf } from '../../../kernel/trace-context.js';
import type { RequestHead } from '../../../net/http-message.js';
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
  preflight(request: RequestHead): Response | undefined;
  /** The origin of the page that asks, where the config allows it. */
  pageOf(request: RequestHead): string | undefined;
  /** The answer, readable for the page of this origin. */
  share(origin: string, response: Response): Response;
}

/** Without any such origin there is nothing to share, and nothing to look at. */
export function createSharing(allowed: readonly string[]): Sharing | undefined {
  const origins = new Set(allowed.map((origin) => origin.toLowerCase()));
  if (origins.size === 0) return undefined;
  const pageOf = ({ headers }: RequestHead): string | undefined => {
    const origin = headers.get('origin');
    return origin !== null && origins.has(origin.toLowerCase()) ? origin : undefined;
  };
  const share: Sharing['share'] = (origin, response) => {
    // What every page may read says so itself.
    if (response.headers.has('access-control-allow-origin')) return response;
    response.headers.set('access-control-allow-origin', origin);
    response.headers.set('access-control-expose-headers', SHARED_HEADERS);
    response.headers.append('vary', 'Origin');
    return response;
  };
  return {
    pageOf,
    share,
    preflight(request) {
      const isAsking = request.method === 'OPTIONS' && request.headers.has('access-control-request-method');
      const origin = isAsking ? pageOf(request) : undefined;
      if (origin === undefined) return undefined;
      const headers = {
        'access-control-allow-methods': SHARED_METHODS,
        'access-control-allow-headers': ALLOWED_HEADERS,
        'access-control-max-age': GOOD_FOR_SECONDS,
        'x-trace-id': traceIdOf(request),
      };
      return share(origin, new Response(null, { status: 204, headers }));
    },
  };
}
