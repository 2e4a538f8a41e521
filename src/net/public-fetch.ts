import { CONFIGURE_IT } from './public-address.js';
import { lookup as lookUp } from 'node:dns';
import type { Agent, IncomingMessage, RequestOptions } from 'node:http';
import { Readable } from 'node:stream';
import { bareHost, isInternalAddress, isInternalHost } from './address.js';
import { dial, leadsOutside } from './dial.js';
import { ToolscoutError } from '../kernel/errors.js';

type LookupHook = NonNullable<RequestOptions['lookup']>;

/** How long a connection without work is kept; as long as Node keeps its own. */
const IDLE_MS = 5000;
/** Statuses that have no body by definition. */
const BODILESS = new Set([204, 205, 304]);

function refused(server: string, host: string): ToolscoutError {
  const message = `The server "${server}" resolves to ${host}, which is not on the public network.`;
  return new ToolscoutError('FORBIDDEN', message, {
    remedy: CONFIGURE_IT,
    delivered: false,
  });
}

/**
 * A `fetch` for addresses that the user did not write: it reaches the public network only. Each request resolves the
 * name, checks the address and connects to exactly that address, so that a name that resolves elsewhere the next time
 * is refused then (A19). Redirects are returned, never followed.
 */
export function createPublicFetch(
  server: string,
  lookup: LookupHook = lookUp as LookupHook,
  isInternal: (address: string) => boolean = isInternalAddress,
): typeof fetch {
  const guarded: LookupHook = (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      const addresses = Array.isArray(found) ? found : [];
      if (error) callback(error, '', 0);
      else if (
        !leadsOutside(
          addresses.map((each) => each.address),
          isInternal,
        )
      ) {
        callback(refused(server, host) as NodeJS.ErrnoException, '', 0);
      } else if (options.all) callback(null, addresses);
      else callback(null, addresses[0]!.address, addresses[0]!.family);
    });
  };

  // Connections of its own: one that another part of the process keeps open was judged by somebody else, or not at all.
  const kept = { keepAlive: true, timeout: IDLE_MS };
  let agents: Record<'http:' | 'https:', Agent> | undefined;
  const open = async (): Promise<Record<'http:' | 'https:', Agent>> => {
    const [http, https] = await Promise.all([import('node:http'), import('node:https')]);
    return (agents ??= { 'http:': new http.Agent(kept), 'https:': new https.Agent(kept) });
  };

  return async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    // An address that is written down is never looked up.
    if (isInternalHost(url.hostname)) throw refused(server, bareHost(url.hostname));
    request.signal.throwIfAborted();
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
    const { method, signal } = request;
    const agent = (agents ?? (await open()))[url.protocol === 'https:' ? 'https:' : 'http:'];
    const headers = Object.fromEntries(request.headers);
    return toResponse(await dial(url, { method, headers, agent, lookup: guarded, signal, body }));
  };
}

function toResponse(incoming: IncomingMessage): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const one of Array.isArray(value) ? value : [value!]) headers.append(name, one);
  }
  const status = incoming.statusCode!;
  const body = BODILESS.has(status) ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array>);
  if (body === null) incoming.resume();
  return new Response(body, { status, headers });
}
