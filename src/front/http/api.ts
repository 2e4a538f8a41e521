import type { Gateway } from '../../gateway/index.js';
import type { Clock } from '../../kernel/clock.js';
import type { Log } from '../../kernel/log.js';
import type { HttpAuth, ModeName } from '../../model/config.js';
import type { RequestHead } from '../../net/http-message.js';
import type { BrowserSessions } from './auth/browser-sessions.js';
import { createAsks } from './asks.js';
import { createFollow } from './follow.js';
import { openApiDocument } from './openapi/openapi.js';
import type { Route, RouteGroup } from './route.js';
import { adminRoutes } from './routes/admin.js';
import { approvalRoutes } from './routes/approvals.js';
import { pendingCallRoutes } from './routes/pending-calls.js';
import { registrationRoutes } from './routes/registrations.js';
import { configChangeRoutes } from './routes/config-changes.js';
import { callRoutes } from './routes/calls.js';
import { mcpRoutes, type McpRouteDeps } from './routes/mcp.js';
import { publishRoutes } from './routes/publish.js';
import { registryRoutes } from './routes/registry.js';
import { savedRoutes } from './routes/saved.js';
import { scriptRoutes } from './routes/scripts.js';
import { overviewRoutes } from './routes/overview.js';
import { serverActionRoutes } from './routes/server-actions.js';
import { sessionRoutes, type SessionRouteDeps } from './routes/sessions.js';
import { studioRoutes, type StudioFiles } from './routes/studio.js';
import { skillRoutes } from './routes/skills.js';
import { statusRoutes } from './routes/status.js';
import { subregistryRoutes } from './routes/subregistry.js';
import { trafficRoutes } from './routes/traffic.js';
import { toolRoutes } from './routes/tools.js';

/** What the routes are made of. */
export interface ApiOptions {
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly baseUrl: (request: RequestHead) => string;
  readonly auth: () => HttpAuth | undefined;
  readonly metrics: () => Promise<string>;
  /** What stands before every path where the routes are part of another app: `/name`, or nothing. */
  readonly prefix?: string;
  /** What the MCP endpoints need; without it there are none. */
  readonly mcp?: McpRouteDeps;
  /** The files of the page; without them there is none. */
  readonly studio?: StudioFiles;
  /** What signing in to the page needs; without it there is no sign-in. */
  readonly session?: SessionRouteDeps;
  /** The sessions of browsers; streams end with them. */
  readonly browsers?: BrowserSessions;
  /** Replaces `mode` of the config; `hostModes` still applies. */
  readonly mode?: ModeName;
  /** Whether callers without a key may administer toolscout. */
  readonly localAdmin?: boolean;
  /** Only routes of these groups; all unless said. */
  readonly groups?: readonly RouteGroup[];
}

/** The route table: the API, MCP, health checks, metadata and metrics. Its document describes exactly these. */
export function apiRoutes(options: ApiOptions): Route[] {
  const { version, prefix, groups, mcp } = options;
  let document: string | undefined;
  // Everything but the address under which it is asked for is the same each time, and large.
  const openApi = (request: Request): string => {
    document ??= JSON.stringify(openApiDocument(offered, { version }));
    return `{"servers":${JSON.stringify([{ url: prefix || options.baseUrl(request) }])},${document.slice(1)}`;
  };
  const follow = createFollow(options);
  const asks = createAsks(options.clock);
  const routes: Route[] = [
    ...registryRoutes(options.clock),
    ...toolRoutes(),
    ...callRoutes({ ...options, asks }),
    ...scriptRoutes(),
    ...skillRoutes(),
    ...adminRoutes({ follow, asks }),
    ...trafficRoutes({ follow, version }),
    ...approvalRoutes(),
    ...pendingCallRoutes(),
    ...overviewRoutes(options),
    ...savedRoutes(),
    ...serverActionRoutes(options),
    ...configChangeRoutes(),
    ...(options.session ? sessionRoutes(options.session) : []),
    ...(options.studio ? studioRoutes(options.studio) : []),
    ...registrationRoutes(),
    ...publishRoutes(options),
    ...subregistryRoutes(options),
    ...statusRoutes({ version: options.version, metrics: options.metrics, openApi }),
    ...(mcp ? mcpRoutes(mcp) : []),
  ];
  const offered = groups ? routes.filter(({ group }) => group !== 'mcp' && groups.includes(group)) : routes;
  return offered;
}

/** The address under which a request reached us, or the one that the config gives. Headers of proxies are not believed (A8). */
export function baseUrlOf(gateway: Gateway): (request: RequestHead) => string {
  return (request) =>
    gateway.internal.loaded().config.http.publicUrl?.replace(/\/+$/, '') ?? new URL(request.url).origin;
}
