import { gatewayOf, type Gateway, type Registry, type Toolscout } from '../../gateway/index.js';
import { systemClock, type Clock } from '../../kernel/clock.js';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import { silentLog, type Log } from '../../kernel/log.js';
import { LOCAL, type Principal } from '../../model/principal.js';
import { apiRoutes } from './api.js';
import type { Authenticator } from './auth/auth.js';
import { createDispatch, type Dispatch } from './dispatch/dispatch.js';
import { createGuard } from './dispatch/guard.js';
import { createMetrics } from './metrics/metrics.js';
import type { RouteGroup } from './route.js';

/** How the routes are mounted in another app. */
export interface ToolsApiOptions {
  /** What stands before every path, e.g. `/toolscout`. */
  readonly prefix?: string;
  /** Which routes; `registry` (`GET /v1/tools`) unless said otherwise. */
  readonly groups?: readonly RouteGroup[];
  /** The sender of a request; `undefined` when it is not known. Needed for every route beyond the registry. */
  readonly principal?: (request: Request) => Principal | undefined | Promise<Principal | undefined>;
  /** With it only these `Host` headers, and pages of these hosts, are let in; by default that is the app's business. */
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
  /** Whether servers are checked in the background from now on; true by default. */
  readonly start?: boolean;
  readonly version?: string;
  readonly log?: Log;
  readonly clock?: Clock;
}

/** An app that takes middleware, as one made with Hono does. */
export interface MountableApp {
  use(
    path: string,
    handler: (
      context: { readonly req: { readonly raw: Request } },
      next: () => Promise<void>,
    ) => Promise<Response | void>,
  ): unknown;
}

/** Groups that tell nothing but what is published anyway. */
const OPEN_GROUPS: ReadonlySet<RouteGroup> = new Set(['registry', 'status']);

const isRegistry = (source: Toolscout | Registry): source is Registry => 'snapshot' in source;

/** Only the routes of the registry are ever mounted over this, and they ask for nothing else. */
function onlyRegistry(registry: Registry): Gateway {
  return { registry: { get: async () => registry } } as unknown as Gateway;
}

/** `/name`, however it was written. */
function prefixOf({ prefix = '' }: ToolsApiOptions): string {
  const parts = prefix.split('/').filter((part) => part !== '');
  return parts.map((part) => `/${part}`).join('');
}

function createAuthenticatorOver(options: ToolsApiOptions): Authenticator {
  const { principal } = options;
  return {
    authenticate(request) {
      if (!principal) return LOCAL;
      return Promise.resolve(principal(request.web)).then((known) => {
        if (known) return known;
        // The program that mounts the routes decides how a request is authenticated.
        throw new ToolscoutError('UNAUTHENTICATED', 'Missing or unknown credentials.', {
          suggestion: 'Send the credentials that this service requires.',
        });
      });
    },
    // Who is known, and for how long, is the business of the app.
    admits: () => true,
    challenge: (_request, scope) =>
      scope === undefined ? 'Bearer' : `Bearer error="insufficient_scope", scope="${scope}"`,
  };
}

function createMounted(source: Toolscout | Registry, options: ToolsApiOptions): Dispatch {
  const { groups = ['registry'], clock = systemClock, log = silentLog, version = '0.0.0' } = options;
  const prefix = prefixOf(options);
  const missing = isRegistry(source) ? groups.find((group) => group !== 'registry') : undefined;
  if (missing !== undefined) {
    throw new ToolscoutError('CONFIGURATION_ERROR', `A registry has no routes of the group "${missing}".`, {
      suggestion: 'Pass the result of createToolscout(), or leave that group out.',
    });
  }
  if (!options.principal && groups.some((group) => !OPEN_GROUPS.has(group))) {
    throw new ToolscoutError(
      'CONFIGURATION_ERROR',
      'The option `principal` is required for routes that show or run tools.',
      { suggestion: 'Pass a function that returns the sender of a request, or undefined to refuse it.' },
    );
  }
  const gateway = isRegistry(source) ? onlyRegistry(source) : gatewayOf(source);
  const metrics = createMetrics(gateway, clock);
  const watch = async (): Promise<void> => {
    const registry = await gateway.registry.get();
    if (registry) metrics.watch(registry);
    if (options.start ?? true) registry?.start();
  };
  watch().catch((thrown: unknown) =>
    log.error('tools.registry.unopened', { phase: 'lifecycle', error: messageOf(thrown) }),
  );
  const routes = apiRoutes({
    version,
    clock,
    log,
    baseUrl: (request) => `${new URL(request.url).origin}${prefix}`,
    auth: () => undefined,
    metrics: () => metrics.text(),
    prefix,
    groups,
  });
  const { allowedHosts, allowedOrigins = [] } = options;
  return createDispatch(routes, {
    gateway: metrics.gateway,
    guard: allowedHosts && createGuard({ hosts: allowedHosts, origins: allowedOrigins }),
    log,
    authenticator: createAuthenticatorOver(options),
    // Routes that administer are mounted only with `principal`, which says who may.
    localAdmin: true,
    prefix,
    onAnswer: metrics.onAnswer,
  });
}

/** Adds the routes to an app made with Hono (REG-10); everything else goes on to the app. */
export function addToolsApi(app: MountableApp, source: Toolscout | Registry, options: ToolsApiOptions = {}): void {
  const { answer } = createMounted(source, options);
  app.use('*', async (context, next) => (await answer(context.req.raw)) ?? next());
}

/** The same routes as one function, for every other framework; what is none of them is a 404 (REG-10). */
export function createToolsApi(
  source: Toolscout | Registry,
  options: ToolsApiOptions = {},
): (request: Request) => Promise<Response> {
  const { fetch } = createMounted(source, options);
  return async (request) => fetch(request);
}
