import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { describeStore } from '../../../test/contract/store-contract.js';
import { startPostgres, type TestPostgres } from '../../../test/support/postgres.js';
import {
  startPgBouncer,
  startTransactionPooler,
  type TransactionPooler,
} from '../../../test/support/transaction-pooler.js';
import { systemClock } from '../../kernel/clock.js';
import { createLog, silentLog } from '../../kernel/log.js';
import type { Store } from '../../model/store.js';
import { readPostgresAddress } from './address.js';
import { openPostgresStore } from './postgres.js';
import { patient } from '../../../test/support/patience.js';

let postgres: TestPostgres;
let pooler: TransactionPooler;
let pooled: string;
let count = 0;
beforeAll(async () => {
  postgres = await startPostgres();
  const direct = await postgres.newDatabase();
  // PgBouncer itself where it is named; otherwise a pooler that hands out connections as it does.
  const program = process.env['TOOLSCOUT_TEST_PGBOUNCER'];
  pooler = program === undefined ? await startTransactionPooler(direct) : await startPgBouncer(program, direct);
  pooled = pooler.address(direct);
}, patient(60_000));
afterAll(async () => {
  await pooler.stop();
  await postgres.cleanup();
});

const openPooled = (place: string): Promise<Store> =>
  openPostgresStore({ address: readPostgresAddress(place), clock: systemClock, log: silentLog });

// Every statement of a store may run on another connection of the database than the one before.
describeStore('postgres behind a pooler in transaction mode', async () => {
  const place = `${pooled}?schema=pooled${++count}`;
  let store = await openPooled(place);
  return {
    store,
    async reopen() {
      await store.close();
      return (store = await openPooled(place));
    },
    cleanup: () => store.close(),
  };
});

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
  it('STORE-3 replicas that share three connections make the tables once, and no update overwrites another', async () => {
    const place = `${pooled}?schema=shared`;
    const stores = await Promise.all(Array.from({ length: 4 }, () => openPooled(place)));
    onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))));
    const raise = async (store: Store): Promise<void> => {
      for (let done = false; !done;) {
        const entry = await store.get('counts', 'k');
        const next = Number(entry?.value ?? 0) + 1;
        done = await store.put('counts', 'k', next, { ifRevision: entry?.revision ?? 0 });
      }
    };
    await Promise.all(stores.flatMap((store) => [raise(store), raise(store), raise(store)]));
    expect((await stores[0]!.get('counts', 'k'))?.value).toBe(12);
    const record = (id: string) => ({ id, time: 1, kind: 'k', principal: 'p', outcome: 'success' as const });
    await Promise.all(stores.map((store, at) => store.append([record(`a${at}`), record(`b${at}`)])));
    expect(await stores[1]!.verifyAudit()).toMatchObject({ ok: true, records: 8 });
    // The connections took turns.
    if (pooler.carried) expect(Math.min(...pooler.carried)).toBeGreaterThan(10);
  });

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
