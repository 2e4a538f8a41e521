import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP proxy before a PostgreSQL server that loses what a network can lose. */
export interface DatabaseProxy {
  /** The same database, through the proxy. */
  address(direct: string): string;
  /** The database still gets and answers that many further requests; the answers are lost with their connections. */
  loseAnswers(count: number): void;
  /** Nothing arrives any more on the connections that listen for announcements, and nobody is told so. */
  freezeListeners(): void;
  /** Whether connections are ended as soon as they are made; those that are open end at once. */
  isDown: boolean;
  /** Whether the database is not heard any more, on old connections and on new ones. */
  isSilent: boolean;
  /** How many connections listen. */
  readonly listening: number;
  stop(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly database: Socket;
  isListening: boolean;
  isFrozen: boolean;
  /** Whether the last request was a statement: an answer to a greeting is not one to lose. */
  isAsked: boolean;
}

/** Query and Parse: the first bytes of a statement. */
const STATEMENTS = new Set(['Q'.charCodeAt(0), 'P'.charCodeAt(0)]);

/** Starts a proxy before the server of an address. */
export async function startDatabaseProxy(direct: string): Promise<DatabaseProxy> {
  const behind = Number(new URL(direct).port);
  const pairs = new Set<Pair>();
  let toLose = 0;
  let isDown = false;

  const server = createServer((client) => {
    if (isDown) return void client.destroy();
    const database = connect(behind, '127.0.0.1');
    const pair: Pair = { client, database, isListening: false, isFrozen: false, isAsked: false };
    pairs.add(pair);
    const end = (): void => {
      // A frozen connection looks open to its client, also when the database has ended it.
      if (pair.isFrozen && !client.destroyed) return;
      pairs.delete(pair);
      client.destroy();
      database.destroy();
    };
    for (const socket of [client, database]) socket.on('error', end).on('close', end);
    client.on('data', (bytes) => {
      if (pair.isFrozen) return;
      pair.isAsked = STATEMENTS.has(bytes[0]!);
      if (bytes.includes('listen toolscout_')) pair.isListening = true;
      database.write(bytes);
    });
    database.on('data', (bytes: Buffer) => {
      if (pair.isFrozen || proxy.isSilent) return;
      if (toLose > 0 && pair.isAsked && !pair.isListening) {
        toLose -= 1;
        end();
      } else client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const endAll = (): void => {
    for (const { client, database } of pairs) {
      client.destroy();
      database.destroy();
    }
  };
  const proxy: DatabaseProxy = {
    address: (url) => url.replace(/:\d+\//, `:${port}/`),
    isSilent: false,
    loseAnswers: (count) => void (toLose = count),
    freezeListeners() {
      for (const pair of pairs) if (pair.isListening) pair.isFrozen = true;
    },
    get isDown() {
      return isDown;
    },
    set isDown(down) {
      isDown = down;
      if (down) endAll();
    },
    get listening() {
      return [...pairs].filter(({ isListening, isFrozen }) => isListening && !isFrozen).length;
    },
    async stop() {
      endAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
