import type { Client } from 'pg';
import type { Clock, Timer } from '../../kernel/clock.js';
import { createEmitter } from '../../kernel/async/emitter.js';
import { messageOf } from '../../kernel/errors.js';
import type { Log } from '../../kernel/log.js';
import { endConnection } from './end-connection.js';

/** How often the versions are compared without announcements of the database, and with them. */
const POLL_MS = 400;
const SAFETY_POLL_MS = 5000;

/** How long a connection for announcements may take to answer before it counts as dead. */
const CHECK_MS = 1000;

/** Pause before a lost connection for announcements is opened again. */
const RECONNECT_MS = 2000;

/** What the watch looks at. */
export interface ChangeSource {
  /** The version of every space that was ever written. */
  versions(): Promise<ReadonlyMap<string, number>>;
  /** A connection for announcements. */
  connect(): Promise<Client>;
  /** The channel on which changes are announced. */
  readonly channel: string;
  /** Names this process in announcements. */
  readonly writer: string;
}

/** Tells listeners which spaces other processes changed. */
export interface ChangeWatch {
  on(listener: (space: string) => void): () => void;
  /** Runs a write of our own; it answers the new version of the space, or `undefined` when it changed nothing. */
  writing<Value>(space: string, write: () => Promise<{ value: Value; version?: number }>): Promise<Value>;
  /** Looks now: the database was away. */
  look(): void;
  /** A reading of this space failed, or was answered from memory: who follows the space is told once more. */
  doubt(space: string): void;
  /** Whether changes are announced; otherwise the watch polls. */
  readonly isListening: boolean;
  stop(): Promise<void>;
}

/**
 * A watch that works only while it has a listener. Announcements (`LISTEN`) need a connection of their own that stays the same, which
 * a pooler does not give: the process id of the connection is then not the one that the database names, and the watch only polls.
 */
export function createChangeWatch(
  source: ChangeSource,
  deps: {
    readonly clock: Clock;
    readonly log: Log;
    readonly readName: (index: string) => string | undefined;
    /** The versions when the store was opened, before the first read: every later change is one to tell. */
    readonly baseline: ReadonlyMap<string, number>;
  },
): ChangeWatch {
  const { clock, log, readName } = deps;
  const emitter = createEmitter<string>((thrown) => log.error('store.listener-failed', { error: messageOf(thrown) }));
  const writes = new Map<string, number>();
  const known = new Map(deps.baseline);
  /** Versions that this process wrote after one of another process that it has not seen yet. */
  const ahead = new Map<string, Set<number>>();
  /** Spaces that moved on since the versions were last asked for: the answer may be older than what is known. */
  const overtaken = new Set<string>();
  /** Spaces that were being written when their versions were compared. */
  const postponed = new Set<string>();
  const doubted = new Set<string>();
  let listeners = 0;
  let timer: Timer | undefined;
  let looking: Promise<void> | undefined;
  let isWanted = false;
  let client: Client | undefined;
  let connecting: Promise<void> | undefined;
  let isPooled = false;
  let connectAt = 0;
  let stopped = false;

  const advance = (space: string, to: number): void => {
    let version = to;
    while (ahead.get(space)?.delete(version + 1)) version += 1;
    known.set(space, version);
    overtaken.add(space);
  };
  const compareOne = (space: string, version: number | undefined): void => {
    const before = known.get(space);
    if (version === before && !doubted.has(space)) return;
    // What is being written now may be in these versions already.
    if (writes.has(space)) return void postponed.add(space);
    if ((version ?? 0) < (before ?? 0) && overtaken.has(space)) return;
    doubted.delete(space);
    if (version !== undefined && version > (before ?? 0)) advance(space, version);
    else {
      // The same once more, or a database that was put back to an older state.
      ahead.delete(space);
      if (version === undefined) known.delete(space);
      else known.set(space, version);
    }
    emitter.emit(space);
  };
  const compare = async (): Promise<void> => {
    overtaken.clear();
    const versions = await source.versions();
    for (const space of new Set([...known.keys(), ...versions.keys(), ...doubted])) {
      compareOne(space, versions.get(space));
    }
  };
  const lookOnce = async (): Promise<void> => {
    try {
      isWanted = false;
      await compare();
      void check();
      await listen();
    } catch (thrown) {
      log.debug('store.poll-failed', { error: messageOf(thrown) });
    } finally {
      looking = undefined;
      // What was asked for meanwhile may be newer than what was read.
      if (isWanted) look();
      else lookLater();
    }
  };
  const lookLater = (): void => {
    const isCalm = client !== undefined && doubted.size === 0;
    timer?.cancel();
    if (!stopped && listeners > 0) timer = clock.after(isCalm ? SAFETY_POLL_MS : POLL_MS, look);
  };
  const look = (): void => {
    if (stopped || listeners === 0) return;
    timer?.cancel();
    isWanted = true;
    looking ??= lookOnce();
  };
  /** Gives up the connection for announcements when it is dead: a network may drop it without telling either end. */
  const check = async (): Promise<void> => {
    const old = client;
    if (!old) return;
    const late = clock.after(CHECK_MS, () => drop(old));
    await old.query('select 1').catch(() => drop(old));
    late.cancel();
  };
  const drop = (old: Client): void => {
    if (client !== old) return;
    client = undefined;
    void endConnection(old, clock);
    look();
  };

  const hear = (payload: string | undefined): void => {
    const [writer, version, index] = /^(\S+) (\d+) (.*)$/s.exec(payload ?? '')?.slice(1) ?? [];
    if (index === undefined || writer === source.writer) return;
    const space = readName(index);
    // A long name stands there as its hash: the versions tell which it is.
    if (space === undefined) return look();
    if ((known.get(space) ?? 0) >= Number(version)) return;
    advance(space, Number(version));
    emitter.emit(space);
  };
  const open = async (): Promise<void> => {
    const fresh = await source.connect();
    try {
      const { rows } = await fresh.query<{ pid: number }>('select pg_backend_pid() as pid');
      isPooled = rows[0]?.pid !== (fresh as unknown as { processID?: number }).processID;
      if (isPooled || stopped) {
        await endConnection(fresh, clock);
        if (isPooled) log.info('store.polling', { reason: 'a pooler stands before the database', everyMs: POLL_MS });
        return;
      }
      fresh.on('notification', ({ payload }) => hear(payload));
      fresh.on('end', () => drop(fresh));
      await fresh.query(`listen ${source.channel}`);
      client = fresh;
      // What happened before it listened was not announced here.
      await compare();
    } catch (thrown) {
      client = undefined;
      await endConnection(fresh, clock);
      throw thrown;
    }
  };
  const listen = async (): Promise<void> => {
    if (client || isPooled || stopped || clock.monotonic() < connectAt) return;
    connectAt = clock.monotonic() + RECONNECT_MS;
    await (connecting ??= open().finally(() => (connecting = undefined)));
  };
  const idle = async (): Promise<void> => {
    timer?.cancel();
    const old = client;
    client = undefined;
    if (old) await endConnection(old, clock);
  };

  return {
    on(listener) {
      listeners += 1;
      if (listeners === 1) look();
      const off = emitter.on((space) => listener(space));
      let on = true;
      return () => {
        if (!on) return;
        on = false;
        off();
        listeners -= 1;
        if (listeners === 0) void idle();
      };
    },
    async writing(space, write) {
      writes.set(space, (writes.get(space) ?? 0) + 1);
      let isDone = false;
      try {
        const { value, version } = await write();
        isDone = true;
        if (version === undefined) return value;
        // A gap means that another process wrote in between, which was not announced yet.
        if (version === (known.get(space) ?? 0) + 1) advance(space, version);
        else if (version > (known.get(space) ?? 0)) {
          ahead.set(space, (ahead.get(space) ?? new Set()).add(version));
          overtaken.add(space);
        }
        return value;
      } finally {
        const left = writes.get(space)! - 1;
        if (left === 0) writes.delete(space);
        else writes.set(space, left);
        // It may have been written all the same, and announcements of our own are not heard.
        if (!isDone || (left === 0 && postponed.delete(space))) look();
      }
    },
    look,
    doubt(space) {
      const isFirst = doubted.size === 0;
      doubted.add(space);
      if (isFirst && !looking) lookLater();
    },
    get isListening() {
      return client !== undefined;
    },
    async stop() {
      stopped = true;
      await idle();
      await looking;
      await connecting?.catch(() => undefined);
      await idle();
    },
  };
}
