import type { Socket } from 'node:net';
import { systemClock } from '../../kernel/clock.js';
import { messageOf } from '../../kernel/errors.js';
import { LIMITS } from '../../kernel/limits.js';
import { createByteLines } from './byte-lines.js';
import { readForwardOptions, type ForwardOptions } from './forward-options.js';
import { createRelay, type LinkEvents, type ServiceLink } from './relay.js';
import { reachService } from './reach-service.js';

/** Services that may end while one host is served; then toolscout serves it without one. */
const MAX_SERVICES = 5;

/** A service that lasted longer than this did not end because of its start. */
const LASTING_MS = 60_000;

/** Puts the lines of a socket and its end into the events of a link. */
function linkOver(socket: Socket, events: LinkEvents, hold: (isHeld: boolean) => void): ServiceLink {
  const lines = createByteLines(2 * LIMITS.lineBytes, events.onLine);
  socket.on('data', (chunk: Buffer) => {
    if (!lines.take(chunk)) socket.destroy();
  });
  socket.on('drain', () => hold(false));
  socket.once('close', () => events.onClose());
  socket.resume();
  return {
    write(line) {
      if (!socket.write(line)) hold(true);
    },
    close: () => socket.destroy(),
  };
}

/** Whether a command line asks for a host to be forwarded to the shared service. */
export function isForwarder(argv: readonly string[]): boolean {
  return argv[2] === 'serve' && argv.includes('--shared') && argv.includes('--stdio');
}

/** Loads what serves a host in this process, when there is no other way: a forwarder has none of it in memory. */
type LoadAlone = () => Promise<typeof import('./serve-alone.js')>;

/** Serves the host of this process through the shared service; `false` when it must be served here. */
export async function forwardHost(streams: NodeJS.Process, loadAlone: LoadAlone): Promise<boolean> {
  const { argv, execPath, execArgv, env } = streams;
  const options = readForwardOptions({ argv, execPath, execArgv, env, cwd: streams.cwd() });
  return options !== undefined && forward(options, streams, loadAlone);
}

/** Serves the host on the other end of this process through the shared service; `false` when there is no service and none can be started. */
async function forward(options: ForwardOptions, streams: NodeJS.Process, loadAlone: LoadAlone): Promise<boolean> {
  const { place, wish, service } = options;
  const clock = systemClock;
  const note = (text: string): void => void streams.stderr.write(`toolscout: ${text}\n`);
  const reach = (generation: number) => reachService(place, { ...wish, generation }, { clock, service });

  const first = await reach(0).catch((thrown: unknown) => {
    note(`${messageOf(thrown)} This host is served by a process of its own.`);
    return undefined;
  });
  if (!first) return false;

  let isHeld = false;
  const hold = (held: boolean): void => {
    isHeld = held;
    if (held) streams.stdin.pause();
    else streams.stdin.resume();
  };
  let quickEnds = 0;
  let since = clock.monotonic();
  const relay = createRelay({
    hold,
    toHost: (lines) => void streams.stdout.write(lines),
    async connect(generation, events) {
      quickEnds = clock.monotonic() - since > LASTING_MS ? 1 : quickEnds + 1;
      since = clock.monotonic();
      try {
        if (quickEnds > MAX_SERVICES)
          throw new Error(`The shared service ended ${MAX_SERVICES} times within a minute.`);
        return linkOver((await reach(generation)).socket, events, hold);
      } catch (thrown) {
        note(`${messageOf(thrown)} This host is served by a process of its own from now on.`);
        const { serveAlone } = await loadAlone();
        return serveAlone(options, events, streams);
      }
    },
  });
  relay.begin((events) => linkOver(first.socket, events, hold));

  const leave = (code: number): void => {
    relay.close();
    streams.exit(code);
  };
  const lines = createByteLines(2 * LIMITS.lineBytes, (line) => relay.fromHost(line));
  streams.stdin.on('data', (chunk: Buffer) => {
    if (!lines.take(chunk)) {
      note(`The host sent a line of more than ${2 * LIMITS.lineBytes} bytes.`);
      leave(1);
    }
    // Reading on would undo a pause that the line itself has brought about.
    if (isHeld) streams.stdin.pause();
  });
  streams.stdin.once('end', () => leave(0));
  streams.stdin.once('error', () => leave(0));
  streams.stdout.once('error', () => leave(0));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) streams.once(signal, () => leave(0));
  relay.ended.catch((thrown: unknown) => {
    note(messageOf(thrown));
    leave(1);
  });
  return true;
}
