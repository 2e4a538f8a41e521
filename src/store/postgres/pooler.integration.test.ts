import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startPostgres, type TestPostgres } from '../../../test/support/postgres.js';
import { systemClock } from '../../kernel/clock.js';
import { createLog } from '../../kernel/log.js';
import type { Store } from '../../model/store.js';
import { readPostgresAddress } from './address.js';
import { openPostgresStore } from './postgres.js';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres.cleanup());

/** Stands between client and database as a pooler does: the process id that clients are given is not one of the database. */
async function startPooler(port: number, heard: string[]): Promise<number> {
  const open = new Set<Socket>();
  const server: Server = createServer((client) => {
    const upstream = createConnection(port, '127.0.0.1');
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => {
        client.destroy();
        upstream.destroy();
      });
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (bytes) => {
      heard.push(bytes.toString('latin1'));
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      // The message BackendKeyData: K, its length of 12, the process id, a secret.
      const at = bytes.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]));
      if (at >= 0) bytes.writeInt32BE(1, at + 5);
      client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

describe('postgres behind a pooler', () => {
  it('STORE-3 changes are asked for, nothing listens on a connection of the pooler, and no statement has a name', async () => {
    const direct = await postgres.newDatabase();
    const heard: string[] = [];
    const port = await startPooler(Number(new URL(direct).port), heard);
    const lines: string[] = [];
    const log = createLog({ level: 'info', now: () => 0, write: (line) => void lines.push(line) });
    const open = async (url: string): Promise<Store> => {
      const store = await openPostgresStore({ address: readPostgresAddress(url), clock: systemClock, log });
      onTestFinished(() => store.close());
      return store;
    };
    const [pooled, other] = [await open(direct.replace(/:\d+\//, `:${port}/`)), await open(direct)];
    const spaces: string[] = [];
    pooled.onChange((space) => spaces.push(space));
    await expect.poll(() => lines.join('')).toContain('store.polling');
    await other.put('theirs', 'k', 1);
    await expect.poll(() => spaces).toEqual(['theirs']);
    expect(await pooled.put('own', 'k', 1)).toBe(true);
    expect(heard.join('').match(/(?<!\w)(?:listen|prepare|declare) \w+|(?<![\w ])set \w+/gi) ?? []).toEqual([]);
    // Parse without a name: P, four bytes of length, an empty name.
    expect(heard.join('').match(/P[^]{4}[^\0]\w*\0(?:select|with|insert)/g) ?? []).toEqual([]);
  });
});
