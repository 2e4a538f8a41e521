import {
  OAuthError,
  registerClient,
  type FetchLike,
  type OAuthClientInformationMixed,
} from '@modelcontextprotocol/client';
import { shellWord } from '../../kernel/remedy.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { oneLine, printable } from '../../kernel/text.js';
import type { AuthConfig } from '../../model/config.js';
import type { Site } from './discovery.js';
import { signInFailed, type EndpointScope } from './endpoint.js';
import type { Grant, OauthClient } from './grants.js';

/** What every step of a sign-in needs. */
export interface FlowDeps {
  readonly scope: EndpointScope;
  readonly auth: AuthConfig;
  readonly fetchFn: FetchLike;
  readonly now: () => number;
  readonly mask: (text: string) => string;
}

/** `invalid_grant` and its like mean that what we hold is void; the rest may be a bad moment. */
const VOID = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client', 'invalid_scope', 'invalid_target']);

/** Whether an authorization server said that what it granted holds no more. */
export function isVoid(thrown: unknown): boolean {
  const cause = thrown instanceof ToolscoutError ? thrown.cause : thrown;
  return cause instanceof OAuthError && VOID.has(cause.code);
}

/** A failure at an authorization server, in words; nothing of what it answered but its code and description. */
export function explainFailure(thrown: unknown, deps: FlowDeps, doing: string): ToolscoutError {
  if (thrown instanceof ToolscoutError) return thrown;
  const { server } = deps.scope;
  // An answer that is no OAuth error is repeated whole in the message, and may hold anything.
  const isReadable = thrown instanceof OAuthError && !thrown.message.includes('Raw body');
  const said = isReadable ? `${thrown.code}: ${thrown.message}` : 'its answer cannot be understood';
  const shown = oneLine(printable(deps.mask(said)), 200);
  return signInFailed(server, `The authorization server of "${server}" refused ${doing} (${shown}).`, {
    cause: thrown,
  });
}

/** A client as the SDK takes it. */
export function informationOf(client: OauthClient): OAuthClientInformationMixed {
  return {
    client_id: client.id,
    ...(client.secret !== undefined && { client_secret: client.secret }),
    ...(client.method !== undefined && { token_endpoint_auth_method: client.method }),
  };
}

/** A public client where that is possible, else whichever proof the authorization server takes. */
function authMethodFor(site: Site): string {
  const supported = site.metadata.token_endpoint_auth_methods_supported;
  const known = ['none', 'client_secret_basic', 'client_secret_post'];
  return known.find((method) => supported === undefined || supported.includes(method)) ?? 'none';
}

async function register(
  site: Site,
  redirectUri: string,
  scope: string | undefined,
  deps: FlowDeps,
): Promise<OauthClient> {
  const { server } = deps.scope;
  if (site.metadata.registration_endpoint === undefined) {
    throw new ToolscoutError(
      'AUTHENTICATION_FAILED',
      `The authorization server of "${server}" (${site.issuer}) does not support dynamic client registration.`,
      {
        remedy: {
          kind: 'configure',
          what: `Register a client there and write its id as servers.${server}.auth.clientId in the config.`,
        },
        delivered: false,
      },
    );
  }
  try {
    const registered = await registerClient(site.issuer, {
      metadata: site.metadata,
      clientMetadata: {
        client_name: 'toolscout',
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: authMethodFor(site),
        application_type: 'native',
      },
      ...(scope !== undefined && { scope }),
      fetchFn: deps.fetchFn,
    });
    const expires = registered.client_secret_expires_at ?? 0;
    return {
      id: registered.client_id,
      secret: registered.client_secret,
      method: registered.token_endpoint_auth_method,
      redirectUri,
      origin: 'registered',
      ...(expires > 0 && { secretExpiresAt: expires * 1000 }),
    };
  } catch (thrown) {
    throw explainFailure(thrown, deps, 'to register toolscout');
  }
}

/** Who toolscout is there: configured by hand, described by a document, known from before, or newly registered (S16). */
export async function chooseClient(
  site: Site,
  redirectUri: string | undefined,
  scope: string | undefined,
  previous: Grant | undefined,
  deps: FlowDeps,
): Promise<OauthClient> {
  const { auth } = deps;
  const { server } = deps.scope;
  if (auth.clientId !== undefined) {
    // Otherwise a server could send the secret to whomever it likes by naming another authorization server.
    if (auth.clientSecret !== undefined && auth.issuer === undefined && previous && previous.issuer !== site.issuer) {
      throw new ToolscoutError(
        'AUTHENTICATION_FAILED',
        `"${server}" now names another authorization server (${oneLine(printable(site.issuer), 100)}); the client secret was not sent there.`,
        {
          remedy: {
            kind: 'configure',
            what: `Check the new authorization server. To accept it, run toolscout auth logout ${shellWord(server)}, then toolscout auth login ${shellWord(server)}.`,
          },
          delivered: false,
        },
      );
    }
    return { id: auth.clientId, secret: auth.clientSecret, redirectUri, origin: 'configured' };
  }
  if (auth.clientMetadataUrl !== undefined && site.metadata.client_id_metadata_document_supported === true) {
    return { id: auth.clientMetadataUrl, redirectUri, origin: 'document' };
  }
  if (redirectUri === undefined)
    throw signInFailed(server, `"${server}" needs a client id to sign in.`, {
      remedy: { kind: 'configure', what: `Set servers.${server}.auth.clientId.` },
    });
  const known =
    previous?.issuer === site.issuer && previous.client.origin === 'registered' ? previous.client : undefined;
  const holds = known?.redirectUri === redirectUri && (known.secretExpiresAt ?? Infinity) > deps.now();
  return known && holds ? known : register(site, redirectUri, scope, deps);
}
