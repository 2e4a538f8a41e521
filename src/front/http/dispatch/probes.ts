import { isObject } from '../../../kernel/json.js';
import type { Dispatch } from './dispatch.js';
import { isHost, type Guard } from './guard.js';

/** What load balancers and orchestrators ask for, by the address of the machine or under any name. */
const PROBES = /^https?:\/\/[^/]*\/(?:health|ready)(?:\?|$)/;

/** The answer without anything but its status: whoever asks under a name that is not ours may be a page. */
async function bare(answered: Response | Promise<Response>, isHead: boolean): Promise<Response> {
  const response = await answered;
  const body: unknown = isHead ? undefined : await response.json();
  const { status } = isObject(body) ? body : {};
  const headers = {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-trace-id': response.headers.get('x-trace-id') ?? '',
  };
  return new Response(isHead ? null : JSON.stringify({ status }), { status: response.status, headers });
}

/**
 * Answers `/health` and `/ready` under any `Host`, which the guard refuses for everything else: who asks under a name that is
 * not ours learns whether toolscout works, and nothing else. `undefined` for what the guard lets through, and for every other
 * request. Requests of pages (with an `Origin`) are left to the guard.
 */
export function createProbes(guard: Guard, dispatch: Dispatch): (request: Request) => Promise<Response> | undefined {
  return (request) => {
    const isHead = request.method === 'HEAD';
    if ((request.method !== 'GET' && !isHead) || !PROBES.test(request.url)) return undefined;
    const host = request.headers.get('host') ?? '';
    if (request.headers.has('origin') || (host !== '' && !isHost(host)) || !guard(request)) return undefined;
    const answered = dispatch(request);
    return answered && bare(answered, isHead);
  };
}
