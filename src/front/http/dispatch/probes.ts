import { isObject } from '../../../kernel/json.js';
import { responseOf, type Answer, type RequestHead } from '../../../net/http-message.js';
import { isHost } from './guard.js';

/**
 * Whether a request that the guard refused may still learn the status of a health check: load balancers and orchestrators
 * ask by the address of the machine or under any name. Requests of pages (with an `Origin`) may not.
 */
export function isProbe({ headers }: RequestHead): boolean {
  const host = headers.get('host') ?? '';
  return !headers.has('origin') && (host === '' || isHost(host));
}

/** The answer to a health check without anything but its status: a page could ask under a name that is not ours. */
export async function statusOnly(answered: Answer | Promise<Answer>): Promise<Response> {
  const response = responseOf(await answered);
  const body: unknown = await response.json();
  const { status } = isObject(body) ? body : {};
  const headers = {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-trace-id': response.headers.get('x-trace-id') ?? '',
  };
  return new Response(JSON.stringify({ status }), { status: response.status, headers });
}
