import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** What a connection through the proxy suffers. */
export type Toxic =
  | 'none'
  /** Closed as soon as it is made. */
  | 'down'
  /** Reset in the middle of what the server says. */
  | 'reset'
  /** Closed, as if it were over, in the middle of what the server says. */
  | 'cut'
  /** Taken and never answered. */
  | 'black-hole'
  /** The server hears and answers, but nothing of it arrives. */
  | 'half-open'
  /** A byte at a time, without end in any reasonable time. */
  | 'trickle'
  /** Bits of the answer flipped. */
  | 'garbled'
  /** Late, but whole. */
  | 'late'
  /** In pieces of a few bytes, but whole. */
  | 'sliced';

/** A TCP proxy before a server that does to its connections what networks do. */
export interface ChaosProxy {
  /** The address of the server behind it, through it. */
  readonly url: string;
  toxic: Toxic;
  /** Connections that are open. */
  readonly open: number;
  stop(): Promise<void>;
}

/** Bytes of an answer that still arrive before it is reset or cut. */
const ENOUGH = 40;

/** Starts a proxy before the server of an address. */
export async function startChaosProxy(target: string): Promise<ChaosProxy> {
  const { port, pathname } = new URL(target);
  const sockets = new Set<Socket>();

  const pass = async (chunk: Buffer, client: Socket): Promise<void> => {
    switch (proxy.toxic) {
      case 'reset':
        client.write(chunk.subarray(0, ENOUGH));
        client.resetAndDestroy();
        return;
      case 'cut':
        client.end(chunk.subarray(0, ENOUGH));
        return;
      case 'black-hole':
      case 'half-open':
        return;
      case 'trickle':
        for (const byte of chunk) {
          if (client.destroyed) return;
          client.write(Buffer.of(byte));
          await delay(50);
        }
        return;
      case 'garbled':
        client.write(chunk.map((byte, place) => (place % 7 === 3 ? byte ^ 0x15 : byte)));
        return;
      case 'late':
        await delay(100);
        client.write(chunk);
        return;
      case 'sliced':
        for (let at = 0; at < chunk.length && !client.destroyed; at += 5) {
          client.write(chunk.subarray(at, at + 5));
          await delay(0);
        }
        return;
      default:
        client.write(chunk);
    }
  };

  const server = createServer((client) => {
    if (proxy.toxic === 'down') return void client.destroy();
    const upstream = connect(Number(port), '127.0.0.1');
    let turn: Promise<void> = Promise.resolve();
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      // A connection that breaks is what this is for.
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (chunk) => {
      if (proxy.toxic === 'down') client.destroy();
      else if (proxy.toxic !== 'black-hole') upstream.write(chunk);
    });
    upstream.on('data', (chunk: Buffer) => {
      turn = turn.then(() => pass(chunk, client));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const proxy: ChaosProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    toxic: 'none',
    get open() {
      return sockets.size;
    },
    stop() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
  return proxy;
}
