import { randomBytes, timingSafeEqual } from 'node:crypto';
import {
  computeScopeUnion,
  exchangeAuthorization,
  fetchToken,
  refreshAuthorization,
  startAuthorization,
  type OAuthClientProvider,
  type OAuthTokens,
} from '@modelcontextprotocol/client';
import { messageOf } from '../../kernel/errors.js';
import { oneLine, printable } from '../../kernel/text.js';
import type { AuthConfig } from '../../model/config.js';
import { chooseClient, explainFailure, informationOf, type FlowDeps } from './client.js';
import type { Site } from './discovery.js';
import { checkEndpoint, REPORT_TO_OPERATOR, signInFailed } from './endpoint.js';
import type { Grant, OauthClient } from './grants.js';

/** What came back from the browser: the parameters of the redirect, or a code that was pasted without them. */
export interface Callback {
  readonly params: URLSearchParams;
  readonly isBareCode?: boolean;
}

/** One conversation with the person who signs in. */
export interface Interaction {
  /** Where the browser is sent back to. */
  readonly redirectUri: string;
  /** Sends the person to a page and waits for the redirect that carries `state`. */
  authorize(url: URL, state: string): Promise<Callback>;
  close(): Promise<void>;
}

/** The scopes to ask for: those of the rejection and the config, else those the server names; and to stay signed in. */
export function scopeFor(
  site: Site,
  auth: AuthConfig,
  ...wanted: ReadonlyArray<string | undefined>
): string | undefined {
  const asked = computeScopeUnion(auth.scopes?.join(' '), ...wanted) ?? site.scope;
  const mayStay = auth.type !== 'client-credentials' && site.metadata.scopes_supported?.includes('offline_access');
  return asked !== undefined && mayStay ? computeScopeUnion(asked, 'offline_access') : asked;
}

function toGrant(
  tokens: OAuthTokens,
  asked: string | undefined,
  base: Omit<Grant, 'scope' | 'accessToken' | 'refreshToken' | 'obtainedAt' | 'expiresAt' | 'wantedScope'>,
  deps: FlowDeps,
): Grant {
  if (!/^bearer$/i.test(tokens.token_type)) {
    throw signInFailed(
      deps.scope.server,
      `The authorization server of "${deps.scope.server}" returned no bearer token.`,
      { remedy: REPORT_TO_OPERATOR },
    );
  }
  const now = deps.now();
  return {
    ...base,
    // RFC 6749: the scope may be left out when it is what was asked for.
    scope: tokens.scope ?? asked,
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    obtainedAt: now,
    expiresAt: tokens.expires_in === undefined ? undefined : now + tokens.expires_in * 1000,
  };
}

function baseOf(site: Site, client: OauthClient, deps: FlowDeps): Parameters<typeof toGrant>[2] {
  const { issuer, resource, isResourceNamed } = site;
  const metadata = site.metadata as unknown as Grant['metadata'];
  const { authorization_endpoint, token_endpoint, revocation_endpoint } = metadata;
  const { response_types_supported, token_endpoint_auth_methods_supported } = metadata;
  const kept = {
    issuer,
    authorization_endpoint,
    token_endpoint,
    revocation_endpoint,
    response_types_supported,
    token_endpoint_auth_methods_supported,
  };
  return { ...deps.scope, issuer, resource, isResourceNamed, client, metadata: kept };
}

/** The lengths are compared in bytes: one character may be several. */
function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/**
 * The code of a callback. Who sent it is checked before anything else in it is read: on a mismatch
 * not even its error is shown, because an attacker wrote it (S14).
 */
export function readCallback(callback: Callback, state: string, site: Site, server: string): string {
  const { params, isBareCode } = callback;
  if (!isBareCode && !isSame(params.get('state') ?? '', state)) {
    throw signInFailed(server, `The sign-in to "${server}" was refused: the answer does not belong to this request.`);
  }
  const iss = params.getAll('iss');
  const mustName = site.metadata.authorization_response_iss_parameter_supported === true;
  if (iss.length > 1 || (iss.length === 0 ? mustName : iss[0] !== site.issuer)) {
    throw signInFailed(server, `The sign-in to "${server}" was refused: the answer does not come from ${site.issuer}.`);
  }
  const error = params.get('error');
  if (error !== null) {
    const description = params.get('error_description');
    const said = oneLine(printable(description === null ? error : `${error}: ${description}`), 200);
    throw signInFailed(server, `The authorization server of "${server}" rejected the sign-in (${said}).`);
  }
  const code = params.get('code');
  if (code === null || code === '') throw signInFailed(server, `The sign-in to "${server}" ended without a code.`);
  return code;
}

/** The sign-in of a person: authorization code with PKCE, for one resource. */
export async function signInPerson(
  site: Site,
  options: { readonly interaction: Interaction; readonly previous?: Grant; readonly wantedScope?: string },
  deps: FlowDeps,
): Promise<Grant> {
  const { interaction, previous } = options;
  const { server } = deps.scope;
  const { redirectUri } = interaction;
  const asked = scopeFor(site, deps.auth, options.wantedScope);
  const client = await chooseClient(site, redirectUri, asked, previous, deps);
  const resource = site.isResourceNamed ? { resource: site.resource } : {};
  const state = randomBytes(32).toString('base64url');
  const clientInformation = informationOf(client);
  const started = await startAuthorization(site.issuer, {
    metadata: site.metadata,
    clientInformation,
    redirectUrl: redirectUri,
    state,
    ...(asked !== undefined && { scope: asked }),
    ...resource,
  }).catch((thrown: unknown) => {
    throw signInFailed(
      server,
      `The sign-in to "${server}" cannot start: ${oneLine(printable(messageOf(thrown)), 200)}`,
      { remedy: REPORT_TO_OPERATOR },
    );
  });
  checkEndpoint(started.authorizationUrl, 'authorization_endpoint', deps.scope);
  const callback = await interaction.authorize(started.authorizationUrl, state);
  const authorizationCode = readCallback(callback, state, site, server);
  try {
    const tokens = await exchangeAuthorization(site.issuer, {
      metadata: site.metadata,
      clientInformation,
      authorizationCode,
      iss: callback.params.get('iss') ?? undefined,
      codeVerifier: started.codeVerifier,
      redirectUri,
      ...resource,
      fetchFn: deps.fetchFn,
    });
    return toGrant(tokens, asked, baseOf(site, client, deps), deps);
  } catch (thrown) {
    throw explainFailure(thrown, deps, 'the code');
  }
}

/** The sign-in of toolscout itself, with the secret of its config. */
export async function signInClient(
  site: Site,
  options: { readonly previous?: Grant; readonly wantedScope?: string },
  deps: FlowDeps,
): Promise<Grant> {
  const asked = scopeFor(site, deps.auth, options.wantedScope);
  const client = await chooseClient(site, undefined, asked, options.previous, deps);
  const provider: OAuthClientProvider = {
    redirectUrl: undefined,
    clientMetadata: { redirect_uris: [], grant_types: ['client_credentials'] },
    clientInformation: () => ({ ...informationOf(client), issuer: site.issuer }),
    prepareTokenRequest: (scope) =>
      new URLSearchParams({ grant_type: 'client_credentials', ...(scope !== undefined && { scope }) }),
    tokens: () => undefined,
    saveTokens: () => undefined,
    redirectToAuthorization: () => undefined,
    saveCodeVerifier: () => undefined,
    codeVerifier: () => '',
  };
  try {
    const tokens = await fetchToken(provider, site.issuer, {
      metadata: site.metadata,
      ...(asked !== undefined && { scope: asked }),
      ...(site.isResourceNamed && { resource: site.resource }),
      fetchFn: deps.fetchFn,
    });
    return toGrant(tokens, asked, baseOf(site, client, deps), deps);
  } catch (thrown) {
    throw explainFailure(thrown, deps, 'the client credentials');
  }
}

/** New tokens for a grant; a refresh token that is not replaced goes on serving. */
export async function renew(grant: Grant, deps: FlowDeps): Promise<Grant> {
  try {
    const tokens = await refreshAuthorization(grant.issuer, {
      metadata: grant.metadata as unknown as Site['metadata'],
      clientInformation: informationOf(grant.client),
      refreshToken: grant.refreshToken ?? '',
      ...(grant.isResourceNamed && { resource: grant.resource }),
      fetchFn: deps.fetchFn,
    });
    return { ...toGrant(tokens, grant.scope, grant, deps), wantedScope: grant.wantedScope };
  } catch (thrown) {
    throw explainFailure(thrown, deps, 'to renew the token');
  }
}

/** Revokes a grant at the authorization server; returns whether the server accepted it (RFC 7009). */
export async function revoke(grant: Grant, deps: FlowDeps): Promise<boolean> {
  const endpoint = grant.metadata.revocation_endpoint;
  const token = grant.refreshToken ?? grant.accessToken;
  if (endpoint === undefined || token === undefined) return false;
  const { id, secret, method } = grant.client;
  const hint = grant.refreshToken === undefined ? 'access_token' : 'refresh_token';
  const body = new URLSearchParams({ token, token_type_hint: hint, client_id: id });
  const headers: Record<string, string> = {};
  if (secret !== undefined && method === 'client_secret_post') body.set('client_secret', secret);
  else if (secret !== undefined) {
    body.delete('client_id');
    headers['authorization'] = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  }
  const response = await deps.fetchFn(endpoint, { method: 'POST', headers, body });
  return response.ok;
}
