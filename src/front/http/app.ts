import type { Gateway } from '../../gateway/index.js';
import { systemClock, type Clock } from '../../kernel/clock.js';
import type { Log } from '../../kernel/log.js';
import { apiRoutes, baseUrlOf } from './api.js';
import { authOf, createAuthenticator } from './auth/auth.js';
import { createBrowserSessions } from './auth/browser-sessions.js';
import { createPersonSignIn, type PostForm } from './auth/person-sign-in.js';
import type { FetchDocument } from './auth/token.js';
import { createSharing } from './dispatch/cors.js';
import { createDispatch, type Dispatch } from './dispatch/dispatch.js';
import { createGuard } from './dispatch/guard.js';
import { createMetrics, type Metrics } from './metrics/metrics.js';
import { createOpenRequestLimit } from './request-slots.js';
import type { McpRouteDeps } from './routes/mcp.js';
import type { OwnFlags } from './routes/sessions.js';
import type { StudioFiles } from './routes/studio.js';
import type { ModeName } from '../../model/config.js';

/** What the HTTP front is made of. */
export interface HttpAppOptions extends Pick<McpRouteDeps, 'mcpFor'> {
  readonly gateway: Gateway;
  readonly version: string;
  readonly log: Log;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** Other machines can reach it: without authentication every request is refused (S2). */
  readonly exposed?: boolean;
  /** Asks the issuer of tokens for a document; without it no token can be checked. */
  readonly fetchDocument?: FetchDocument;
  /** Sends a form to the issuer; without it there is no sign-in at the issuer. */
  readonly postForm?: PostForm;
  /** The files of the page. */
  readonly studio?: StudioFiles;
  /** Replaces `mode` of the config; `hostModes` still applies. */
  readonly mode?: ModeName;
  readonly metrics?: Metrics;
  readonly clock?: Clock;
  /** Whether callers without a key may administer toolscout where `http.auth` is not set. */
  readonly localAdmin?: boolean;
  /** What a command in a terminal needs to reach this toolscout. */
  readonly ownFlags?: () => OwnFlags;
  /** Requests of one principal that may be open at once. */
  readonly maxOpenEach?: number;
}

/** The HTTP front as a web-standard handler, and for requests over connections of Node.js. */
export type HttpApp = Pick<Dispatch, 'fetch' | 'serve'>;

/** The HTTP front: the MCP endpoint and the HTTP API, behind one guard, one route table and one authentication. */
export function createHttpApp(options: HttpAppOptions): HttpApp {
  const { gateway, log, clock = systemClock, localAdmin, maxOpenEach } = options;
  const metrics = options.metrics ?? createMetrics(gateway, clock);
  const auth = authOf(gateway);
  const baseUrl = baseUrlOf(gateway);
  const browsers = createBrowserSessions({ sessions: gateway.sessions, baseUrl });
  const fetchDocument = options.fetchDocument ?? (() => Promise.resolve(undefined));
  const authenticator = createAuthenticator({
    auth,
    sessions: browsers,
    required: options.exposed ?? false,
    baseUrl,
    clock,
    log,
    fetchDocument,
  });
  const people = createPersonSignIn({
    auth,
    states: gateway.internal,
    baseUrl,
    fetchDocument,
    postForm: options.postForm ?? (() => Promise.resolve(undefined)),
    readToken: authenticator.readToken,
    log,
  });
  const routes = apiRoutes({
    version: options.version,
    clock,
    log,
    baseUrl,
    auth,
    metrics: () => metrics.text(),
    mode: options.mode,
    localAdmin: localAdmin ?? false,
    studio: options.studio,
    browsers,
    session: {
      auth,
      authenticator,
      browsers,
      sessions: gateway.sessions,
      people,
      localAdmin: localAdmin ?? false,
      ownFlags: options.ownFlags,
      log,
    },
    mcp: { mcpFor: options.mcpFor, admits: authenticator.admits },
  });
  const guard = createGuard({
    hosts: options.allowedHosts,
    origins: options.allowedOrigins,
    checkTarget: true,
    // With keys every request brings its own; without them being on this machine is the key, and every page has that.
    asksForKeys: () => auth() !== undefined,
  });
  return createDispatch(routes, {
    gateway,
    log,
    authenticator,
    guard,
    sharing: createSharing(options.allowedOrigins),
    localAdmin,
    hold: maxOpenEach === undefined ? undefined : createOpenRequestLimit(maxOpenEach),
    onAnswer: metrics.onAnswer,
  });
}
