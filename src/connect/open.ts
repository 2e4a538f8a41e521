import { type Remedy } from '../kernel/remedy.js';
import { seconds } from '../kernel/text.js';
import type { Clock } from '../kernel/clock.js';
import { isInternalHost } from '../net/address.js';
import { messageOf, ToolscoutError, ERROR_TABLE } from '../kernel/errors.js';
import { RPC_CODE } from '../protocol/json-rpc.js';
import { LOOP_REMEDY, type Lineage } from '../protocol/lineage.js';
import type { Log } from '../kernel/log.js';
import { createSecretMask } from '../kernel/secrets.js';
import type { Screen } from '../model/host.js';
import type { HttpTransport, Server, StdioTransport } from '../model/server.js';
import type { Upstream } from '../model/upstream.js';
import { SHARED, type ConnectionKey } from './connection-key.js';
import type { ChildKeeper } from './transport/child.js';
import { commandOf } from './transport/child-command.js';
import { childEnvironment } from './transport/environment.js';
import type { Connected, EraDecision } from './era/era.js';
import type { Channel, Terms } from './era/session.js';
import type { SignIns } from './oauth/sign-ins.js';
import type { StdioTransport as StdioChild } from './transport/stdio-transport.js';
import type { Tap } from './transport/tap.js';
import { toUpstreamError } from './upstream/errors.js';

/** Where verdicts are kept between starts, per server and credential. */
export interface EraMemory {
  recall(server: Server): Promise<EraDecision | undefined>;
  remember(server: Server, verdict: EraDecision): Promise<void>;
}

/** What opening a connection needs. */
export interface OpenDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly children: ChildKeeper;
  readonly verdicts: EraMemory;
  /** The environment of toolscout. Children get only a few harmless variables from it. */
  readonly baseEnv: Readonly<Record<string, string | undefined>>;
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** Who we are to another toolscout; without it a loop of them is not recognised. */
  readonly lineage?: Lineage;
  /** The sign-ins to remote servers; without them only configured credentials are sent (CONN-6). */
  readonly signIns?: SignIns;
  readonly onStderr?: (server: string, chunk: string) => void;
  /** Called for every line on stdout that is no protocol message. */
  readonly onNoise?: (server: string) => void;
  /** The server asks its host something. */
  readonly onQuestion?: () => void;
  readonly signal?: AbortSignal;
  /** Takes what looks like a secret out of a line of stderr that is shown. */
  readonly hideForms?: (text: string) => string;
  /**
   * What rules remove from the requests and notifications of a server to its host, and from the answers; looked up each
   * time.
   */
  readonly screen?: (server: string) => Screen | undefined;
  /** Gets every message on the connection. */
  readonly tap?: Tap;
  /** For whom it is opened: the declared capabilities, and the host that the server may ask. */
  readonly key?: ConnectionKey;
}

/** What one attempt to connect needs besides. */
interface ConnectDeps extends OpenDeps {
  /** Called with every child that is started. */
  readonly onChild: (child: StdioChild) => void;
}

/**
 * Opens a connection to a server: starts or reaches it, finds out its era, shakes hands. Rejects
 * with a `ToolscoutError` when that fails, is aborted or takes longer than the server's
 * `connectTimeoutMs`; then nothing of it is left behind.
 */
export async function openUpstream(server: Server, deps: OpenDeps): Promise<Upstream> {
  const { clock, log } = deps;
  const controller = new AbortController();
  const onAbort = (): void => {
    controller.abort(
      new ToolscoutError('CANCELLED', `Connecting to "${server.id}" was cancelled.`, {
        delivered: false,
        cause: deps.signal?.reason,
      }),
    );
  };
  if (deps.signal?.aborted) onAbort();
  deps.signal?.addEventListener('abort', onAbort, { once: true });
  let child: Pick<StdioChild, 'lastStderrLine'> | undefined;
  const giveUp = (): void => {
    const said = child?.lastStderrLine() ?? '';
    const why = said === '' ? '' : ` Its last line on stderr: ${said}`;
    const message = `The server "${server.id}" did not complete the handshake within ${seconds(server.connectTimeoutMs)}.${why}`;
    controller.abort(
      new ToolscoutError('SESSION_INIT_FAILED', message, { remedy: launchRemedy(server, true), delivered: false }),
    );
  };
  const timer = clock.after(server.connectTimeoutMs, giveUp, { awaited: true });
  const terms: Terms = {
    clock,
    clientInfo: deps.clientInfo,
    capabilities: (deps.key ?? SHARED).capabilities,
    timeoutMs: server.connectTimeoutMs,
    signal: controller.signal,
    onLate: (discover) => void remember(server, deps, { kind: 'modern', discover, decidedAt: clock.now() }),
  };
  try {
    return await connect(server, { ...deps, onChild: (started) => (child = started) }, terms);
  } catch (thrown) {
    const error = explain(server, thrown, terms, deps.signIns);
    log.debug('connect.failed', { server: server.id, code: error.code, why: error.message });
    throw error;
  } finally {
    timer.cancel();
    deps.signal?.removeEventListener('abort', onAbort);
  }
}

async function connect(server: Server, deps: ConnectDeps, terms: Terms): Promise<Upstream> {
  const { transport } = server;
  const isChild = transport.type === 'stdio';
  // Loaded with the first connection: answering from what is cached must not pay for it, nor a child for the client.
  const [{ connectChildAs, negotiateChild }, { createUpstream }, remote] = await Promise.all([
    import('./era/era.js'),
    import('./upstream/upstream.js'),
    isChild ? undefined : import('./era/era-remote.js'),
  ]);
  terms.signal.throwIfAborted();
  const open = (kind: 'http' | 'sse'): Promise<Channel> =>
    transport.type === 'stdio' ? openChild(server, transport, deps, terms) : openRemote(server, kind, transport, deps);
  const remembered = await recall(server, deps);
  const kind = isChild ? 'http' : (remembered?.transport ?? transport.type);
  let connected: Connected | undefined;
  let believed = false;
  let isDual = remembered?.only ? false : undefined;
  const connectAs = remote?.connectRemoteAs ?? connectChildAs;
  if (deps.key?.prefers === 'legacy' && remembered?.kind === 'modern' && !remembered.only) {
    connected = await connectNative(server, (older, within) => connectAs(older, () => open(kind), within), terms, deps);
    isDual = connected !== undefined;
    if (!connected) await remember(server, deps, { ...remembered, only: true });
  }
  if (remembered && !connected) {
    try {
      connected = await connectAs(remembered, () => open(kind), terms);
      believed = connected !== undefined && remembered.kind === 'modern';
    } catch (thrown) {
      if (terms.signal.aborted || !isWorthAsking(thrown)) throw thrown;
      deps.log.info('connect.forgotten', { server: server.id, kind: remembered.kind, why: messageOf(thrown) });
    }
  }
  if (!connected) {
    connected =
      remote && transport.type !== 'stdio'
        ? await remote.negotiateRemote(open, transport.type, terms)
        : await negotiateChild(() => open('http'), terms);
    await remember(server, deps, { ...connected.verdict, decidedAt: deps.clock.now() });
  }
  const { channel, session } = connected;
  if (terms.signal.aborted || channel.requests.closed) {
    void channel.close();
    terms.signal.throwIfAborted();
    throw new ToolscoutError(
      'SERVER_CONNECTION_ERROR',
      `The server "${server.id}" closed the connection immediately after connecting.`,
      {
        delivered: false,
      },
    );
  }
  return createUpstream(
    {
      session,
      requests: channel.requests,
      close: () => channel.close(),
      ...(channel.pid !== undefined && { pid: channel.pid }),
    },
    {
      server,
      clock: deps.clock,
      log: deps.log,
      screen: () => deps.screen?.(server.id),
      isDual,
      // A verdict without what the server said about itself is never believed.
      ...(believed && { onMisjudged: () => remember(server, deps, { kind: 'modern', decidedAt: deps.clock.now() }) }),
    },
  );
}

/** The older handshake with a server that is known to be modern; `undefined` when it will have none of it. */
async function connectNative(
  server: Server,
  connectAs: (verdict: Pick<EraDecision, 'kind'>, terms: Terms) => Promise<Connected | undefined>,
  terms: Terms,
  deps: OpenDeps,
): Promise<Connected | undefined> {
  try {
    // Silence is a refusal too, and must leave time for the other handshake.
    return await connectAs({ kind: 'legacy' }, { ...terms, timeoutMs: terms.timeoutMs / 2 });
  } catch (thrown) {
    if (terms.signal.aborted || !isWorthAsking(thrown)) throw thrown;
    deps.log.debug('connect.modern-only', { server: server.id, why: messageOf(thrown) });
    return undefined;
  }
}

/** A verdict can be wrong when the server answered and refused; not when it could not be started or reached. */
function isWorthAsking(thrown: unknown): boolean {
  return !(thrown instanceof ToolscoutError) || thrown.delivered !== false;
}

async function recall(server: Server, deps: OpenDeps): Promise<EraDecision | undefined> {
  try {
    return await deps.verdicts.recall(server);
  } catch (thrown) {
    // A memory that fails costs one question, not the connection.
    deps.log.warn('connect.recall', { server: server.id, why: messageOf(thrown) });
    return undefined;
  }
}

async function remember(server: Server, deps: OpenDeps, verdict: EraDecision): Promise<void> {
  try {
    await deps.verdicts.remember(server, verdict);
  } catch (thrown) {
    deps.log.warn('connect.remember', { server: server.id, why: messageOf(thrown) });
  }
}

function maskFor(secrets: Readonly<Record<string, string>>, signIns?: SignIns): (text: string) => string {
  const mask = createSecretMask();
  mask.add(Object.values(secrets));
  return (text) => mask.hideEncoded(signIns?.hide(text) ?? text);
}

async function openChild(server: Server, config: StdioTransport, deps: ConnectDeps, terms: Terms): Promise<Channel> {
  const [{ createStdioTransport }, { createRequests }] = await Promise.all([
    import('./transport/stdio-transport.js'),
    import('./upstream/requests.js'),
  ]);
  terms.signal.throwIfAborted();
  const { id } = server;
  const { cwd } = config;
  const env = childEnvironment(deps.baseEnv, config.env);
  deps.tap?.('note', `start: ${server.shown.target}`);
  const child = await deps.children.spawn({ ...commandOf(config), env, ...(cwd !== undefined && { cwd }) });
  if (terms.signal.aborted) {
    void child.stop();
    throw terms.signal.reason;
  }
  const mask = maskFor(config.env);
  const transport = createStdioTransport(child, {
    server: id,
    clock: deps.clock,
    mask: (text) => deps.hideForms?.(mask(text)) ?? mask(text),
    ...(deps.tap && { tap: deps.tap }),
    onNoise: () => deps.onNoise?.(id),
    onStderr: (chunk) => deps.onStderr?.(id, chunk),
  });
  deps.onChild(transport);
  const requests = createRequests({
    server: id,
    transport,
    clock: deps.clock,
    log: deps.log,
    mask,
    remote: false,
    lost: () => transport.lost,
    countUnsolicited: () => transport.countUnsolicited(),
    screen: () => deps.screen?.(id),
    onQuestion: () => deps.onQuestion?.(),
    ...(deps.key?.owner && { owner: deps.key.owner }),
  });
  return { requests, pid: child.pid, close: () => transport.close() };
}

/** An internal address that was approved as written is allowed; a name that resolves to one is not. */
function mustStayPublic({ origin }: Server, { url }: HttpTransport): boolean {
  return origin !== undefined && URL.canParse(url) && !isInternalHost(new URL(url).hostname);
}

async function openRemote(
  server: Server,
  kind: 'http' | 'sse',
  config: HttpTransport,
  deps: OpenDeps,
): Promise<Channel> {
  const [{ createRemoteTransport }, { createPublicFetch }, { createRequests }] = await Promise.all([
    import('./transport/http-transport.js'),
    import('../net/public-fetch.js'),
    import('./upstream/requests.js'),
  ]);
  const { id } = server;
  const { transport, isLoss, farewell } = createRemoteTransport(kind, config, {
    server: id,
    clock: deps.clock,
    session: deps.signIns?.session(server),
    lineage: deps.lineage,
    ...(mustStayPublic(server, config) && { fetch: createPublicFetch(id) }),
  });
  if (deps.tap) {
    const { tapTransport } = await import('./transport/tap.js');
    deps.tap('note', `connect: ${server.shown.target} (${kind})`);
    tapTransport(transport, deps.tap);
  }
  const mask = maskFor(config.headers, deps.signIns);
  const requests = createRequests({
    server: id,
    transport,
    clock: deps.clock,
    log: deps.log,
    mask,
    remote: true,
    isLoss,
    lost: () => undefined,
    screen: () => deps.screen?.(id),
    ...(deps.key?.owner && { owner: deps.key.owner }),
  });
  return {
    requests,
    async close() {
      if (!requests.closed) await farewell();
      await transport.close();
    },
  };
}

/**
 * What a failed attempt is called: refused credentials and a lost connection by their names, the rest
 * a failed handshake. Whatever the caller wanted to send was not sent.
 */
function explain(server: Server, thrown: unknown, terms: Terms, signIns: SignIns | undefined): ToolscoutError {
  if (terms.signal.aborted) return terms.signal.reason as ToolscoutError;
  const secrets = server.transport.type === 'stdio' ? server.transport.env : server.transport.headers;
  const error = toUpstreamError(server.id, thrown, maskFor(secrets, signIns));
  const refused = error.code === 'TOOL_EXECUTION_ERROR' || error.code === 'TOOL_EXECUTION_TIMEOUT';
  const { message, retryAfterMs, upstream, remedy, refusal } = error;
  if (upstream?.code === RPC_CODE.loopDetected) {
    const details = { delivered: false, upstream, remedy: LOOP_REMEDY, cause: thrown };
    return new ToolscoutError('CONFIGURATION_ERROR', message, details);
  }
  if (refused) {
    const own = launchRemedy(server, error.code === 'TOOL_EXECUTION_TIMEOUT');
    return new ToolscoutError('SESSION_INIT_FAILED', message, {
      delivered: false,
      upstream,
      remedy: own,
      cause: thrown,
    });
  }
  const isPlain = error.code === 'SERVER_CONNECTION_ERROR' && remedy === ERROR_TABLE[error.code].remedy;
  return new ToolscoutError(error.code, message, {
    delivered: false,
    retryAfterMs,
    remedy: isPlain ? launchRemedy(server) : remedy,
    refusal,
    cause: thrown,
  });
}

/** What to look at when a server cannot be connected to. Neither its command nor its URL is named: agents read this too. */
function launchRemedy({ id, transport }: Server, isLate = false): Remedy {
  const check =
    transport.type === 'stdio'
      ? 'Run its command by hand to see what it prints'
      : 'Check that it runs and that its URL is right';
  const more = isLate ? `, or raise servers.${id}.connectTimeoutMs` : '';
  return { kind: 'configure', what: `${check}${more}.` };
}
