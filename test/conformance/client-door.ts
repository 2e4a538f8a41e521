import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { playClient, type Surroundings } from './client.js';

/** Clients that play at once: the suite starts all of them together, and on a small machine they would all be too slow to be judged. */
const PLACES = 3;

/**
 * The suite starts them all at once and answers none while it does: a server that is so slow to answer is taken for an old one. The
 * first plays when no other has come for this long.
 */
const QUIET_MS = 1000;

/** The client under test, as the suite can start it. */
export interface ClientDoor {
  /** Starts it for one scenario, which is in the environment; the address is the last argument. */
  readonly command: string;
  close(): Promise<void>;
}

/** What the other side wrote until it ended; the socket stays open for the answer. */
async function readAll(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  await once(socket, 'end');
  return text;
}

/**
 * Plays the scenarios in this process, a few at a time: loading the client anew for each of a hundred would take longer than playing them.
 * Each has connections, a store and sign-ins of its own.
 */
export async function openClientDoor(folder: string): Promise<ClientDoor> {
  let playing = 0;
  let lastCame = 0;
  const waiting: Array<() => void> = [];
  const play = async (socket: Socket): Promise<void> => {
    lastCame = performance.now();
    const { url, ...around } = JSON.parse(await readAll(socket)) as Surroundings & { readonly url: string };
    for (let left = QUIET_MS; left > 0; left = lastCame + QUIET_MS - performance.now()) await delay(left);
    if (playing === PLACES) await new Promise<void>((resolve) => waiting.push(resolve));
    else playing++;
    try {
      await playClient(url, around, (line) => void socket.write(line));
      socket.end('\nend: good\n');
    } catch (thrown) {
      socket.end(`${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}\n`);
    } finally {
      const next = waiting.shift();
      if (next) next();
      else playing--;
    }
  };
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    // The suite ended the one who asked; what it did so far has been judged.
    socket.on('error', () => socket.destroy());
    play(socket).catch((thrown: unknown) => socket.destroy(thrown as Error));
  });
  const path = join(folder, 'client.sock');
  server.listen(path);
  await once(server, 'listening');
  const script = fileURLToPath(new URL('ask-client.mjs', import.meta.url));
  return {
    command: [process.execPath, script, path].join(' '),
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}
