import { createHash, randomBytes } from 'node:crypto';
import type { InternalVerbs } from '../../../gateway/index.js';
import { messageOf, ToolscoutError } from '../../../kernel/errors.js';
import { sha256 } from '../../../kernel/hash.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import type { Log } from '../../../kernel/log.js';
import type { HttpAuth } from '../../../model/config.js';
import { SCOPES, type Principal } from '../../../model/principal.js';
import { cookieName, readCookie, writeCookie } from './cookies.js';
import { readIssuer, type FetchDocument } from './token.js';

/** Sends a form to an address of the issuer; the answer is its JSON, or `undefined` when there is none. */
export type PostForm = (url: string, form: URLSearchParams) => Promise<unknown>;

/** What signing in at the identity provider needs. */
export interface PersonSignInDeps {
  readonly auth: () => HttpAuth | undefined;
  /** Seals what a browser carries until it comes back. */
  readonly states: Pick<InternalVerbs, 'sealState' | 'openState'>;
  readonly baseUrl: (request: Request) => string;
  readonly fetchDocument: FetchDocument;
  readonly postForm: PostForm;
  readonly readToken: (token: string) => Promise<Principal> | undefined;
  readonly log: Log;
}

/** People sign in at the identity provider that `http.auth.oauth` names: authorization code with PKCE (STUDIO-6). */
export interface PersonSignIn {
  /** Whether the config in force offers it. */
  isOffered(): boolean;
  /** Where the browser is to go, and the cookie by which it is known when it comes back. */
  start(request: Request): Promise<{ readonly url: string; readonly cookie: string }>;
  /**
   * Who came back.
   *
   * @throws ToolscoutError `UNAUTHENTICATED`
   */
  finish(request: Request): Promise<Principal>;
  /** `Set-Cookie` that forgets the browser's part of a sign-in. */
  forget(request: Request): string;
}

/** Where the issuer sends the browser back to. */
export const CALLBACK_PATH = '/v1/session/oauth/callback';

/** How long a person may take at the identity provider; a sealed state lasts as long. */
const PATIENCE_MS = 600_000;

type Oauth = NonNullable<HttpAuth['oauth']>;

const secret = (): string => randomBytes(32).toString('base64url');
const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');
const refusal = (message: string): ToolscoutError => new ToolscoutError('UNAUTHENTICATED', message);

/** An address of the issuer's document; codes and tokens go over https, or stay on this machine. */
function endpointIn(metadata: JsonObject, name: string): URL {
  const value = metadata[name];
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  const isLocal = url?.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url && (url.protocol === 'https:' || isLocal)) return url;
  throw new ToolscoutError(
    'SERVER_CONNECTION_ERROR',
    `The metadata of the identity provider has no https URL as ${name}.`,
    {
      suggestion: 'Check http.auth.oauth.issuer.',
    },
  );
}

/** Signing in at the identity provider of the config. */
export function createPersonSignIn(deps: PersonSignInDeps): PersonSignIn {
  const { states, baseUrl, fetchDocument, postForm, log } = deps;
  const nameFor = (request: Request): string => cookieName('sign_in', baseUrl(request));
  const isSecure = (request: Request): boolean => baseUrl(request).startsWith('https:');

  const offered = (): Oauth & { readonly clientId: string } => {
    const oauth = deps.auth()?.oauth;
    if (oauth?.clientId === undefined) {
      throw new ToolscoutError('NOT_FOUND', 'Signing in at an identity provider is not configured.', {
        suggestion: 'Set http.auth.oauth.clientId.',
      });
    }
    return { ...oauth, clientId: oauth.clientId };
  };

  const metadataOf = async (issuer: string): Promise<JsonObject> => {
    const metadata = await readIssuer(issuer, fetchDocument);
    if (metadata) return metadata;
    throw new ToolscoutError('SERVER_CONNECTION_ERROR', 'The identity provider cannot be reached.', {
      suggestion: 'Check http.auth.oauth.issuer, or sign in with a key.',
    });
  };

  /** A sealed cookie opens for the state that it was made with, so that a forged way back does not use it up. */
  const bindingOf = (state: string): string => sha256(state);

  /**
   * What was kept when the browser left. The browser itself carries it: anyone may begin a sign-in, and what is stored for one would give way to
   * those of others (A43).
   */
  const takeKept = async (request: Request, params: URLSearchParams): Promise<JsonObject> => {
    const kept = await states.openState(
      readCookie(request, nameFor(request)),
      bindingOf(params.get('state') ?? ''),
      'sign-in',
    );
    if (!kept) throw refusal('This sign-in was started in another browser, has expired or was used already.');
    return kept;
  };

  const exchange = async (oauth: Oauth & { readonly clientId: string }, kept: JsonObject, code: string) => {
    const metadata = await metadataOf(oauth.issuer);
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: String(kept['redirectUri']),
      client_id: oauth.clientId,
      code_verifier: String(kept['verifier']),
    });
    const answer = await postForm(endpointIn(metadata, 'token_endpoint').href, form);
    const token = isObject(answer) ? answer['access_token'] : undefined;
    if (typeof token !== 'string') throw refusal('The identity provider answered without an access token.');
    return token;
  };

  return {
    isOffered: () => deps.auth()?.oauth?.clientId !== undefined,

    async start(request) {
      const oauth = offered();
      const metadata = await metadataOf(oauth.issuer);
      const url = endpointIn(metadata, 'authorization_endpoint');
      const [verifier, state] = [secret(), secret()];
      const redirectUri = `${baseUrl(request)}${CALLBACK_PATH}`;
      const requiresIssuer = metadata['authorization_response_iss_parameter_supported'] === true;
      const kept = { verifier, redirectUri, issuer: oauth.issuer, requiresIssuer };
      const sealed = await states.sealState(kept, bindingOf(state), 'sign-in');
      const audience = typeof oauth.audience === 'string' ? oauth.audience : oauth.audience[0]!;
      const params = {
        response_type: 'code',
        client_id: oauth.clientId,
        redirect_uri: redirectUri,
        scope: SCOPES.map((scope) => `${oauth.scopePrefix}${scope}`).join(' '),
        state,
        code_challenge: challengeOf(verifier),
        code_challenge_method: 'S256',
        // RFC 8707; an audience that is no address is a matter between the issuer and its administrator.
        ...(URL.canParse(audience) && { resource: audience }),
      };
      for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
      const cookie = writeCookie(nameFor(request), sealed, {
        isSecure: isSecure(request),
        maxAgeSeconds: PATIENCE_MS / 1000,
        // The identity provider leads back from another site.
        sameSite: 'Lax',
      });
      return { url: url.href, cookie };
    },

    async finish(request) {
      const params = new URL(request.url).searchParams;
      const kept = await takeKept(request, params);
      const oauth = offered();
      const issuer = params.get('iss');
      if (kept['issuer'] !== oauth.issuer || (issuer === null ? kept['requiresIssuer'] : issuer !== oauth.issuer)) {
        throw refusal('The issuer of the answer is not the identity provider of this sign-in.');
      }
      const code = params.get('code');
      if (code === null) {
        log.info('http.sign-in', { reason: params.get('error') ?? 'no code' });
        throw refusal('The identity provider refused the sign-in.');
      }
      const principal = await deps.readToken(await exchange(oauth, kept, code));
      if (!principal) throw refusal('The identity provider was removed from the config.');
      return principal;
    },

    forget: (request) =>
      writeCookie(nameFor(request), '', { isSecure: isSecure(request), maxAgeSeconds: 0, sameSite: 'Lax' }),
  };
}

/** Why a sign-in failed, as one word that the page explains. */
export function reasonOf(thrown: unknown, log: Log): 'refused' | 'unavailable' {
  if (thrown instanceof ToolscoutError && thrown.code === 'UNAUTHENTICATED') return 'refused';
  log.warn('http.sign-in', { reason: messageOf(thrown) });
  return 'unavailable';
}
