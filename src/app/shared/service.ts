import { requireConfigured } from '../configured-server.js';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { serveMcpStdio } from '../../front/mcp/stdio/stdio.js';
import type { Gateway } from '../../gateway/index.js';
import { sleep, type Clock, type Timer } from '../../kernel/clock.js';
import { messageOf, ToolscoutError, toToolscoutError } from '../../kernel/errors.js';
import type { Log } from '../../kernel/log.js';
import { VERSION } from '../../kernel/version.js';
import type { ModeName } from '../../model/config.js';
import { dial } from './dial.js';
import { MAX_HELLO_BYTES, readHello, type Wish } from './hello.js';
import { preparePlace, readRecord, writeRecord, type SharedPlace } from './place.js';
import { STOPPING } from './relay.js';
import { holderOf, tryLock } from './start-lock.js';

/** A connecting process must send its request within this time. */
const HELLO_MS = 5000;

/** Connections without a request yet; further ones are closed at once. */
const MAX_STRANGERS = 64;

/** Hosts that one service serves at once. */
const MAX_HOSTS = 256;

/** How long a service without a host lives; `--idle` sets another time. */
const IDLE_MS = 300_000;

/** How long a host of one server waits for its list before it is greeted; it gives up after twice that time. */
const LIST_MS = 5000;

/** Questions that one service may ask a host before the numbers of the next one begin. */
const QUESTIONS_EACH = 2 ** 32;

/** What the service of a place needs. */
export interface ServiceDeps {
  readonly place: SharedPlace;
  readonly gateway: Gateway;
  readonly log: Log;
  readonly clock: Clock;
  /** What it serves, for people. */
  readonly config: string;
  /** The service ends after this time without a host; five minutes if absent. */
  readonly idleMs?: number;
}

/** A running shared service. */
export interface SharedService {
  /** Resolves when it ends by itself: it was idle, or told to stop. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Waits until this process may make the socket: its parent holds the lock for it, or it takes the lock itself. */
async function mayListen({ place, clock }: ServiceDeps): Promise<() => void> {
  for (;;) {
    if (holderOf(place.lock) === process.ppid) return () => undefined;
    const release = tryLock(place.lock, clock);
    if (release) return release;
    await sleep(clock, 50);
  }
}

/** What a service says about itself. */
function statusOf({ gateway, config }: ServiceDeps, hosts: number, startedAt: number) {
  const { servers } = gateway.internal.loaded();
  return { pid: process.pid, version: VERSION, config, hosts, servers: servers.length, startedAt };
}

/**
 * Serves every host of this user that connects to the socket of a place (STORE-6).
 *
 * @throws ToolscoutError `INVALID_REQUEST` when the place has a service already.
 */
export async function openSharedService(deps: ServiceDeps): Promise<SharedService> {
  const { place, gateway, log, clock, idleMs = IDLE_MS } = deps;
  const token = randomBytes(32).toString('hex');
  const startedAt = clock.now();
  const hosts = new Map<Socket, () => Promise<void>>();
  const strangers = new Set<Socket>();
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  let idle: Timer | undefined;
  const restIfIdle = (): void => {
    idle?.cancel();
    if (hosts.size > 0) return;
    idle = clock.after(idleMs, () => {
      log.info('shared.idle', { seconds: idleMs / 1000 });
      end();
    });
  };

  /** A server that cannot be listed refuses its host; for one that is slow the greeting does not wait. */
  const listed = (server: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = clock.after(LIST_MS, resolve);
      gateway.servers
        .facts(server)
        .then(() => resolve(), reject)
        .finally(() => timer.cancel());
    });

  const serveHost = async (socket: Socket, wish: Wish, answer: (about?: object) => string): Promise<void> => {
    const { server, skill } = wish;
    requireConfigured(gateway, server);
    if (server !== undefined) await listed(server);
    if (hosts.size >= MAX_HOSTS) {
      throw new ToolscoutError('OVERLOADED', `The service has ${MAX_HOSTS} hosts already.`, {
        suggestion: 'Close a host, or start this one without --shared.',
      });
    }
    if (gateway.internal.overload().level === 'full') {
      throw new ToolscoutError('OVERLOADED', 'The service has too little memory left for another host.', {
        remedy: { kind: 'overloaded' },
      });
    }
    if (skill !== undefined) await gateway.skills.get(skill);
    const offered = skill === undefined ? gateway : gateway.as(await gateway.skills.viewer(skill));
    if (socket.destroyed) return;
    socket.write(answer());
    const front = serveMcpStdio({
      gateway: offered,
      info: { name: 'toolscout', version: VERSION },
      log,
      clock,
      input: socket,
      output: socket,
      server,
      mode: wish.mode as ModeName | undefined,
      admin: wish.admin === true,
      shared: { firstQuestion: 1 + (wish.generation ?? 0) * QUESTIONS_EACH },
    });
    hosts.set(socket, () => front.close());
    idle?.cancel();
    const left = (): void => {
      if (!hosts.delete(socket)) return;
      socket.destroy();
      front.close().catch((thrown: unknown) => log.warn('shared.close', { error: messageOf(thrown) }));
      restIfIdle();
    };
    socket.once('close', left);
    front.closed.then(left, (thrown: unknown) => {
      log.warn('shared.host', { error: messageOf(thrown) });
      left();
    });
  };

  const greet = (socket: Socket, line: string): void => {
    const hello = readHello(line, token);
    if (!hello) {
      log.warn('shared.refused', { reason: 'the first line is not a valid greeting' });
      socket.destroy();
      return;
    }
    const { wish, answer } = hello;
    if (wish.kind === 'host') {
      serveHost(socket, wish, answer as (about?: object) => string).catch((thrown: unknown) => {
        const { code, message, suggestion } = toToolscoutError(thrown);
        socket.end(answer({ error: { code, message, suggestion } }));
      });
      return;
    }
    socket.end(answer({ status: statusOf(deps, hosts.size, startedAt) }));
    if (wish.kind === 'stop') end();
  };

  const server = createServer((socket) => {
    socket.on('error', (error) => log.debug('shared.socket', { error: error.message }));
    if (strangers.size >= MAX_STRANGERS) return void socket.destroy();
    strangers.add(socket);
    const timer = clock.after(HELLO_MS, () => socket.destroy());
    let text = Buffer.alloc(0);
    const onData = (chunk: Buffer): void => {
      text = Buffer.concat([text, chunk]);
      const at = text.indexOf(0x0a);
      if (at === -1) {
        if (text.length > MAX_HELLO_BYTES) socket.destroy();
        return;
      }
      known();
      socket.pause();
      const rest = text.subarray(at + 1);
      if (rest.length > 0) socket.unshift(rest);
      greet(socket, text.toString('utf8', 0, at));
    };
    const known = (): void => {
      timer.cancel();
      strangers.delete(socket);
      socket.off('data', onData);
    };
    socket.on('data', onData);
    socket.once('close', known);
  });

  preparePlace(place);
  const release = await mayListen(deps);
  try {
    const other = await dial(place, { kind: 'status' }, clock);
    if (other) {
      other.socket.destroy();
      throw new ToolscoutError('INVALID_REQUEST', 'A shared service with this configuration is running already.', {
        suggestion: 'Use it, or stop it first: toolscout service stop',
      });
    }
    if (process.platform !== 'win32') rmSync(place.socket, { force: true });
    writeRecord(place, { pid: process.pid, version: VERSION, token, config: deps.config, startedAt });
    await new Promise<void>((resolve, reject) => {
      const before = process.umask(0o177);
      server.once('error', reject);
      server.listen(place.socket, resolve);
      process.umask(before);
    });
  } finally {
    release();
  }
  server.on('error', (error) => log.error('shared.listen', { error: error.message }));
  restIfIdle();

  const forget = (): void => {
    // Another service may have the place by now.
    if (readRecord(place.record)?.token !== token) return;
    rmSync(place.record, { force: true });
    if (process.platform !== 'win32') rmSync(place.socket, { force: true });
  };
  return {
    ended,
    async close() {
      idle?.cancel();
      forget();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of strangers) socket.destroy();
      const fronts = [...hosts];
      hosts.clear();
      await Promise.all(
        fronts.map(async ([socket, close]) => {
          await close();
          socket.end(`${JSON.stringify({ jsonrpc: '2.0', method: STOPPING })}\n`);
          socket.destroySoon();
        }),
      );
      await closed;
    },
  };
}
