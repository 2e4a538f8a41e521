import { createHash } from 'node:crypto';
import type { JSONWebKeySet, JWTPayload, JWTVerifyGetKey } from 'jose';
import type { Clock } from '../../../kernel/clock.js';
import { messageOf, ToolscoutError } from '../../../kernel/errors.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import type { Log } from '../../../kernel/log.js';
import type { HttpAuth } from '../../../model/config.js';
import { SCOPES, type Principal, type Scope } from '../../../model/principal.js';

/** Asks an address for a JSON document; `undefined` when there is none to be had. */
export type FetchDocument = (url: string) => Promise<unknown>;

/** Reads tokens of one issuer. */
export interface TokenReader {
  /** What its tokens have in common: they are good as long as the config names this issuer in this way. */
  readonly credential: string;
  looksLikeToken(text: string): boolean;
  /** @throws ToolscoutError `UNAUTHENTICATED` */
  read(token: string): Promise<Principal>;
}

type Oauth = NonNullable<HttpAuth['oauth']>;

/** Only signatures that the issuer alone can make; neither `none` nor a shared secret. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const KEYS_GOOD_FOR_MS = 600_000;
/** A token with an unknown key makes us ask the issuer for its keys again, but not more often than this. */
const ASK_AGAIN_AFTER_MS = 30_000;
const CLOCK_TOLERANCE_SECONDS = 30;
const MAX_NAME = 200;

/** Where an issuer describes itself (RFC 8414, then OpenID Connect). */
function metadataUrls(issuer: string): string[] {
  const url = new URL(issuer);
  const path = url.pathname === '/' ? '' : url.pathname.replace(/\/$/, '');
  return [
    `${url.origin}/.well-known/oauth-authorization-server${path}`,
    `${url.origin}/.well-known/openid-configuration${path}`,
    `${url.origin}${path}/.well-known/openid-configuration`,
  ];
}

/** What an issuer says about itself; only a document that names exactly this issuer is believed. */
export async function readIssuer(issuer: string, fetchDocument: FetchDocument): Promise<JsonObject | undefined> {
  for (const url of metadataUrls(issuer)) {
    const metadata = await fetchDocument(url);
    if (isObject(metadata) && metadata['issuer'] === issuer) return metadata;
  }
  return undefined;
}

function textsIn(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ').filter(Boolean);
  return Array.isArray(claim) ? claim.filter((entry) => typeof entry === 'string') : [];
}

/** A name of bearable length; two long ones that begin alike stay two. */
function shorten(name: string): string {
  if (name.length <= MAX_NAME) return name;
  return `${name.slice(0, MAX_NAME)}#${createHash('sha256').update(name).digest('hex')}`;
}

function credentialOf(oauth: Oauth): string {
  return `tokens:${createHash('sha256').update(JSON.stringify(oauth)).digest('hex')}`;
}

function principalOf(payload: JWTPayload, oauth: Oauth, credential: string): Principal {
  const name = payload.sub ?? payload['client_id'];
  if (typeof name !== 'string' || name === '') throw new Error('it names no subject');
  const said = [...textsIn(payload['scope']), ...textsIn(payload['scp'])];
  const isScope = (text: string): text is Scope => (SCOPES as readonly string[]).includes(text);
  const scopes = said
    .filter((scope) => scope.startsWith(oauth.scopePrefix))
    .map((scope) => scope.slice(oauth.scopePrefix.length))
    .filter(isScope);
  const { serversClaim } = oauth;
  return {
    // A prefix that no key can have, so that no token can pass for a key.
    name: `oauth:${shorten(name)}`,
    scopes: new Set(scopes),
    // A token without the claim sees nothing: what was meant to narrow must not widen by being left out.
    ...(serversClaim === undefined ? {} : { servers: new Set(textsIn(payload[serversClaim])) }),
    credential,
    ...(payload.exp === undefined ? {} : { until: (payload.exp + CLOCK_TOLERANCE_SECONDS) * 1000 }),
  };
}

/** A reader of the tokens of one issuer; its keys are fetched when the first token comes, and kept for a while. */
export function createTokenReader(
  oauth: Oauth,
  deps: { readonly clock: Clock; readonly log: Log; readonly fetchDocument: FetchDocument },
): TokenReader {
  const { clock, log, fetchDocument } = deps;
  let held: { readonly keys: JWTVerifyGetKey; readonly at: number } | undefined;
  let fetching: Promise<JWTVerifyGetKey> | undefined;
  let askedAt = -Infinity;

  const findJwks = async (): Promise<string> => {
    if (oauth.jwksUri !== undefined) return oauth.jwksUri;
    const uri = (await readIssuer(oauth.issuer, fetchDocument))?.['jwks_uri'];
    if (typeof uri === 'string' && URL.canParse(uri)) return uri;
    throw new Error('the issuer does not say where its keys are');
  };

  const fetchKeys = async (): Promise<JWTVerifyGetKey> => {
    askedAt = clock.monotonic();
    const { createLocalJWKSet } = await import('jose');
    const document = await fetchDocument(await findJwks());
    if (!isObject(document) || !Array.isArray(document['keys']))
      throw new Error('the keys of the issuer cannot be had');
    const keys = createLocalJWKSet(document as unknown as JSONWebKeySet);
    held = { keys, at: clock.monotonic() };
    return keys;
  };

  const refresh = (): Promise<JWTVerifyGetKey> => {
    fetching ??= fetchKeys().finally(() => {
      fetching = undefined;
    });
    return fetching;
  };

  const currentKeys = async (): Promise<JWTVerifyGetKey> => {
    const now = clock.monotonic();
    if (held && now - held.at < KEYS_GOOD_FOR_MS) return held.keys;
    if (now - askedAt < ASK_AGAIN_AFTER_MS && !fetching) {
      if (held) return held.keys;
      throw new Error('the keys of the issuer cannot be had');
    }
    // Keys that were good a moment ago are better than none while the issuer is away.
    return refresh().catch((thrown: unknown) => {
      if (held) return held.keys;
      throw thrown;
    });
  };

  const verify = async (token: string, keys: JWTVerifyGetKey): Promise<JWTPayload> => {
    const { jwtVerify } = await import('jose');
    const { payload } = await jwtVerify(token, keys, {
      issuer: oauth.issuer,
      audience: oauth.audience,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(clock.now()),
    });
    return payload;
  };

  const isUnknownKey = (thrown: unknown): boolean =>
    (thrown as { code?: unknown } | undefined)?.code === 'ERR_JWKS_NO_MATCHING_KEY';

  const credential = credentialOf(oauth);
  return {
    credential,
    looksLikeToken: (text) => /^[\w-]+\.[\w-]+\.[\w-]*$/.test(text),
    async read(token) {
      try {
        const payload = await verify(token, await currentKeys()).catch(async (thrown: unknown) => {
          if (!isUnknownKey(thrown) || clock.monotonic() - askedAt < ASK_AGAIN_AFTER_MS) throw thrown;
          return verify(token, await refresh());
        });
        return principalOf(payload, oauth, credential);
      } catch (thrown) {
        // Why exactly is for the operator; a stranger learns only that it does not open anything.
        log.info('http.token', { reason: messageOf(thrown) });
        throw new ToolscoutError(
          'UNAUTHENTICATED',
          'Invalid token: its signature, issuer, audience or expiry time is not accepted.',
        );
      }
    },
  };
}
