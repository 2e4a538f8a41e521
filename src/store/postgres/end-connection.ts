import type { Socket } from 'node:net';
import type { Client } from 'pg';
import type { Clock, Timer } from '../../kernel/clock.js';

/** How long the other end may take to close a connection. */
const END_MS = 500;

/** Ends a connection, also one whose other end has vanished: the driver alone would wait for it for hours. */
export async function endConnection(client: Client, clock: Clock): Promise<void> {
  let timer: Timer | undefined;
  const late = new Promise<void>((resolve) => (timer = clock.after(END_MS, resolve, { awaited: true })));
  await Promise.race([client.end().catch(() => undefined), late]);
  timer?.cancel();
  (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
}
