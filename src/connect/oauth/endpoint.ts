import type { FetchLike } from '@modelcontextprotocol/client';
import { bareHost, isInternalHost } from '../../net/address.js';
import { readBounded } from '../../net/bounded-body.js';
import type { Clock } from '../../kernel/clock.js';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import type { Remedy } from '../../kernel/remedy.js';
import { oneLine, printable, seconds } from '../../kernel/text.js';

/** Documents and token answers are small; a larger one is refused (A28). */
const MAX_ANSWER = 256 * 1024;
/** An authorization server that takes longer than this is not waited for (A29). */
const ANSWER_MS = 15_000;
/** Statuses that have no body by definition. */
const BODILESS = new Set([101, 103, 204, 205, 304]);

/** For whom requests to an authorization server are made. */
export interface EndpointScope {
  /** The server as configured. */
  readonly server: string;
  readonly url: string;
  /** Hosts that the user wrote down: they may be internal. All others must be on the public network (A47). */
  readonly ownHosts?: readonly string[];
}

/** Whether a host is this machine and nothing else (RFC 8252, RFC 6761). */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(\.\d{1,3}){3}$/.test(hostname)
  );
}

/** What to do where signing in again fails in the same way: the server or its authorization server must be changed. */
export const REPORT_TO_OPERATOR: Remedy = { kind: 'configure', what: 'Report it to the operator of the server.' };

/** The failure of a sign-in; another sign-in may succeed unless `remedy` says what else to do. */
export function signInFailed(
  server: string,
  message: string,
  {
    remedy = { kind: 'sign-in', server, again: true },
    cause,
  }: { readonly remedy?: Remedy; readonly cause?: unknown } = {},
): ToolscoutError {
  return new ToolscoutError('AUTHENTICATION_FAILED', message, {
    remedy,
    delivered: false,
    ...(cause !== undefined && { cause }),
  });
}

/**
 * An address that a server or an authorization server named, when it may be used: `https:`, or
 * `http:` on this machine when the server itself is on this machine. Everything else, `javascript:`,
 * `file:` and options for a command among it, is refused (S17, A6).
 */
export function checkEndpoint(value: unknown, what: string, scope: EndpointScope): URL {
  const url =
    typeof value === 'string' && URL.canParse(value) ? new URL(value) : value instanceof URL ? value : undefined;
  const isLocal = url?.protocol === 'http:' && isLoopback(url.hostname) && isLoopback(new URL(scope.url).hostname);
  if (url && (url.protocol === 'https:' || isLocal) && url.username === '' && url.password === '') return url;
  // Neither user nor query is repeated: either can be a credential.
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  const shown = oneLine(printable(isWeb ? `${url.origin}${url.pathname}` : String(value)), 100);
  throw signInFailed(
    scope.server,
    `The sign-in of "${scope.server}" is refused: its ${what} is not an https address (${JSON.stringify(shown)}).`,
    {
      remedy:
        what === 'url'
          ? { kind: 'configure', what: `Use an https address in servers.${scope.server}.url.` }
          : REPORT_TO_OPERATOR,
    },
  );
}

/** Whether the user wrote down this very host; the names of this machine are one host. */
function isOwnHost({ hostname }: URL, { ownHosts = [] }: EndpointScope): boolean {
  return ownHosts.some((own) => bareHost(own) === bareHost(hostname) || (isLoopback(own) && isLoopback(hostname)));
}

/** Loaded when it is needed: most servers have no sign-in. */
function publicFetch(server: string): typeof globalThis.fetch {
  return async (input, init) => (await import('../../net/public-fetch.js')).createPublicFetch(server)(input, init);
}

/** Refuses an address for the browser of a person that is internal by its spelling, unless the user wrote the host down (A47). */
export function checkPage(url: URL, scope: EndpointScope): void {
  if (isInternalHost(url.hostname) && !isOwnHost(url, scope)) throw refusedInternal(url, scope);
}

function refusedInternal(url: URL, scope: EndpointScope, cause?: ToolscoutError): ToolscoutError {
  return new ToolscoutError(
    'FORBIDDEN',
    `toolscout refused to sign in to "${scope.server}": ${url.origin} is not on the public network and is not in the config.`,
    {
      remedy: {
        kind: 'configure',
        what: `Set servers.${scope.server}.auth.issuer to its authorization server, if that is trusted.`,
      },
      delivered: false,
      cause,
    },
  );
}

/**
 * The `fetch` for everything that belongs to signing in: allowed addresses only, bounded in time and
 * size, and never led elsewhere by a redirect. A server cannot lead it into the own network: every host
 * that the user did not write down must be public, at the moment it is dialled.
 */
export function createEndpointFetch(
  scope: EndpointScope,
  deps: { readonly clock: Clock; readonly fetch?: typeof globalThis.fetch },
): FetchLike {
  const own = deps.fetch ?? globalThis.fetch;
  const others = deps.fetch ?? publicFetch(scope.server);
  return async (input, init) => {
    const url = checkEndpoint(String(input), 'authorization server', scope);
    const late = new AbortController();
    const giveUp = (): void => late.abort(new Error(`no answer within ${seconds(ANSWER_MS)}`));
    const timer = deps.clock.after(ANSWER_MS, giveUp, { awaited: true });
    try {
      const send = isOwnHost(url, scope) ? own : others;
      const response = await send(url, { ...init, redirect: 'manual', signal: late.signal });
      const body = await readBounded(response, MAX_ANSWER);
      if (!body) throw new Error(`${url.host} sent more than ${MAX_ANSWER} bytes`);
      const { status, statusText, headers } = response;
      return new Response(BODILESS.has(status) ? null : body, { status, statusText, headers });
    } catch (thrown) {
      if (thrown instanceof ToolscoutError && thrown.code === 'FORBIDDEN') throw refusedInternal(url, scope, thrown);
      const reason = late.signal.aborted ? late.signal.reason : thrown;
      const cause = reason instanceof Error && reason.cause instanceof Error ? reason.cause : reason;
      throw new ToolscoutError(
        'SERVER_CONNECTION_ERROR',
        `The authorization server ${url.origin} of "${scope.server}" cannot be reached: ${oneLine(printable(messageOf(cause)), 200)}`,
        { delivered: false, cause: thrown },
      );
    } finally {
      timer.cancel();
    }
  };
}
