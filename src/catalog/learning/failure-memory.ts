import type { Clock } from '../../kernel/clock.js';
import { ERROR_TABLE, messageOf, ToolscoutError, type ErrorCode } from '../../kernel/errors.js';
import { sha256 } from '../../kernel/hash.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import type { Log } from '../../kernel/log.js';
import { readRemedy, writeRemedy } from '../../kernel/stored-remedy.js';
import type { Server } from '../../model/server.js';
import type { Store } from '../../model/store.js';

/** The last failed attempt to learn a server. */
export interface LearnFailure {
  readonly error: ToolscoutError;
  /** Wall-clock time of the attempt. */
  readonly at: number;
  /** Failed attempts in a row. */
  readonly times: number;
  /** True when the attempt did not fail but was stopped, because the process ended before the server answered. */
  readonly interrupted?: boolean;
}

/** Stores why servers could not be learned, so that the next process can use it too. */
export interface FailureMemory {
  /** Reads what the store holds; the answer finds the failure of a server as it is configured now. */
  load(): Promise<(server: Server) => LearnFailure | undefined>;
  note(server: Server, failure: LearnFailure): void;
  /** The server was learned. */
  clear(server: Server): void;
  /** Called after another process noted or cleared a failure. The answer stops it. */
  onChange(listener: () => void): () => void;
  /** Resolves when everything noted so far is stored. */
  settled(): Promise<void>;
}

const SPACE = 'failures';

/** Failures older than this say nothing about a server any more. */
const KEPT_MS = 7 * 86_400_000;

/** Another launch or another credential is another attempt. */
function keyOf({ id, digest }: Server): string {
  return sha256(`${id}\0${digest}`);
}

function read(value: unknown): LearnFailure | undefined {
  if (!isObject(value)) return undefined;
  const { at, times, code, message, suggestion, remedy, interrupted } = value;
  if (typeof at !== 'number' || typeof times !== 'number' || typeof message !== 'string') return undefined;
  if (typeof code !== 'string' || !Object.hasOwn(ERROR_TABLE, code)) return undefined;
  const error = new ToolscoutError(code as ErrorCode, message, {
    delivered: false,
    // Older versions stored only the words.
    remedy: readRemedy(remedy),
    ...(typeof suggestion === 'string' && { suggestion }),
  });
  return { error, at, times, ...(interrupted === true && { interrupted }) };
}

/** The memory over a store. A store that fails costs the memory, nothing else. */
export function createFailureMemory(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}): FailureMemory {
  const { store, clock, log } = deps;
  /** Keys that are stored, as far as is known: a success writes nothing where no failure was. */
  const stored = new Set<string>();
  let writing: Promise<void> = Promise.resolve();

  const write = (server: string, task: () => Promise<unknown>): void => {
    writing = writing
      .then(task)
      .then(() => undefined)
      .catch((thrown: unknown) => log.warn('failures.unsaved', { server, error: messageOf(thrown) }));
  };

  return {
    async load() {
      const found = new Map<string, LearnFailure>();
      try {
        for (const { key, value } of await store.list(SPACE)) {
          const failure = read(value);
          if (failure && clock.now() - failure.at <= KEPT_MS) found.set(key, failure);
          else write('', () => store.delete(SPACE, key));
        }
      } catch (thrown) {
        log.warn('failures.unreadable', { error: messageOf(thrown) });
      }
      stored.clear();
      for (const key of found.keys()) stored.add(key);
      return (server) => found.get(keyOf(server));
    },
    note(server, { error, at, times, interrupted }) {
      const { code, message, suggestion, remedy } = error;
      const failure = { server: server.id, at, times, code, message, suggestion };
      const value: JsonObject = { ...failure, remedy: writeRemedy(remedy) };
      stored.add(keyOf(server));
      write(server.id, () => store.put(SPACE, keyOf(server), interrupted ? { ...value, interrupted } : value));
    },
    clear(server) {
      if (stored.delete(keyOf(server))) write(server.id, () => store.delete(SPACE, keyOf(server)));
    },
    onChange: (listener) =>
      store.onChange((space) => {
        if (space === SPACE) listener();
      }),
    settled: () => writing,
  };
}
