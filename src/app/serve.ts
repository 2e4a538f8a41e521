import { requireConfigured } from './configured-server.js';
import type { ServeOptions, StoreAnswer } from '../front/cli/context.js';
import type { Terminal } from '../front/cli/terminal.js';
import { serveMcpStdio } from '../front/mcp/stdio/stdio.js';
import { systemClock } from '../kernel/clock.js';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import type { Log } from '../kernel/log.js';
import { createSecretMask } from '../kernel/secrets.js';
import { isObject } from '../kernel/json.js';
import { shellWord } from '../kernel/remedy.js';
import { counted, printable } from '../kernel/text.js';
import { studioAddress } from '../front/cli/commands/studio.js';
import { createRedaction } from '../redact/index.js';
import type { Gateway } from '../gateway/index.js';
import { openGateway, type ToolscoutOptions } from './open-gateway.js';
import { VERSION } from '../kernel/version.js';
import { openProcessLog } from './process-log.js';
import { sharedPlace } from './shared/place.js';
import { stateDirectoryOf } from './state-place.js';

/** How long running calls may take after the request to stop. */
const DRAIN_MS = 5000;

/** The first report waits this long for servers that are learned for the first time. */
const LEARNING_PATIENCE_MS = 30_000;

/** Servers that could not be learned, named in the first report. */
const MISSING_SHOWN = 5;

/** What there is to try with the servers of the demo. */
const DEMO_TRIES = [
  'search "read a text file"',
  'inspect everything echo',
  'call filesystem read_text_file path=README.md',
] as const;

const INFO = { name: 'toolscout', version: VERSION };

interface Running {
  /** Where it is reached; nowhere over stdio. */
  readonly urls: readonly string[];
  /** Resolves when the front has ended by itself, as stdio does when its host goes. */
  readonly ended: Promise<void>;
  /** Sends new connections elsewhere, where that is possible. */
  leave?(): Promise<void>;
  close(): Promise<void>;
}

function serveStdio(gateway: Gateway, log: Log, streams: NodeJS.Process, options: ServeOptions): Running {
  const { server } = options;
  requireConfigured(gateway, server);
  const { stdin: input, stdout: output } = streams;
  const { mode, admin } = options;
  const front = serveMcpStdio({ gateway, info: INFO, log, clock: systemClock, input, output, server, mode, admin });
  return { urls: [], ended: front.closed, close: () => front.close() };
}

/** One service for all hosts of the user (STORE-6). */
async function serveShared(gateway: Gateway, log: Log, options: ServeOptions): Promise<Running> {
  const { openSharedService } = await import('./shared/service.js');
  const { path, source } = gateway.internal.loaded();
  const place = sharedPlace(
    stateDirectoryOf({ cwd: process.cwd(), env: process.env, stateDir: options.stateDir }),
    options.sharedKey ?? 'default',
  );
  const service = await openSharedService({
    place,
    gateway,
    log,
    clock: systemClock,
    config: path ?? source,
    idleMs: options.idleMs,
  });
  return { urls: [place.socket], ended: service.ended, close: () => service.close() };
}

/** `offered` is what hosts and callers may see of the gateway. */
async function serveHttp(
  { gateway, offered }: { readonly gateway: Gateway; readonly offered: Gateway },
  log: Log,
  options: ServeOptions,
  terminal: Terminal,
): Promise<Running> {
  const { openHttpFront } = await import('./serve-http.js');
  const front = await openHttpFront({ opened: gateway, offered }, log, options);
  if (options.onStudio) await options.onStudio(await studioAddress(gateway, front.urls[0]!));
  else {
    terminal.out(welcome(gateway, front.urls, terminal, options));
    announce(gateway, terminal).catch((thrown: unknown) => log.debug('serve.announce', { error: messageOf(thrown) }));
  }
  return {
    urls: front.urls,
    ended: new Promise(() => {}),
    leave: () => front.leave(),
    close: () => front.close(),
  };
}

const HEALTH_TIMEOUT_MS = 2000;

/** Whether a toolscout answers at an address. */
export async function isServing(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/health`, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS), redirect: 'error' });
    const body: unknown = await answer.json();
    return isObject(body) && typeof body['version'] === 'string' && typeof body['status'] === 'string';
  } catch {
    // There is no listener, or it is not toolscout.
    return false;
  }
}

/** What a gateway says of its store; nothing where it says nothing, as older versions do. */
export async function askStore(url: string, probe: string): Promise<StoreAnswer> {
  const answer = await fetch(`${url}/v1/session?probe=${encodeURIComponent(probe)}`, {
    signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS),
    redirect: 'error',
  });
  const body: unknown = await answer.json();
  if (!isObject(body)) return {};
  const { sharesStore, stateDir, config } = body;
  return {
    ...(typeof sharesStore === 'boolean' && { sharesStore }),
    ...(typeof stateDir === 'string' && { stateDir }),
    ...(typeof config === 'string' && { config }),
  };
}

/** Logs which servers are available once that is known, and why others are not. */
async function announce(gateway: Gateway, terminal: Terminal): Promise<void> {
  let done = 0;
  const stop = gateway.onEvent((event) => {
    if (event.type !== 'learned' && event.type !== 'learn-failed') return;
    done += 1;
    terminal.status(`  learning servers… ${done}`);
  });
  await gateway.internal.settle(LEARNING_PATIENCE_MS);
  stop();
  const views = await gateway.servers.list();
  const missing = views.filter((view) => view.problem !== undefined);
  const tools = views.reduce((sum, view) => sum + view.tools, 0);
  terminal.out(`\n  Ready: ${counted(tools, 'tool')} of ${counted(views.length - missing.length, 'server')}.`);
  for (const { id, problem } of missing.slice(0, MISSING_SHOWN)) {
    terminal.out(terminal.paint.yellow(`  ! ${id}: ${printable(problem ?? '')}`));
  }
  if (missing.length > MISSING_SHOWN) terminal.out(`  … and ${missing.length - MISSING_SHOWN} more: toolscout doctor`);
}

/** What a person sees in the first second: where it is, how to connect, what to try. */
function welcome(
  gateway: Gateway,
  [url = '', ...others]: readonly string[],
  { paint }: Terminal,
  { demo, config: file, stateDir }: ServeOptions,
): string {
  const { servers, path, source, pending, config } = gateway.internal.loaded();
  const key = config.http.auth === undefined ? '' : ' --header "Authorization: Bearer $KEY"';
  const isDemo = source === 'demo';
  const none = pending ? `${pending.path} (not approved)` : 'no config found';
  const from = path ?? (demo ? 'the demo' : isDemo ? 'the demo (no config found)' : none);
  // The tools of the demo are known; those of other servers are not, yet.
  const tries = isDemo ? DEMO_TRIES : ['servers', 'search "…"'];
  // Without what this one was started with, a command would reach another toolscout.
  const flags = [
    ...(demo ? ['--demo'] : []),
    ...(file === undefined ? [] : ['--config', shellWord(file)]),
    ...(stateDir === undefined ? [] : ['--state-dir', shellWord(stateDir)]),
  ];
  return [
    `${paint.bold('toolscout')} ${VERSION} · ${counted(servers.length, 'server')} from ${from}`,
    '',
    `  Studio        ${paint.cyan(`${url}/`)}`,
    `  MCP endpoint  ${paint.cyan(`${url}/mcp`)}`,
    `  HTTP API      ${url}/v1 (described in ${url}/openapi.json)`,
    ...(others.length > 0 ? [`  Also at       ${others.join(', ')}`] : []),
    `  Connect       claude mcp add --transport http toolscout ${url}/mcp${key}`,
    '',
    '  Try',
    ...tries.map((each) => `    ${['npx toolscout', each, ...flags].join(' ')}`),
    '',
    paint.dim('  Ctrl-C stops it.'),
  ].join('\n');
}

/** Runs the gateway with one front until it is asked to stop, then stops everything it started. */
export async function serve(
  options: ServeOptions & Pick<ToolscoutOptions, 'onNotice'>,
  process: { readonly terminal: Terminal; readonly streams: NodeJS.Process },
): Promise<void> {
  const { terminal, streams } = process;
  const gateway = await openGateway(options);
  const mask = createSecretMask();
  const redaction = createRedaction({ hide: (text) => mask.hide(text) });
  const learnSecrets = (): void => {
    const { secrets, config } = gateway.internal.loaded();
    mask.add(secrets);
    redaction.use(config.redaction);
  };
  learnSecrets();
  gateway.onEvent((event) => event.type === 'reloaded' && learnSecrets());
  const level = options.logLevel ?? (options.stdio ? 'warn' : 'info');
  const log = openProcessLog(streams, level, { mask, redact: redaction.logged });
  const start = async (): Promise<Running> => {
    const { skill } = options;
    // An unknown skill is refused here, before any request is served.
    if (skill !== undefined) await gateway.skills.get(skill);
    const offered = skill === undefined ? gateway : gateway.as(await gateway.skills.viewer(skill));
    if (options.stdio) return serveStdio(offered, log, streams, options);
    if (options.shared) return serveShared(offered, log, options);
    return serveHttp({ gateway, offered }, log, options, terminal);
  };
  const front = await start().catch(async (thrown: unknown) => {
    // The gateway has begun to learn its servers; they must not outlive a front that never came.
    await gateway.close({ drainMs: 0 });
    throw thrown;
  });

  const started = systemClock.monotonic();
  const { path, source, servers } = gateway.internal.loaded();
  log.info('serve.started', {
    version: VERSION,
    over: options.stdio ? 'stdio' : options.shared ? 'socket' : 'http',
    addresses: front.urls,
    config: path ?? source,
    servers: servers.length,
  });

  const reload = (): void => {
    gateway.reload().then(
      (report) => log.info('config.reloaded', { report }),
      (thrown: unknown) => log.error('config.invalid', { reason: messageOf(thrown) }),
    );
  };
  const failed = new Promise<Error>((resolve) => {
    streams.once('uncaughtException', resolve);
    streams.once('unhandledRejection', (reason) =>
      resolve(reason instanceof Error ? reason : new Error(String(reason))),
    );
  });
  let reason = 'host gone';
  const told = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      streams.once(signal, () => {
        reason = signal;
        resolve();
      });
    }
  });
  let isHostGone = false;
  let refusal: ToolscoutError | undefined;
  const ended = front.ended.then(
    () => {
      isHostGone = true;
      return undefined;
    },
    (thrown: unknown) => {
      if (thrown instanceof ToolscoutError) refusal = thrown;
      return thrown instanceof Error ? thrown : new Error(messageOf(thrown));
    },
  );
  streams.on('SIGHUP', reload);

  const failure = await Promise.race([told, ended, failed]);
  streams.off('SIGHUP', reload);
  // A second signal means now; the watchdog takes care of the children.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) streams.once(signal, () => streams.exit(1));
  if (failure && !refusal) log.error('crash', { error: failure.message, stack: failure.stack });
  if (!failure) await front.leave?.();
  // The gateway first: its running calls finish, and the front still delivers their answers to the remaining hosts.
  await gateway.close({ drainMs: failure || isHostGone ? 0 : DRAIN_MS });
  await front.close();
  const seconds = Math.round((systemClock.monotonic() - started) / 1000);
  log.info('serve.stopped', { reason: failure ? `failure: ${failure.message}` : reason, seconds });
  // The one server that was to be served cannot be: the command line says why.
  if (refusal) throw refusal;
  streams.exit(failure ? 1 : 0);
}
