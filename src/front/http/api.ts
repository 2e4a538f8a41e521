import type { Gateway } from '../../gateway/index.js';
import type { Clock } from '../../kernel/clock.js';
import type { Log } from '../../kernel/log.js';
import type { HttpAuth } from '../../model/config.js';
import { openApiDocument } from './openapi.js';
import type { Route } from './route.js';
import { adminRoutes } from './routes/admin.js';
import { approvalRoutes } from './routes/approvals.js';
import { callRoutes } from './routes/calls.js';
import { publishRoutes } from './routes/publish.js';
import { registryRoutes } from './routes/registry.js';
import { skillRoutes } from './routes/skills.js';
import { statusRoutes } from './routes/status.js';
import { subregistryRoutes } from './routes/subregistry.js';
import { toolRoutes } from './routes/tools.js';

/** What the routes are made of. */
export interface ApiOptions {
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly baseUrl: (request: Request) => string;
  readonly auth: () => HttpAuth | undefined;
  readonly metrics: () => Promise<string>;
}

/** Every route of the HTTP API. */
export function apiRoutes(options: ApiOptions): Route[] {
  let document: string | undefined;
  const openApi = (): string => (document ??= JSON.stringify(openApiDocument(routes, options.version)));
  const routes: Route[] = [
    ...registryRoutes(options.clock),
    ...toolRoutes(),
    ...callRoutes(options),
    ...skillRoutes(),
    ...adminRoutes(options),
    ...approvalRoutes(),
    ...publishRoutes(options),
    ...subregistryRoutes(options),
    ...statusRoutes({ version: options.version, metrics: options.metrics, openApi }),
  ];
  return routes;
}

/** The address under which a request reached us, or the one that the config gives. Headers of proxies are not believed (A8). */
export function baseUrlOf(gateway: Gateway): (request: Request) => string {
  return (request) => gateway.config().config.http.publicUrl?.replace(/\/+$/, '') ?? new URL(request.url).origin;
}
