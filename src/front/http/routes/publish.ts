import * as z from 'zod';
import { ToolscoutError } from '../../../kernel/errors.js';
import type { JsonObject } from '../../../kernel/json.js';
import type { HttpAuth } from '../../../model/config.js';
import { SCOPES } from '../../../model/principal.js';
import { RESOURCE_METADATA } from '../auth/auth.js';
import { PROBLEM_TYPE } from '../dispatch/problem.js';
import { route, type Route, type RouteInput } from '../route.js';
import { AnyObject, Problem } from '../openapi/schemas.js';

/** The content types of a catalog and of a server card. */
const CATALOG = 'application/ai-catalog+json';
const CARD = 'application/mcp-server-card+json';

const CARD_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json';
const DESCRIPTION = 'Finds the right tool among many MCP servers and runs it through one guarded door.';
const NAME = 'io.github.toolscout/toolscout';
const PROTOCOLS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'];

/** Where a server card is looked for: beside the endpoint, and at places of earlier drafts. */
const CARD_PLACES = [
  ['serverCard', '/mcp/server-card'],
  ['serverCardJson', '/.well-known/mcp/server-card.json'],
  ['serverCardBare', '/.well-known/mcp/server-card'],
  ['serverCardOld', '/.well-known/mcp-server-card.json'],
] as const;

/** What is said of this toolscout. */
export interface PublishOptions {
  readonly version: string;
  readonly baseUrl: (request: Request) => string;
  readonly auth: () => HttpAuth | undefined;
}

/** Whether a resource is the one at an address, or holds it. */
function covers(resource: string, url: string): boolean {
  return `${url}/`.startsWith(`${resource.replace(/\/+$/, '')}/`);
}

/**
 * The resource that a client of an address asks a token for: an audience that is accepted, the nearest that covers the
 * address where there is one, because clients refuse any other.
 */
function resourceFor(url: string, { oauth }: HttpAuth): string {
  const audiences = [oauth?.audience ?? []].flat().filter((audience) => /^https?:\/\//.test(audience));
  const [nearest] = audiences.filter((each) => covers(each, url)).toSorted((a, b) => b.length - a.length);
  return nearest ?? audiences[0] ?? url;
}

/** Toolscout describes itself where others look for it (REG-8), and how to get in (S9). */
export function publishRoutes({ version, baseUrl, auth }: PublishOptions): Route[] {
  const card = (request: Request): JsonObject => ({
    $schema: CARD_SCHEMA,
    name: NAME,
    title: 'toolscout',
    version,
    description: DESCRIPTION,
    remotes: [{ type: 'streamable-http', url: `${baseUrl(request)}/mcp`, supportedProtocolVersions: PROTOCOLS }],
  });
  const loose = (request: Request): JsonObject => ({
    name: 'toolscout',
    version,
    description: DESCRIPTION,
    capabilities: ['tools.call', 'tools.list'],
    transport: { type: 'streamable-http', url: `${baseUrl(request)}/mcp` },
  });
  const document = (
    id: string,
    path: string,
    type: string,
    summary: string,
    make: (request: Request) => JsonObject,
  ): Route =>
    route({
      id,
      group: 'publish',
      method: 'GET',
      path,
      summary,
      cors: true,
      responses: { 200: { description: 'The document.', content: { [type]: AnyObject } } },
      handle: ({ request, reply }) => reply(make(request), { type }),
    });
  const describeResource = (
    { request, reply }: Pick<RouteInput<never, never, never>, 'request' | 'reply'>,
    of: string,
  ): Response => {
    const held = auth();
    if (held === undefined)
      throw new ToolscoutError('NOT_FOUND', 'OAuth is not configured on this server.', {
        remedy: { kind: 'configure', what: 'Configure http.auth.' },
      });
    const { oauth } = held;
    return reply({
      resource: resourceFor(`${baseUrl(request)}${of}`, held),
      resource_name: 'toolscout',
      ...(oauth ? { authorization_servers: [oauth.issuer] } : {}),
      bearer_methods_supported: ['header'],
      scopes_supported: SCOPES.map((scope) => `${oauth?.scopePrefix ?? ''}${scope}`),
    });
  };
  const resource = {
    group: 'publish',
    method: 'GET',
    summary: 'How to get in (RFC 9728)',
    cors: true,
    responses: {
      200: { description: 'Who gives tokens, and for what.', content: { 'application/json': AnyObject } },
      404: { description: 'The config has no `http.auth`.', content: { [PROBLEM_TYPE]: Problem } },
    },
  } as const;

  return [
    document('aiCatalog', '/.well-known/ai-catalog.json', CATALOG, 'Where the server card is', (request) => ({
      specVersion: '1.0',
      entries: [
        {
          identifier: `urn:air:${new URL(baseUrl(request)).hostname}:mcp:toolscout`,
          type: CARD,
          url: `${baseUrl(request)}/mcp/server-card`,
        },
      ],
    })),
    ...CARD_PLACES.map(([id, path]) => document(id, path, CARD, 'What this server is', card)),
    document('wellKnown', '/.well-known/mcp', 'application/json', 'What this server is, in short', loose),
    document('wellKnownJson', '/.well-known/mcp.json', 'application/json', 'What this server is, in short', loose),
    route({
      ...resource,
      id: 'protectedResource',
      path: RESOURCE_METADATA,
      handle: (input) => describeResource(input, '/mcp'),
    }),
    route({
      ...resource,
      id: 'protectedResourceMcp',
      path: `${RESOURCE_METADATA}/mcp`,
      handle: (input) => describeResource(input, '/mcp'),
    }),
    route({
      ...resource,
      id: 'protectedResourceServer',
      path: `${RESOURCE_METADATA}/servers/{server}/mcp`,
      params: z.object({ server: z.string().max(500) }),
      handle: (input) => describeResource(input, `/servers/${encodeURIComponent(input.params.server)}/mcp`),
    }),
  ];
}
