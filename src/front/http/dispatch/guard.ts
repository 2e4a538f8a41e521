import { ToolscoutError } from '../../../kernel/errors.js';
import { oneLine, printable } from '../../../kernel/text.js';
import { traceIdOf } from '../../../kernel/trace-context.js';
import type { RequestHead } from '../../../net/http-message.js';
import { problemResponse } from './problem.js';

/** Names under which a loopback listener may be addressed. */
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]', '::1']);

/** True for an address that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host.toLowerCase());
}

/** A name or an address, perhaps with a port. */
const PLAIN_HOST = /^[\w.:[\]-]{1,300}$/;

/** Whether a `Host` is one at all, be it ours or not; a header with a path, a query or a user in it is none (A1). */
export function isHost(header: string): boolean {
  return PLAIN_HOST.test(header) && hostnameOf(`http://${header}`) !== undefined;
}

function hostnameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname.toLowerCase() : undefined;
}

/** Which `Host` and `Origin` headers may come in. */
export interface GuardOptions {
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  /** Whether the address of a request must name one of the hosts too: its first line may hold another than its `Host`. */
  readonly checkTarget?: boolean;
  /** Whether every request brings a key of its own now; only then may pages of every origin read what is published. */
  readonly asksForKeys?: () => boolean;
}

/** Checks one request for a route, or for none; an answer is a refusal. */
export type Guard = (request: RequestHead, route?: { readonly cors?: boolean }) => Response | undefined;

const MAX_REMEMBERED = 100;
/** Characters of a refused header that are shown. */
const SHOWN = 100;

function refuse(request: RequestHead, header: 'Host' | 'Origin', value: string): Response {
  const setting = `http.allowed${header}s`;
  const message =
    value === ''
      ? `The request has no ${header} header.`
      : `${header} "${oneLine(printable(value), SHOWN)}" is not allowed.`;
  const error = new ToolscoutError('FORBIDDEN', message, {
    suggestion: value === '' ? `Send a ${header} header.` : `Add it to ${setting} if it is yours.`,
  });
  return problemResponse(error, { traceId: traceIdOf(request) });
}

/**
 * Whether the browser says that a page of another origin sent it, be it at another port of this machine. Such a page cannot read the
 * answer, but what it asks for would be done. That a link leads here is no request of a page.
 */
function isFromElsewhere({ method, headers }: RequestHead): boolean {
  const site = headers.get('sec-fetch-site');
  if (site === null || site === 'same-origin' || site === 'none') return false;
  return headers.get('sec-fetch-mode') !== 'navigate' || (method !== 'GET' && method !== 'HEAD');
}

/**
 * Refuses requests that a web page could send to this machine behind the user's back: a foreign
 * `Host` (DNS rebinding) or a foreign `Origin` (S1). Requests without an Origin are not from a page.
 */
export function createGuard(options: GuardOptions): Guard {
  const { checkTarget = false, asksForKeys = () => false } = options;
  const hosts = new Set([...LOOPBACK, ...options.hosts.map((host) => host.toLowerCase())]);
  const origins = new Set(options.origins.map((origin) => origin.toLowerCase()));
  // Clients send the same few headers again and again; only those that passed are remembered.
  const passed = new Set<string>();
  const isOurs = (header: string): boolean => {
    if (passed.has(header)) return true;
    // A header with a path, a query or a user in it is no host, whatever a parser makes of it (A1).
    if (!PLAIN_HOST.test(header) || !hosts.has(hostnameOf(`http://${header}`) ?? '')) return false;
    if (passed.size < MAX_REMEMBERED) passed.add(header);
    return true;
  };
  const isTargetOurs = (url: string, host: string): boolean => {
    const from = url.indexOf('/') + 2;
    return (url.startsWith(host, from) && url[from + host.length] === '/') || isOurs(new URL(url).host);
  };

  return (request, route) => {
    const host = request.headers.get('host') ?? '';
    if (!isOurs(host)) return refuse(request, 'Host', host);
    if (checkTarget && !isTargetOurs(request.url, host)) return refuse(request, 'Host', new URL(request.url).host);
    const origin = request.headers.get('origin');
    if (origin !== null && origins.has(origin.toLowerCase())) return undefined;
    const isOwn = origin === null || hosts.has(hostnameOf(origin) ?? '');
    if (isOwn && !isFromElsewhere(request)) return undefined;
    return route?.cors && asksForKeys() ? undefined : refuse(request, 'Origin', origin ?? 'null');
  };
}
