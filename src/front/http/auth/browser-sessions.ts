import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { SESSION_LIFETIME_MS, type Session, type SessionVerbs } from '../../../gateway/index.js';
import { ToolscoutError } from '../../../kernel/errors.js';
import { LOCAL, type Principal } from '../../../model/principal.js';
import type { RequestHead } from '../../../net/http-message.js';
import { cookieName, readCookie, writeCookie } from './cookies.js';

/** The header in which the page proves that a change is its own (STUDIO-6). */
export const CSRF_HEADER = 'x-toolscout-csrf';

/** Principals remembered by session, so that what is bound to one is bound once. */
const MAX_REMEMBERED = 1000;

/** Who signed in, as the cookie of a browser says it. */
export interface BrowserSessions {
  /** The session token that a request brings, where it may: never with a key, and never sent by another page. */
  tokenOf(request: RequestHead): string | undefined;
  /**
   * Who a token stands for. `holderOf` says who that is now: a session is good as long as what let its owner in is.
   */
  principalOf(token: string, holderOf: (session: Session) => Principal | undefined): Promise<Principal | undefined>;
  /** Whether the session of this principal has not ended; also true without a session. */
  isLive(principal: Principal): boolean;
  /** Hears of sessions that end before their time. */
  onEnd(listener: (id: string) => void): () => void;
  /** Opens a session; the answer is its token and `Set-Cookie`. */
  open(
    principal: Principal,
    by: Session['by'],
    request: RequestHead,
  ): Promise<{ readonly token: string; readonly cookie: string }>;
  /** Ends the session of a request; the answer is `Set-Cookie`. */
  end(request: RequestHead): Promise<string>;
}

/** What the page of a session must send with every change; it cannot be made without the token. */
function csrfOf(token: string): string {
  return createHmac('sha256', token).update('csrf').digest('base64url');
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Lets a change pass that the page of the session asks for: a browser sends its cookie along with requests of every page.
 *
 * @throws ToolscoutError `FORBIDDEN`
 */
export function demandCsrf({ session }: Principal, request: RequestHead): void {
  if (!session || request.method === 'GET' || request.method === 'HEAD') return;
  if (timingSafeEqual(digestOf(request.headers.get(CSRF_HEADER) ?? ''), digestOf(session.csrf))) return;
  throw new ToolscoutError('FORBIDDEN', 'The request has no valid X-Toolscout-Csrf header.', {
    suggestion: 'Send the value of `csrf` that GET /v1/session answers.',
  });
}

/** The principal of a person who signed in with a code of this machine. */
export function localAdministrator(): Principal {
  return { name: LOCAL.name, scopes: LOCAL.scopes };
}

/** The sessions of browsers over those of the gateway. */
export function createBrowserSessions(deps: {
  readonly sessions: SessionVerbs;
  readonly baseUrl: (request: RequestHead) => string;
}): BrowserSessions {
  const { sessions, baseUrl } = deps;
  const known = new Map<string, { readonly holder: Principal; readonly principal: Principal }>();
  let unlisten: (() => void) | undefined;
  const nameFor = (request: RequestHead): string => cookieName('session', baseUrl(request));
  const isSecure = (request: RequestHead): boolean => baseUrl(request).startsWith('https:');

  const remember = ({ id, by, until }: Session, csrf: string, holder: Principal): Principal => {
    const before = known.get(id);
    // Rights change with the config in the case of keys alone; others are what the session says.
    if (before && (by !== 'key' || before.holder === holder)) return before.principal;
    const principal = { ...holder, until: Math.min(until, holder.until ?? until), session: { id, csrf } };
    unlisten ??= sessions.onEnd((ended) => known.delete(ended));
    if (known.size >= MAX_REMEMBERED) known.delete(known.keys().next().value!);
    known.set(id, { holder, principal });
    return principal;
  };

  return {
    tokenOf(request) {
      const { headers } = request;
      if (!headers.has('cookie') || headers.has('authorization')) return undefined;
      // A browser that tells where a request comes from is believed; a page at another port is another page.
      const site = headers.get('sec-fetch-site');
      if (site !== null && site !== 'same-origin' && site !== 'none') return undefined;
      return readCookie(request, nameFor(request));
    },

    async principalOf(token, holderOf) {
      const session = await sessions.find(token);
      if (!session) return undefined;
      const holder = holderOf(session);
      // What let them in is gone, and does not come back with the same key.
      if (!holder) await sessions.end(token);
      return holder && remember(session, csrfOf(token), holder);
    },

    isLive: ({ session }) => session === undefined || sessions.isLive(session.id),
    onEnd: (listener) => sessions.onEnd(listener),

    async open({ name, scopes, servers, credential, until }, by, request) {
      const before = readCookie(request, nameFor(request));
      if (before !== undefined) await sessions.end(before);
      const token = await sessions.open({
        by,
        principal: name,
        scopes: [...scopes],
        ...(servers && { servers: [...servers] }),
        ...(credential !== undefined && { credential }),
        ...(until !== undefined && { until }),
      });
      const cookie = writeCookie(nameFor(request), token, {
        isSecure: isSecure(request),
        maxAgeSeconds: SESSION_LIFETIME_MS / 1000,
      });
      return { token, cookie };
    },

    async end(request) {
      const token = readCookie(request, nameFor(request));
      if (token !== undefined) await sessions.end(token);
      return writeCookie(nameFor(request), '', { isSecure: isSecure(request), maxAgeSeconds: 0 });
    },
  };
}
