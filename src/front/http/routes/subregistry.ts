import * as z from 'zod';
import type { Gateway, ServerView } from '../../../gateway/index.js';
import { ToolscoutError } from '../../../kernel/errors.js';
import type { JsonObject } from '../../../kernel/json.js';
import { oneLine, printable } from '../../../kernel/text.js';
import { wholeNumber } from '../dispatch/input.js';
import { PROBLEM_TYPE } from '../dispatch/problem.js';
import { route, type Route } from '../route.js';
import { Problem, RegistryEntry, RegistryPage } from '../openapi/schemas.js';
import { registryOf } from './registry.js';

/** What stands before the id of a server: registries want a name in reverse-DNS form. */
const NAMESPACE = 'local.toolscout';
const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';
const OFFICIAL_META = 'io.modelcontextprotocol.registry/official';
const MOST = 100;
const USUAL = 30;
const MAX_DESCRIPTION = 100;
/** What a server.json allows. */
const MAX_VERSION = 255;

/** A server that has not said its version yet. */
const NO_VERSION = '0.0.0';

interface Published {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly updatedAt: number;
  readonly entry: JsonObject;
}

async function versionsOf(gateway: Gateway): Promise<ReadonlyMap<string, string>> {
  const registry = await registryOf(gateway);
  try {
    const { items } = registry.snapshot();
    return new Map(items.map(({ id, version }) => [id, version ?? NO_VERSION]));
  } catch (thrown) {
    // Nothing was checked yet; what is approved is listed all the same.
    if (thrown instanceof ToolscoutError) return new Map();
    throw thrown;
  }
}

/** One server as a registry describes it. It is reached through toolscout, so nothing of how it is started is told. */
function publish(view: ServerView, version: string, base: string): Published {
  const name = `${NAMESPACE}/${view.id}`;
  const at = view.learnedAt ?? 0;
  const date = new Date(at).toISOString();
  const what = view.title ?? view.id;
  return {
    name,
    title: what,
    version,
    updatedAt: at,
    entry: {
      server: {
        $schema: SCHEMA,
        name,
        title: oneLine(what, MAX_DESCRIPTION),
        description: oneLine(`${what}, with ${view.tools} tools, through toolscout`, MAX_DESCRIPTION),
        version,
        remotes: [{ type: 'streamable-http', url: `${base}/servers/${encodeURIComponent(view.id)}/mcp` }],
      },
      _meta: { [OFFICIAL_META]: { status: 'active', publishedAt: date, updatedAt: date, isLatest: true } },
    },
  };
}

/** The read routes of the official registry, over the servers that are approved here (REG-8). */
export function subregistryRoutes({ baseUrl }: { readonly baseUrl: (request: Request) => string }): Route[] {
  const published = async (gateway: Gateway, request: Request): Promise<Published[]> => {
    const [views, versions] = await Promise.all([gateway.servers.list(), versionsOf(gateway)]);
    const base = baseUrl(request);
    return views
      .filter(({ knowledge }) => knowledge !== 'off')
      .map((view) => publish(view, versions.get(view.id) ?? NO_VERSION, base))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  };
  const find = async (gateway: Gateway, request: Request, name: string): Promise<Published> => {
    const found = (await published(gateway, request)).find((each) => each.name === name);
    if (found) return found;
    throw new ToolscoutError('NOT_FOUND', `There is no server "${oneLine(printable(name), 100)}".`, {
      suggestion: 'GET /v0.1/servers lists the servers.',
    });
  };
  const missing: Route['responses'][string] = {
    description: 'There is no such server or version.',
    content: { [PROBLEM_TYPE]: Problem },
  };
  const common = { group: 'publish', method: 'GET', scope: 'read', cors: true } as const;
  const page = (found: readonly Published[], nextCursor?: string): JsonObject => ({
    servers: found.map(({ entry }) => entry),
    metadata: { count: found.length, ...(nextCursor === undefined ? {} : { nextCursor }) },
  });

  return [
    route({
      ...common,
      id: 'listPublished',
      path: '/v0.1/servers',
      summary: 'The approved servers, as the official registry lists servers',
      query: z.object({
        cursor: z.string().max(600).optional(),
        limit: wholeNumber(1, MOST).optional(),
        search: z.string().max(200).meta({ description: 'Part of the name or the title.' }).optional(),
        updated_since: z.iso.datetime({ offset: true }).meta({ description: 'RFC 3339.' }).optional(),
        version: z.string().max(MAX_VERSION).meta({ description: '`latest`, or one version.' }).optional(),
      }),
      responses: {
        200: { description: 'A page of servers.', content: { 'application/json': RegistryPage } },
        404: { ...missing, description: 'The registry is switched off.' },
      },
      async handle({ gateway, request, query, reply }) {
        const { cursor, limit = USUAL, search = '', updated_since: since, version = 'latest' } = query;
        const wanted = search.toLowerCase();
        const rest = (await published(gateway, request)).filter(
          (each) =>
            (cursor === undefined || each.name > cursor) &&
            [each.name, each.title].some((text) => text.toLowerCase().includes(wanted)) &&
            (since === undefined || each.updatedAt >= Date.parse(since)) &&
            (version === 'latest' || each.version === version),
        );
        const shown = rest.slice(0, limit);
        return reply(page(shown, rest.length > limit ? shown.at(-1)?.name : undefined));
      },
    }),
    route({
      ...common,
      id: 'listPublishedVersions',
      path: '/v0.1/servers/{name}/versions',
      summary: 'The versions of one server',
      params: z.object({ name: z.string().max(600) }),
      responses: {
        200: { description: 'The one version there is.', content: { 'application/json': RegistryPage } },
        404: missing,
      },
      handle: async ({ gateway, request, params, reply }) => reply(page([await find(gateway, request, params.name)])),
    }),
    route({
      ...common,
      id: 'showPublished',
      path: '/v0.1/servers/{name}/versions/{version}',
      summary: 'One version of one server; `latest` is the newest',
      params: z.object({ name: z.string().max(600), version: z.string().max(MAX_VERSION) }),
      responses: {
        200: { description: 'The server.', content: { 'application/json': RegistryEntry } },
        404: missing,
      },
      async handle({ gateway, request, params, reply }) {
        const found = await find(gateway, request, params.name);
        if (params.version !== 'latest' && params.version !== found.version) {
          throw new ToolscoutError(
            'NOT_FOUND',
            `Server "${found.name}" has no version "${oneLine(printable(params.version), 100)}".`,
            {
              suggestion: `Available: ${found.version}, latest.`,
            },
          );
        }
        return reply(found.entry);
      },
    }),
  ];
}
