import {
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  resourceUrlFromServerUrl,
  type AuthorizationServerMetadata,
  type FetchLike,
} from '@modelcontextprotocol/client';
import * as z from 'zod';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import type { Remedy } from '../../kernel/remedy.js';
import { oneLine, printable } from '../../kernel/text.js';
import type { AuthConfig } from '../../model/config.js';
import { checkEndpoint, checkPage, REPORT_TO_OPERATOR, signInFailed, type EndpointScope } from './endpoint.js';

/** Where one signs in to a server, and for what. */
export interface Site {
  /** Exactly as the authorization server writes it. */
  readonly issuer: string;
  readonly metadata: AuthorizationServerMetadata;
  /** Byte for byte what the server calls itself; its URL where it does not say. */
  readonly resource: string;
  /** Whether the server names its resource: only then is it sent along. */
  readonly isResourceNamed: boolean;
  /** The scopes that the server supports, as one scope string. */
  readonly scope?: string;
}

/** What a rejected request says about where to sign in. */
export interface Challenge {
  readonly resourceMetadataUrl?: string;
  readonly scope?: string;
}

const ResourceMetadata = z.looseObject({
  resource: z.string().min(1),
  authorization_servers: z.array(z.string().min(1)).optional(),
  scopes_supported: z.array(z.string()).optional(),
});
type ResourceMetadata = z.infer<typeof ResourceMetadata>;

/** The well-known addresses of RFC 9728: with the path of the server, then without. */
function wellKnownAddresses(serverUrl: string): URL[] {
  const { origin, pathname, search } = new URL(serverUrl);
  const path = pathname.replace(/\/$/, '');
  const root = '/.well-known/oauth-protected-resource';
  return [...new Set([`${origin}${root}${path}${search}`, `${origin}${root}`])].map((url) => new URL(url));
}

async function readResourceMetadata(
  scope: EndpointScope,
  challenge: Challenge,
  fetchFn: FetchLike,
): Promise<ResourceMetadata | undefined> {
  const { resourceMetadataUrl: named } = challenge;
  const addresses =
    named === undefined ? wellKnownAddresses(scope.url) : [checkEndpoint(named, 'resource_metadata', scope)];
  for (const address of addresses) {
    const response = await fetchFn(address, { headers: { accept: 'application/json' } });
    if (!response.ok) continue;
    const parsed = ResourceMetadata.safeParse(await response.json().catch(() => undefined));
    if (parsed.success) return parsed.data;
    // Another kind of document at a guessed address is ignored; at a named one it is an error.
    if (named !== undefined) break;
  }
  if (named === undefined) return undefined;
  throw signInFailed(
    scope.server,
    `"${scope.server}" does not say where to sign in: ${named} is not protected resource metadata.`,
    { remedy: REPORT_TO_OPERATOR },
  );
}

function checkResource(metadata: ResourceMetadata, scope: EndpointScope): void {
  const configuredResource = metadata.resource;
  const requestedResource = resourceUrlFromServerUrl(scope.url);
  if (URL.canParse(configuredResource) && checkResourceAllowed({ requestedResource, configuredResource })) return;
  const shown = oneLine(printable(configuredResource), 100);
  throw signInFailed(
    scope.server,
    `The sign-in of "${scope.server}" is refused: it describes another resource (${JSON.stringify(shown)}).`,
    { remedy: REPORT_TO_OPERATOR },
  );
}

function correctIssuer({ server }: EndpointScope): Remedy {
  return { kind: 'configure', what: `Correct servers.${server}.auth.issuer, or remove it.` };
}

/** Which authorization server is asked: the first that is named, or the one the config accepts. */
function chooseServer(named: readonly string[] | undefined, scope: EndpointScope, auth: AuthConfig): string {
  const all = named && named.length > 0 ? named : [String(new URL('/', scope.url))];
  if (auth.issuer === undefined) return all[0]!;
  const wanted = all.find((each) => each === auth.issuer || each === `${auth.issuer}/`);
  if (wanted !== undefined) return wanted;
  throw signInFailed(
    scope.server,
    `"${scope.server}" does not name the authorization server of its config (auth.issuer).`,
    { remedy: correctIssuer(scope) },
  );
}

function checkMetadata(metadata: AuthorizationServerMetadata, scope: EndpointScope, auth: AuthConfig): void {
  const refuse = (reason: string, remedy: Remedy): never => {
    throw signInFailed(
      scope.server,
      `The sign-in of "${scope.server}" is refused: its authorization server ${reason}.`,
      { remedy },
    );
  };
  if (auth.issuer !== undefined && metadata.issuer !== auth.issuer)
    refuse('is not the one of the config (auth.issuer)', correctIssuer(scope));
  const named: Readonly<Record<string, unknown>> = metadata;
  for (const name of ['token_endpoint', 'registration_endpoint', 'revocation_endpoint']) {
    if (named[name] !== undefined) checkEndpoint(named[name], name, scope);
  }
  if (auth.type === 'client-credentials') return;
  const page = checkEndpoint(metadata.authorization_endpoint, 'authorization_endpoint', scope);
  // What the user wrote down may send them anywhere.
  if (auth.issuer === undefined) checkPage(page, scope);
  if (metadata.code_challenge_methods_supported?.includes('S256') !== true)
    refuse('does not say that it supports PKCE (S256)', REPORT_TO_OPERATOR);
}

/** Finds out where one signs in to a server, and refuses what must not be used (S13, S17). */
export async function discoverSite(
  scope: EndpointScope,
  auth: AuthConfig,
  challenge: Challenge,
  fetchFn: FetchLike,
): Promise<Site> {
  checkEndpoint(scope.url, 'url', scope);
  const described = await readResourceMetadata(scope, challenge, fetchFn);
  if (described) checkResource(described, scope);
  const address = chooseServer(described?.authorization_servers, scope, auth);
  checkEndpoint(address, 'authorization server', scope);
  let metadata: AuthorizationServerMetadata | undefined;
  try {
    metadata = await discoverAuthorizationServerMetadata(address, { fetchFn });
  } catch (thrown) {
    if (thrown instanceof ToolscoutError) throw thrown;
    const why = oneLine(printable(messageOf(thrown)), 200);
    throw signInFailed(scope.server, `The authorization server of "${scope.server}" cannot be used: ${why}`, {
      remedy: REPORT_TO_OPERATOR,
      cause: thrown,
    });
  }
  if (!metadata) {
    throw signInFailed(
      scope.server,
      `"${scope.server}" offers no sign-in: ${new URL(address).origin} has no authorization server metadata.`,
      {
        remedy: {
          kind: 'configure',
          what: `Configure a token under servers.${scope.server}.headers, or report it to the operator of the server.`,
        },
      },
    );
  }
  checkMetadata(metadata, scope, auth);
  const scopes = described?.scopes_supported;
  return {
    issuer: metadata.issuer,
    metadata,
    resource: described?.resource ?? resourceUrlFromServerUrl(scope.url).href,
    isResourceNamed: described !== undefined,
    ...(scopes && scopes.length > 0 && { scope: scopes.join(' ') }),
  };
}
