import type { Clock } from '../../kernel/clock.js';
import { toToolscoutError, type ToolscoutError } from '../../kernel/errors.js';
import { isDeeperThan, isObject, type JsonObject } from '../../kernel/json.js';
import type { Log } from '../../kernel/log.js';
import { CALLBACK_METHODS, CallEnded, namedQuestion, offers, type Host, type Screen } from '../../model/host.js';
import { RPC_CODE } from '../../protocol/json-rpc.js';

/** Questions of one server that may be open at once; a flood is refused, not relayed. */
const MAX_OPEN = 32;
/** How long a person may think about a question. */
const PATIENCE_MS = 600_000;

/** What nests deeper cannot be written as JSON without the risk of overflowing the stack. */
const MAX_DEPTH = 1000;

const USER_REJECTED = -1;

/** What relaying the questions of one server needs. */
export interface CallbacksDeps {
  readonly server: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly send: (message: JsonObject) => void;
  /** The call a message is about: the one whose answer stream carried it, else the oldest that runs, a free one first. */
  readonly callOf: (
    stream: number | undefined,
    isFree: (call: number) => boolean,
  ) => { readonly id: number; readonly host?: Host } | undefined;
  /** Called for every request of the server. */
  readonly onQuestion?: () => void;
  /** The server waits for a host: the time limit of the call is paused until `resume`. */
  readonly pause: (call: number) => void;
  readonly resume: (call: number) => void;
  /** The host of a call cannot be asked this; `undefined` when the call is not known. */
  readonly unasked?: (call: number | undefined, method: string) => void;
  /** The host the connection belongs to, for questions outside of any call. */
  readonly owner: Host | undefined;
  /** What rules take out of questions and answers, as they are now. */
  readonly screen?: () => Screen | undefined;
}

/** Questions of one server to the hosts of its calls. */
export interface Callbacks {
  /** The questions that wait for an answer, by their id. */
  readonly open: ReadonlyMap<unknown, unknown>;
  /** Takes a request of the server; `false` leaves it to the protocol client. */
  take(message: JsonObject, stream: number | undefined): boolean;
  /** The server cancelled a request of its own; `false` for an unknown id. */
  withdraw(requestId: unknown): boolean;
  /**
   * Whether this call waits for the answer of a person or a model. A server asks for roots beside its work, and a question that
   * another call may have asked says nothing of this one.
   */
  waitsFor(call: number): boolean;
  /** A call has ended: no host is asked on its behalf any more. */
  ended(call: number): void;
  close(): void;
}

interface Open {
  /** The call it is asked in; on a connection without a stream for each call that is a guess. */
  call: number | undefined;
  readonly method: string;
  readonly isGuess: boolean;
  host: Host;
  stop: AbortController;
  /** Whether the server still waits for the answer. */
  wanted: boolean;
  /** It was taken to the host of another call, because the one it was asked in has ended. */
  moved: boolean;
}

/** The answer of a host that declines. */
function decline(method: string): { result: JsonObject } | { error: JsonObject } {
  if (method === 'roots/list') return { result: { roots: [] } };
  if (method === 'elicitation/create') return { result: { action: 'decline' } };
  return { error: { code: USER_REJECTED, message: 'User rejected sampling request' } };
}

function errorOf(thrown: unknown, method: string): JsonObject {
  const error: ToolscoutError = toToolscoutError(thrown);
  const { code = RPC_CODE.internalError, data: given } = error.upstream ?? {};
  const data = isDeeperThan(given, MAX_DEPTH) ? undefined : given;
  const message = error.upstream ? error.message : `The host did not answer ${method}.`;
  return { code, message, ...(data !== undefined && { data: data as JsonObject }) };
}

/** Relays what a server asks to the host of the call it asks it in (META-6). */
export function createCallbacks(deps: CallbacksDeps): Callbacks {
  const { server, clock, log } = deps;
  const open = new Map<unknown, Open>();

  const reply = (id: unknown, answer: { result: JsonObject } | { error: JsonObject }): void =>
    deps.send({ jsonrpc: '2.0', id: id as string, ...answer });

  /** The server no longer waits for the answer. */
  const resume = (entry: Open): void => {
    if (entry.call !== undefined) deps.resume(entry.call);
    entry.call = undefined;
  };

  const ask = async (id: unknown, entry: Open, method: string, params: JsonObject | undefined): Promise<void> => {
    const timer = clock.after(PATIENCE_MS, () => entry.stop.abort(new Error('no answer from the host')));
    const screen = deps.screen?.();
    let answer: { result: JsonObject } | { error: JsonObject } | undefined;
    while (!answer) {
      const { host, stop } = entry;
      try {
        const shown = params && screen ? screen.question(params) : params;
        const named = shown && namedQuestion(server, method, shown);
        const result = await host.request(method, named, { signal: stop.signal });
        if (isDeeperThan(result, MAX_DEPTH)) throw new Error('the answer nests too deep');
        answer = { result: screen ? screen.answer(result) : result };
      } catch (thrown) {
        const error = errorOf(thrown, method);
        if (!entry.moved) answer = { error: screen ? screen.refusal(error) : error };
        entry.moved = false;
      }
    }
    resume(entry);
    timer.cancel();
    open.delete(id);
    if (entry.wanted) reply(id, answer);
  };

  /** A call that no question is open for: of several the one that can have asked. */
  const isFree = (call: number): boolean => {
    for (const entry of open.values()) if (entry.call === call) return false;
    return true;
  };

  /** The call an open question is about has ended; if that was a guess, it was about another. */
  const move = (entry: Open): void => {
    const next = entry.isGuess ? deps.callOf(undefined, isFree) : undefined;
    if (!next?.host) return entry.stop.abort(new CallEnded());
    entry.call = next.id;
    deps.pause(next.id);
    // A host that has a session was asked on its behalf; one that has not must be asked in a call that still runs.
    if (next.host.era === 'legacy') return;
    const before = entry.stop;
    entry.host = next.host;
    entry.stop = new AbortController();
    entry.moved = true;
    before.abort(new Error('it is asked in another call'));
  };

  return {
    open,
    take(message, stream) {
      const { id, method } = message;
      if (typeof method !== 'string' || !CALLBACK_METHODS.has(method)) return false;
      deps.onQuestion?.();
      const about = deps.callOf(stream, isFree);
      const host = about ? about.host : method === 'roots/list' ? deps.owner : undefined;
      const params = isObject(message['params']) ? message['params'] : {};
      if (!host) {
        log.debug('connect.declined', { server, method });
        deps.unasked?.(about?.id, method);
        reply(id, decline(method));
      } else if (!offers(host.capabilities, method, params)) {
        log.debug('connect.unoffered', { server, method });
        deps.unasked?.(about?.id, method);
        const message = `The host does not offer ${method}, so the user cannot be asked.`;
        reply(id, { error: { code: RPC_CODE.methodNotFound, message } });
      } else if (isDeeperThan(params, MAX_DEPTH)) {
        reply(id, {
          error: { code: RPC_CODE.invalidParams, message: `${method} nests deeper than ${MAX_DEPTH} levels.` },
        });
      } else if (open.size >= MAX_OPEN || open.has(id)) {
        reply(id, { error: { code: RPC_CODE.serverError, message: 'Too many questions are open.' } });
      } else {
        const isGuess = stream === undefined || about?.id !== stream;
        const stop = new AbortController();
        const entry: Open = { call: about?.id, method, isGuess, host, stop, wanted: true, moved: false };
        open.set(id, entry);
        if (entry.call !== undefined) deps.pause(entry.call);
        void ask(id, entry, method, isObject(message['params']) ? params : undefined);
      }
      return true;
    },
    withdraw(requestId) {
      const entry = open.get(requestId);
      if (!entry) return false;
      // The protocol: a request that was withdrawn is not answered.
      entry.wanted = false;
      // At once: the answer of the call may follow in the same chunk, before the host was told.
      resume(entry);
      entry.stop.abort(new Error('the server withdrew its question'));
      return true;
    },
    waitsFor(call) {
      for (const entry of open.values()) {
        if (entry.call !== call || entry.method === 'roots/list') continue;
        const other = entry.isGuess ? deps.callOf(undefined, (running) => running !== call) : undefined;
        if (other === undefined || other.id === call) return true;
      }
      return false;
    },
    ended(call) {
      for (const entry of open.values()) if (entry.call === call) move(entry);
    },
    close() {
      for (const entry of open.values()) {
        entry.wanted = false;
        entry.stop.abort(new Error('the connection to the server has ended'));
      }
    },
  };
}
