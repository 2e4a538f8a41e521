import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';

/** A pooler as PgBouncer is one in transaction mode: a client has a connection of the database for one transaction, then any other. */
export interface TransactionPooler {
  /** The same database, through the pooler. */
  address(direct: string): string;
  /** How many transactions each connection of the database has carried, where that is known. */
  readonly carried?: readonly number[];
  stop(): Promise<void>;
}

interface Backend {
  readonly socket: Socket;
  readonly at: number;
  client: Socket | undefined;
  rest: Buffer;
}

/** Messages of the database in a stream of bytes: a letter, a length that counts itself, a body. */
function takeMessages(bytes: Buffer, onMessage: (type: string, body: Buffer) => void): Buffer {
  let at = 0;
  while (bytes.length - at >= 5 && bytes.length - at >= 1 + bytes.readInt32BE(at + 1)) {
    const end = at + 1 + bytes.readInt32BE(at + 1);
    onMessage(String.fromCharCode(bytes[at]!), bytes.subarray(at + 5, end));
    at = end;
  }
  return bytes.subarray(at);
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const pair = (name: string, value: string): Buffer => message('S', Buffer.from(`${name}\0${value}\0`));

/** What every client is told: it is in, and its process has an id that the database does not know. */
const WELCOME = Buffer.concat([
  message('R', Buffer.from([0, 0, 0, 0])),
  pair('server_version', '18.4'),
  pair('client_encoding', 'UTF8'),
  message('K', Buffer.from([0, 0, 0, 1, 0, 0, 0, 1])),
  message('Z', Buffer.from('I')),
]);

/** Starts a pooler over a few connections to one database. They are given out in turn, so that no client keeps one. */
export async function startTransactionPooler(direct: string, connections = 3): Promise<TransactionPooler> {
  const clients = new Set<Socket>();
  const waiting: Array<{ readonly client: Socket; bytes: Buffer[] }> = [];
  const carried = Array.from({ length: connections }, () => 0);
  const free: Backend[] = [];
  const owner = new Map<Socket, Backend>();

  const give = (backend: Backend, client: Socket, bytes: readonly Buffer[]): void => {
    backend.client = client;
    owner.set(client, backend);
    for (const chunk of bytes) backend.socket.write(chunk);
  };
  const release = (backend: Backend): void => {
    if (backend.client) owner.delete(backend.client);
    backend.client = undefined;
    carried[backend.at]! += 1;
    const next = waiting.shift();
    if (next) give(backend, next.client, next.bytes);
    else free.push(backend);
  };
  const backends = await Promise.all(
    carried.map(async (_, at): Promise<Backend> => {
      const login = new Client({ connectionString: direct });
      await login.connect();
      // Signed in by the driver; from here on its socket carries what the clients say.
      const { stream: socket } = (login as unknown as { connection: { stream: Socket } }).connection;
      socket.removeAllListeners('data').removeAllListeners('close').removeAllListeners('error');
      socket.on('error', () => undefined);
      const backend: Backend = { socket, at, client: undefined, rest: Buffer.alloc(0) };
      socket.on('data', (bytes: Buffer) => {
        backend.client?.write(bytes);
        let isOver = false;
        backend.rest = takeMessages(Buffer.concat([backend.rest, bytes]), (type, body) => {
          // Ready for a query and in no transaction.
          if (type === 'Z') isOver = body.toString('latin1') === 'I';
        });
        if (isOver && backend.rest.length === 0) release(backend);
      });
      return backend;
    }),
  );
  free.push(...backends);

  const forward = (client: Socket, bytes: Buffer): void => {
    const backend = owner.get(client);
    const queued = waiting.find((each) => each.client === client);
    if (backend) backend.socket.write(bytes);
    else if (queued) queued.bytes.push(bytes);
    else {
      const idle = free.shift();
      if (idle) give(idle, client, [bytes]);
      else waiting.push({ client, bytes: [bytes] });
    }
  };
  const server = createServer((client) => {
    clients.add(client);
    client.on('error', () => undefined);
    client.on('close', () => {
      clients.delete(client);
      // Whoever leaves in the middle of a transaction must not keep its connection.
      owner.get(client)?.socket.write(message('Q', Buffer.from('rollback\0')));
    });
    let isIn = false;
    client.on('data', (bytes) => {
      if (isIn && bytes[0] === 'X'.charCodeAt(0)) client.end();
      else if (isIn) forward(client, bytes);
      else {
        isIn = true;
        client.write(WELCOME);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: (url) => url.replace(/:\d+\//, `:${port}/`),
    carried,
    async stop() {
      for (const client of clients) client.destroy();
      for (const { socket } of backends) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts PgBouncer itself, where its program is at hand. */
export async function startPgBouncer(program: string, direct: string, connections = 3): Promise<TransactionPooler> {
  const folder = await mkdtemp(join(tmpdir(), 'toolscout-pgbouncer-'));
  await chmod(folder, 0o755);
  const { hostname, port: behind, username, password } = new URL(direct);
  const port = await freePort();
  const config = join(folder, 'pgbouncer.ini');
  await writeFile(
    config,
    `[databases]
* = host=${hostname} port=${behind} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${connections}
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
`,
  );
  // It does not run as root.
  const user = userInfo().uid === 0 ? ['-u', 'nobody'] : [];
  const child = spawn(program, [...user, config], { stdio: 'ignore' });
  const failed = once(child, 'error').then(([thrown]) => {
    throw new Error(`Cannot start "${program}": install PgBouncer, or unset TOOLSCOUT_TEST_PGBOUNCER`, {
      cause: thrown,
    });
  });
  failed.catch(() => undefined);
  const isUp = async (): Promise<boolean> => {
    const socket = connect(port, '127.0.0.1');
    const up = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    return up;
  };
  for (let tries = 0; !(await Promise.race([isUp(), failed])); tries++) {
    if (tries === 100) throw new Error(`PgBouncer did not listen on port ${port}; see its config ${config}`);
    await delay(50);
  }
  return {
    address: (url) => url.replace(/:\d+\//, `:${port}/`),
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
