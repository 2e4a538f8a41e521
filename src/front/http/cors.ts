import { Address } from './address.js';
import { createFinder, methodsOf, type Found } from './find-route.js';
import type { Route } from './route.js';

/** What pages of any origin may read carries these. Never with credentials: a browser must not add any by itself. */
export const CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'WWW-Authenticate, Retry-After, X-Trace-Id',
} as const;

/** A star stands for every header but `Authorization`. */
const ALLOWED_HEADERS = 'Authorization, *';
const GOOD_FOR_SECONDS = '3600';

/** The answer to a browser that asks before a page may read something. */
export function preflightResponse(found: Found, traceId: string): Response {
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

/** Whether a request is for something that pages of any origin may read, or asks whether it is. */
export function createPageCheck(routes: readonly Route[]): (request: Request) => boolean {
  const find = createFinder(routes.filter(({ cors }) => cors));
  return ({ method, url }) => {
    const found = find(new Address(url).path);
    return found !== undefined && (method === 'OPTIONS' || found.methods.has(method === 'HEAD' ? 'GET' : method));
  };
}
