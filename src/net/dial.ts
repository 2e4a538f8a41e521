import type { IncomingMessage, RequestOptions } from 'node:http';
import { isInternalAddress } from './address.js';

/**
 * Whether a name leads to the public network: one internal answer among public ones is enough to refuse it, since which
 * of them is dialled would be a matter of luck.
 */
export function leadsOutside(
  addresses: readonly string[],
  isInternal: (address: string) => boolean = isInternalAddress,
): boolean {
  return addresses.length > 0 && !addresses.some((address) => isInternal(address));
}

/**
 * Sends one request. The connection is made to what `lookup` answers and to nothing else, so an address that was checked there is
 * the one that is dialled. Redirects are answers, never followed.
 */
export async function dial(
  url: URL,
  { body, ...options }: RequestOptions & { readonly lookup: RequestOptions['lookup']; readonly body?: Uint8Array },
): Promise<IncomingMessage> {
  // Loaded by the first request: a toolscout whose servers are all processes of this machine needs neither, and they take 5 MB.
  const { request: send } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'));
  return await new Promise((resolve, reject) => {
    // Credentials in a URL from another author are not sent.
    const request = send(url, { ...options, auth: undefined }, resolve);
    request.on('error', reject);
    request.end(body);
  });
}
