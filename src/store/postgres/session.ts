import type { Client, ClientBase, Pool, PoolClient } from 'pg';
import type { Clock, Timer } from '../../kernel/clock.js';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import type { Log } from '../../kernel/log.js';
import type { PostgresAddress } from './address.js';
import { endConnection } from './end-connection.js';
import { isAway, toStoreError, troubleOf } from './error.js';

/** Runs one statement; answers its rows, each an array of its columns. */
export type Query = (sql: string, values?: readonly unknown[]) => Promise<unknown[][]>;

/** Since when the database does not answer, and why. */
export interface Outage {
  /** Wall-clock time. */
  readonly since: number;
  readonly reason: string;
}

/**
 * The work on one database over the life of a store. It uses no state of a connection, so that it also works behind a pooler in
 * transaction mode. When the database is lost it refuses requests at once and tries to reach it from time to time in the background.
 */
export interface Session {
  /** Runs one statement. A statement that must not run `twice` is not repeated when the connection broke in the middle of it. */
  run(act: string, sql: string, values?: readonly unknown[], options?: { readonly twice?: false }): Promise<Result>;
  transaction<Value>(act: string, task: (query: Query) => Promise<Value>): Promise<Value>;
  outage(): Outage | undefined;
  /** Called when the database answers again. */
  onRecovery(listener: () => void): void;
  /** A connection of its own, which the caller ends; for what a pool cannot do. */
  connect(): Promise<Client>;
  /** Refuses everything from now on with this error. */
  refuse(error: ToolscoutError): void;
  close(): Promise<void>;
}

/** The rows of a statement, and how many it changed. */
export interface Result {
  readonly rows: unknown[][];
  readonly count: number;
}

/** What a session needs. */
export interface SessionOptions {
  readonly address: PostgresAddress;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** How long one statement may take. */
  readonly timeoutMs: number;
  /** How long the first connection is tried for. */
  readonly openWaitMs: number;
}

/** Attempts at one statement, as long as connections break at once; a pause before each, doubled from turn to turn. */
const ATTEMPTS = 6;
const FIRST_PAUSE_MS = 10;
/** How long the database may take to answer at all before it counts as lost. */
const PROBE_MS = 1000;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 5000;

/** Connects for the first time and keeps a pool of connections. */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { address, clock, log, random, timeoutMs } = options;
  const { location } = address;
  const { default: pg } = await import('pg');
  const hide = (text: string): string => {
    let shown = text;
    for (const secret of address.secrets) shown = shown.replaceAll(secret, '***');
    return shown;
  };
  const settings = {
    connectionString: address.url,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    keepAlive: true,
  };
  const quietly = (client: ClientBase): void => {
    // The next statement on this connection fails and reports it.
    client.on('error', (thrown) => log.debug('store.connection-lost', { reason: hide(messageOf(thrown)) }));
  };
  const pool: Pool = new pg.Pool({
    ...settings,
    max: address.maxConnections,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
  });
  pool.on('connect', quietly);
  pool.on('error', () => {});

  const listeners = new Set<() => void>();
  let lost: (Outage & { readonly retryAt: number }) | undefined;
  let failures = 0;
  let timer: Timer | undefined;
  let refusal: ToolscoutError | undefined;
  let closing: Promise<void> | undefined;

  const pause = (): number => {
    // Spread, so that the replicas do not all come back in the same moment.
    const ms = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures) * (0.5 + random());
    failures += 1;
    return ms;
  };
  const lose = (thrown: unknown, by: 'statement' | 'look' = 'statement'): void => {
    // Statements that fail at once are one failure: only a look in vain makes the next pause longer.
    if (closing || (lost && by === 'statement')) return;
    const ms = pause();
    const reason = hide(messageOf(thrown)) || troubleOf(thrown);
    if (!lost) log.error('store.lost', { store: location, reason });
    lost = { since: lost?.since ?? clock.now(), reason, retryAt: clock.monotonic() + ms };
    timer?.cancel();
    timer = clock.after(ms, () => void look());
  };
  const look = async (): Promise<void> => {
    try {
      const client = await pool.connect();
      try {
        await client.query('select 1');
        client.release();
      } catch (thrown) {
        client.release(true);
        throw thrown;
      }
    } catch (thrown) {
      lose(thrown, 'look');
      return;
    }
    if (!lost || closing) return;
    log.info('store.recovered', { store: location, afterMs: clock.now() - lost.since });
    lost = undefined;
    failures = 0;
    for (const listener of listeners) listener();
  };
  /** Whether the database answers on a connection of its own: a statement that takes too long does not say that it is away. */
  const answers = async (): Promise<boolean> => {
    const client = new pg.Client({ ...settings, connectionTimeoutMillis: PROBE_MS, query_timeout: PROBE_MS });
    quietly(client);
    try {
      await client.connect();
      await client.query('select 1');
      return true;
    } catch (thrown) {
      log.debug('store.probe-failed', { reason: hide(messageOf(thrown)) });
      return false;
    } finally {
      await endConnection(client, clock);
    }
  };
  const retryAfterMs = (): number =>
    Math.max(FIRST_RETRY_MS, Math.ceil((lost?.retryAt ?? 0) - clock.monotonic()), lost ? 0 : FIRST_RETRY_MS);
  const openOnly = (): void => {
    if (closing)
      throw new ToolscoutError('STORE_ERROR', `The store ${location} is closed.`, {
        suggestion: 'Start toolscout again; in the library, create a new gateway.',
      });
    if (refusal) throw refusal;
    if (!lost) return;
    throw new ToolscoutError('STORE_ERROR', `The store ${location} does not answer: ${lost.reason}.`, {
      suggestion: 'Try again later; toolscout connects again by itself.',
      retryAfterMs: retryAfterMs(),
    });
  };

  /** Takes a connection, and gives it back or ends it. */
  const withClient = async <Value>(task: (client: PoolClient) => Promise<Value>): Promise<Value> => {
    let client: PoolClient;
    try {
      client = await pool.connect();
    } catch (thrown) {
      throw new NotConnected(thrown);
    }
    try {
      const value = await task(client);
      client.release();
      return value;
    } catch (thrown) {
      client.release(troubleOf(thrown) !== 'conflict');
      throw thrown;
    }
  };

  const attempt = async <Value>(
    act: string,
    isRepeatable: () => boolean,
    task: (client: PoolClient) => Promise<Value>,
  ): Promise<Value> => {
    for (let turn = 1; ; turn++) {
      openOnly();
      const since = clock.monotonic();
      try {
        return await withClient(task);
      } catch (thrown) {
        const cause = thrown instanceof NotConnected ? thrown.cause : thrown;
        const trouble = troubleOf(cause);
        // One connection of many was cut: another one, or a new one, may do.
        const isQuick = clock.monotonic() - since < timeoutMs / 2;
        const wasCut = trouble === 'unreachable' && isQuick && !isAway(cause);
        const mayRepeat = trouble === 'conflict' || (wasCut && (thrown instanceof NotConnected || isRepeatable()));
        if (mayRepeat && turn < ATTEMPTS) {
          await new Promise<void>((resolve) =>
            clock.after(FIRST_PAUSE_MS * 2 ** (turn - 1), resolve, { awaited: true }),
          );
          continue;
        }
        const isCut = trouble === 'unreachable' && isRepeatable();
        if (thrown instanceof NotConnected || isCut || (trouble === 'slow' && !(await answers()))) lose(cause);
        const isPassing = trouble !== 'other' && trouble !== 'conflict';
        throw toStoreError(act, location, cause, hide, isPassing ? retryAfterMs() : undefined);
      }
    }
  };

  const session: Session = {
    run: (act, sql, values = [], { twice = true } = {}) =>
      attempt(
        act,
        () => twice,
        async (client) => {
          // Without a name: a statement that is prepared under one belongs to a connection, and a pooler changes those.
          const { rows, rowCount } = await client.query<unknown[]>({
            text: sql,
            values: [...values],
            rowMode: 'array',
          });
          return { rows, count: rowCount ?? 0 };
        },
      ),
    transaction(act, task) {
      // Until then a connection that is cut has rolled back, and the task runs again.
      let isCommitting = false;
      return attempt(
        act,
        () => !isCommitting,
        async (client) => {
          const query: Query = async (sql, values = []) =>
            (await client.query<unknown[]>({ text: sql, values: [...values], rowMode: 'array' })).rows;
          // A replica whose machine is gone must not keep its locks until the network notices.
          await client.query(`begin; set local idle_in_transaction_session_timeout = ${2 * timeoutMs}`);
          try {
            const value = await task(query);
            isCommitting = true;
            await query('commit');
            return value;
          } catch (thrown) {
            // A connection that broke has rolled back by itself.
            await query('rollback').catch(() => undefined);
            throw thrown;
          }
        },
      );
    },
    outage: () => lost && { since: lost.since, reason: lost.reason },
    onRecovery: (listener) => void listeners.add(listener),
    async connect() {
      const client = new pg.Client(settings);
      quietly(client);
      await client.connect();
      return client;
    },
    refuse: (error) => {
      refusal = error;
    },
    close: () =>
      (closing ??= (async () => {
        timer?.cancel();
        await pool.end();
      })()),
  };

  const until = clock.monotonic() + options.openWaitMs;
  for (;;) {
    try {
      await withClient((client) => client.query('select 1'));
      return session;
    } catch (thrown) {
      const cause = thrown instanceof NotConnected ? thrown.cause : thrown;
      const ms = pause();
      if (troubleOf(cause) !== 'unreachable' || clock.monotonic() + ms > until) {
        await session.close();
        throw toStoreError('open', location, cause, hide);
      }
      await new Promise<void>((resolve) => clock.after(ms, resolve, { awaited: true }));
    }
  }
}

/** There was no connection, so nothing can have been done. */
class NotConnected extends Error {
  constructor(cause: unknown) {
    super('not connected', { cause });
  }
}
