import { readFile } from 'node:fs/promises';
import type { ServeOptions } from '../front/cli/context.js';
import { createHttpApp } from '../front/http/app.js';
import { isLoopback } from '../front/http/dispatch/guard.js';
import { listen, MAX_CONNECTIONS, type HttpFront } from '../front/http/listen/listen.js';
import { createPrincipalEndpoints } from '../front/http/routes/mcp.js';
import { hostsOf, urlsOf } from '../front/http/listen/reachable.js';
import { createMetrics } from '../front/http/metrics/metrics.js';
import { createMcpEndpoint, type McpEndpoint } from '../front/mcp/http/http.js';
import type { Gateway } from '../gateway/index.js';
import { systemClock } from '../kernel/clock.js';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import type { Log } from '../kernel/log.js';
import type { HttpAuth } from '../model/config.js';
import { createSafeFetch } from '../registry/index.js';
import { VERSION } from '../kernel/version.js';
import { createPublicFetch } from '../net/public-fetch.js';
import { readBounded } from '../net/bounded-body.js';
import type { PostForm } from '../front/http/auth/person-sign-in.js';
import { ownFlags } from './own-flags.js';
import { createStudioFiles } from './studio-files.js';

const DOCUMENT_TIMEOUT_MS = 5000;
const DOCUMENT_BYTES = 512 * 1024;

/**
 * Asks the issuer of tokens for a document. Addresses that stand in the config may be internal; an
 * address that a document of the issuer names may not (A19).
 */
export function createDocumentFetch(auth: () => HttpAuth | undefined): (url: string) => Promise<unknown> {
  const fetch = createSafeFetch({
    clock: systemClock,
    userAgent: 'toolscout',
    timeoutMs: DOCUMENT_TIMEOUT_MS,
    maxBytes: DOCUMENT_BYTES,
  });
  return async (url) => {
    const { issuer, jwksUri } = auth()?.oauth ?? {};
    const isWritten = [issuer, jwksUri].some((own) => own !== undefined && new URL(own).origin === new URL(url).origin);
    const answer = await fetch(url, { own: isWritten });
    if (!answer.ok || answer.status !== 200) return undefined;
    try {
      return JSON.parse(answer.body) as unknown;
    } catch (thrown) {
      // An answer that is not JSON means that there is no such document.
      if (thrown instanceof SyntaxError) return undefined;
      throw thrown;
    }
  };
}

/** Sends a form to the issuer of tokens; the same addresses are allowed as for its documents (A19). */
export function createFormPost(auth: () => HttpAuth | undefined): PostForm {
  const guarded = createPublicFetch('http.auth.oauth');
  return async (url, form) => {
    const issuer = auth()?.oauth?.issuer;
    const isWritten = issuer !== undefined && new URL(issuer).origin === new URL(url).origin;
    const answer = await (isWritten ? fetch : guarded)(url, {
      method: 'POST',
      body: form.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      redirect: 'manual',
      signal: AbortSignal.timeout(DOCUMENT_TIMEOUT_MS),
    });
    const body = await readBounded(answer, DOCUMENT_BYTES);
    try {
      return body && answer.status === 200 ? (JSON.parse(Buffer.from(body).toString('utf8')) as unknown) : undefined;
    } catch (thrown) {
      // An answer that is not JSON carries no token.
      if (thrown instanceof SyntaxError) return undefined;
      throw thrown;
    }
  };
}

/**
 * Loads what a call may need before it is needed. A module that cannot be read once, because the process has no file free at
 * that moment, can never be loaded again; so it must not be read for the first time when many clients are there (R10).
 */
async function loadEarly(): Promise<void> {
  await Promise.all([
    import('../connect/era/era.js'),
    import('../connect/era/era-remote.js'),
    import('../connect/upstream/upstream.js'),
    import('../connect/upstream/requests.js'),
    import('../connect/transport/stdio-transport.js'),
    import('../connect/transport/http-transport.js'),
    import('../net/public-fetch.js'),
    import('ajv/dist/2020.js'),
  ]);
}

/** Files that a process has open before the first connection. */
const OWN_FILES = 64;

/** How many clients may be connected: half of what this process may have open, the rest is for servers and files (R10). */
async function countSeats(): Promise<number | undefined> {
  // Where there is no such file the limit is high, or none is known.
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const files = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return files === undefined ? undefined : Math.max(16, Math.floor((Number(files) - OWN_FILES) / 2));
}

/** A served front, and where it is found. */
export interface ServedFront extends Pick<HttpFront, 'leave' | 'close'> {
  /** Addresses that can be opened, the best one first. */
  readonly urls: readonly string[];
}

/** What is wrong with single keys of `http.auth`: variables that are not set, above all. */
function keyProblems(opened: Gateway): string[] {
  const { warnings } = opened.internal.loaded();
  return warnings.filter(({ path }) => path.startsWith('http.auth.')).map(({ path, message }) => `${path} ${message}`);
}

/** `http.auth` must define at least one usable credential: a service that refuses every request is a config error. */
function requireUsableKeys(opened: Gateway): void {
  const { auth } = opened.internal.loaded().config.http;
  if (auth === undefined || auth.oauth !== undefined || auth.keys.length > 0) return;
  const problems = keyProblems(opened);
  const isEmpty = problems.length === 0;
  const why = isEmpty ? 'it has neither keys nor oauth' : problems.join('; ');
  const mend = isEmpty
    ? 'Add a key to http.auth.keys or set http.auth.oauth'
    : 'Set the named variables or fix the named keys';
  throw new ToolscoutError('CONFIGURATION_ERROR', `http.auth has no usable key: ${why}.`, {
    suggestion: `${mend}; or remove http.auth to serve this machine only.`,
  });
}

/** Serves a gateway over HTTP: the MCP endpoint and the HTTP API, and the registry kept current meanwhile. `offered` is what callers may see. */
export async function openHttpFront(
  { opened, offered }: { readonly opened: Gateway; readonly offered: Gateway },
  log: Log,
  options: ServeOptions,
): Promise<ServedFront> {
  const { http } = opened.internal.loaded().config;
  requireUsableKeys(opened);
  const auth = (): HttpAuth | undefined => opened.internal.loaded().config.http.auth;
  const host = options.host ?? http.host;
  const metrics = createMetrics(offered, systemClock);
  const { gateway } = metrics;
  const open = (seen: Gateway, admin: boolean): McpEndpoint =>
    createMcpEndpoint({
      admin,
      gateway: seen,
      info: { name: 'toolscout', version: VERSION },
      log,
      clock: systemClock,
      mode: options.mode,
    });
  const seats = (await countSeats()) ?? MAX_CONNECTIONS;
  const endpoints = createPrincipalEndpoints({ gateway, localAdmin: options.admin, open });
  const app = createHttpApp({
    gateway,
    mcpFor: endpoints.endpointFor,
    version: VERSION,
    log,
    allowedHosts: [
      ...http.allowedHosts,
      ...(http.publicUrl ? [new URL(http.publicUrl).hostname] : []),
      ...hostsOf(host),
    ],
    allowedOrigins: http.allowedOrigins,
    exposed: !isLoopback(host),
    fetchDocument: createDocumentFetch(auth),
    postForm: createFormPost(auth),
    studio: createStudioFiles(),
    mode: options.mode,
    metrics,
    // Half of them, so that one key cannot keep out all the others (A43).
    maxOpenEach: Math.ceil(seats / 2),
    localAdmin: options.admin,
    ownFlags: () =>
      ownFlags(opened.internal.loaded().source, {
        cwd: process.cwd(),
        env: process.env,
        stateDir: options.stateDir,
      }),
  });
  await loadEarly();
  const front = await listen(app, {
    host,
    port: options.port ?? http.port,
    mostConnections: seats,
    accepts: () => gateway.internal.overload().level !== 'full',
    onError: (error) => log.warn('http.accept', { error: error.message }),
    authenticated: http.auth !== undefined && (http.auth.keys.length > 0 || http.auth.oauth !== undefined),
  });
  const watchRegistry = async (): Promise<void> => {
    const registry = await opened.registry.get();
    if (registry) metrics.watch(registry);
    registry?.start();
  };
  watchRegistry().catch((thrown: unknown) =>
    log.error('tools.registry.unopened', { phase: 'lifecycle', error: messageOf(thrown) }),
  );
  return {
    urls: urlsOf({ host, port: front.port, publicUrl: http.publicUrl }),
    leave: () => front.leave(),
    async close() {
      await endpoints.close();
      await front.close();
    },
  };
}
