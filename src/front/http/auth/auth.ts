import { timingSafeEqual } from 'node:crypto';
import type { Gateway, Session } from '../../../gateway/index.js';
import type { Clock } from '../../../kernel/clock.js';
import { ToolscoutError } from '../../../kernel/errors.js';
import { sha256 } from '../../../kernel/hash.js';
import type { Log } from '../../../kernel/log.js';
import type { HttpAuth } from '../../../model/config.js';
import { LOCAL, type Principal, type Scope } from '../../../model/principal.js';
import { localAdministrator, type BrowserSessions } from './browser-sessions.js';
import type { Received, RequestHead } from '../../../net/http-message.js';
import { createTokenReader, type FetchDocument, type TokenReader } from './token.js';

/** Where the document about this resource is (RFC 9728). */
export const RESOURCE_METADATA = '/.well-known/oauth-protected-resource';

/** Finds out who sends a request. */
export interface Authenticator {
  /**
   * Who sends a request: by its key or token, or, where `cookie` says so, by the session of its browser.
   *
   * @throws ToolscoutError `UNAUTHENTICATED`
   */
  authenticate(request: Received, options?: { readonly cookie?: boolean }): Principal | Promise<Principal>;
  /** Whether a principal that was authenticated before would still be, with the same rights: keys are revoked. */
  admits(principal: Principal): boolean;
  /** `WWW-Authenticate` for a caller that is not authenticated, or that lacks a scope (S9, S10). */
  challenge(request: RequestHead, scope?: Scope): string;
}

/** Authentication by the config: it also knows keys and tokens that do not come with a request. */
export interface ConfiguredAuthenticator extends Authenticator {
  /** The holder of a key of the config. */
  holderOf(key: string): Principal | undefined;
  /** Who a token of the issuer stands for; `undefined` where the config names no issuer. */
  readToken(token: string): Promise<Principal> | undefined;
  /** Whose browser the token of a session belongs to; `undefined` when that has ended. */
  bySession(token: string): Promise<Principal | undefined>;
}

/** What authentication is made of. */
export interface AuthenticatorDeps {
  /** In force now: keys change with the config. */
  readonly auth: () => HttpAuth | undefined;
  /** Other machines can reach this: without authentication in the config every request is refused. */
  readonly required: boolean;
  readonly baseUrl: (request: RequestHead) => string;
  readonly clock: Clock;
  readonly log: Log;
  /** Asks the issuer of tokens for a document, guarded and bounded. */
  readonly fetchDocument: FetchDocument;
  /** The sessions of browsers; without them no cookie opens anything. */
  readonly sessions?: BrowserSessions;
}

interface KnownKey {
  readonly digest: Buffer;
  readonly principal: Principal;
}

/** The endpoint of one server is a resource of its own to clients, which believe no document about another. */
const ONE_SERVER = /^\/servers\/[^/]{1,500}\/mcp$/;
const BEARER = /^Bearer +([\w.~+/=-]{1,16384})$/i;

function keysOf({ keys }: HttpAuth): KnownKey[] {
  return keys.flatMap(({ name, hash, scopes, servers }) =>
    hash === undefined
      ? []
      : [
          {
            digest: Buffer.from(hash, 'hex'),
            principal: {
              name,
              scopes: new Set(scopes),
              ...(servers ? { servers: new Set(servers) } : {}),
              credential: `key:${hash}`,
            },
          },
        ],
  );
}

/** A principal as text: the same for the same rights by the same credential, whenever it was let in. */
export function identityOf({ name, scopes, servers, credential }: Principal): string {
  return JSON.stringify([name, [...scopes].toSorted(), servers ? [...servers].toSorted() : null, credential ?? null]);
}

/** The holder of a key. Every key is compared, and always hash with hash, so that time tells nothing (A7). */
function holderOf(token: string, keys: readonly KnownKey[]): Principal | undefined {
  const digest = Buffer.from(sha256(token), 'hex');
  let holder: Principal | undefined;
  for (const key of keys) if (timingSafeEqual(key.digest, digest)) holder = key.principal;
  return holder;
}

const unauthenticated = (message: string): ToolscoutError => new ToolscoutError('UNAUTHENTICATED', message);

/** The refusal of a caller whose key was revoked after it was authenticated. */
export function keyGone(): ToolscoutError {
  return unauthenticated('This API key has been revoked.');
}

/** The keys and the issuer that the config in force names. */
export function authOf(gateway: Gateway): () => HttpAuth | undefined {
  return () => gateway.internal.loaded().config.http.auth;
}

/** Asks for a key or a token as soon as the config has any; without them every caller on a loopback address is the user of this machine. */
export function createAuthenticator(deps: AuthenticatorDeps): ConfiguredAuthenticator {
  const administrator = localAdministrator();
  let known: { readonly auth: HttpAuth; readonly keys: KnownKey[]; readonly tokens?: TokenReader } | undefined;

  const current = (auth: HttpAuth): NonNullable<typeof known> => {
    if (known?.auth === auth) return known;
    const isSameIssuer = JSON.stringify(known?.auth.oauth) === JSON.stringify(auth.oauth);
    const tokens = isSameIssuer ? known?.tokens : undefined;
    known = { auth, keys: keysOf(auth), tokens: tokens ?? (auth.oauth && createTokenReader(auth.oauth, deps)) };
    return known;
  };

  /** The owner of a session by the config in force; `undefined` when their key or issuer is gone, or has other rights now. */
  const ownerOf = (session: Session): Principal | undefined => {
    if (session.by === 'code') return administrator;
    const auth = deps.auth();
    if (auth === undefined) return undefined;
    const { keys, tokens } = current(auth);
    const { principal: name, scopes, servers, credential, until } = session;
    const owner: Principal = {
      name,
      scopes: new Set(scopes),
      ...(servers && { servers: new Set(servers) }),
      credential,
    };
    if (session.by === 'oauth') return credential === tokens?.credential ? { ...owner, until } : undefined;
    const identity = identityOf(owner);
    return keys.find((key) => identityOf(key.principal) === identity)?.principal;
  };

  const bySession = async (token: string): Promise<Principal | undefined> => deps.sessions?.principalOf(token, ownerOf);

  const byKey = (request: RequestHead): Principal | Promise<Principal> => {
    const auth = deps.auth();
    if (auth === undefined) {
      if (!deps.required) return LOCAL;
      throw new ToolscoutError('UNAUTHENTICATED', 'Authentication is required, but http.auth is not configured.', {
        suggestion: 'The operator must configure http.auth, or listen on this machine only.',
      });
    }
    if (request.url.includes('?') && new URL(request.url).searchParams.has('access_token')) {
      throw unauthenticated('A token in the URL (access_token) is not accepted, because URLs are written to logs.');
    }
    const token = BEARER.exec(request.headers.get('authorization') ?? '')?.[1];
    if (token === undefined) throw unauthenticated('Missing credentials: this address needs an API key or a token.');
    const { keys, tokens } = current(auth);
    const holder = holderOf(token, keys);
    if (holder) return holder;
    if (tokens?.looksLikeToken(token)) return tokens.read(token);
    throw unauthenticated('Invalid API key.');
  };

  return {
    holderOf(key) {
      const auth = deps.auth();
      return auth && holderOf(key, current(auth).keys);
    },

    readToken(token) {
      const auth = deps.auth();
      return auth && current(auth).tokens?.read(token);
    },

    admits(principal) {
      if (deps.sessions?.isLive(principal) === false) return false;
      const auth = deps.auth();
      if (principal.session && principal.credential === undefined) return !deps.required || auth !== undefined;
      if (auth === undefined) return principal === LOCAL && !deps.required;
      const { keys, tokens } = current(auth);
      if (tokens !== undefined && principal.credential === tokens.credential) return true;
      // Most who ask were let in by the very config that is in force.
      if (keys.some((key) => key.principal === principal)) return true;
      const identity = identityOf(principal);
      return keys.some((key) => identityOf(key.principal) === identity);
    },

    bySession,

    authenticate(request, { cookie = false } = {}) {
      const session = cookie ? deps.sessions?.tokenOf(request) : undefined;
      if (session === undefined) return byKey(request);
      return bySession(session).then((owner) => owner ?? byKey(request));
    },

    challenge(request, scope) {
      const { pathname } = new URL(request.url);
      const place = ONE_SERVER.test(pathname) ? `${RESOURCE_METADATA}${pathname}` : RESOURCE_METADATA;
      const parts = [`resource_metadata="${deps.baseUrl(request)}${place}"`];
      if (scope !== undefined) parts.unshift('error="insufficient_scope"', `scope="${scope}"`);
      else if (request.headers.has('authorization')) parts.unshift('error="invalid_token"');
      return `Bearer ${parts.join(', ')}`;
    },
  };
}
