import { Canceller, type Cancel } from '../kernel/async/cancel.js';
import type { Clock } from '../kernel/clock.js';
import { toToolscoutError, ToolscoutError } from '../kernel/errors.js';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import type { Remedy } from '../kernel/remedy.js';
import type { Progress } from '../model/call.js';
import type { Host } from '../model/host.js';
import type { ScriptBounds, ScriptFailure, ScriptResult } from '../model/script.js';
import type { Store } from '../model/store.js';
import { questionsOf, type AskingCall } from './asking-call.js';
import type { LiveCall } from './live-call.js';
import type { Journal, LastAnswer, RunEnd, RunStart } from './run-types.js';
import type { CallTool } from './script-call.js';
import { failureOfError, failureOfThrown, withEffects } from './script-failure.js';
import { runScript } from './script-run.js';
import { askOnConnection } from './session-questions.js';
import { createSuspendedScripts, type ScriptOwner, type SuspendedScript } from './suspended-scripts.js';
import { createVault } from './vault.js';
import { createWaitingScripts, type WaitingScript } from './waiting-scripts.js';
import { createWorkers, type Workers } from './workers.js';

/** Who runs a script, and within which bounds. */
export interface ScriptRequest {
  readonly owner: ScriptOwner;
  /** The id of the script's audit record. */
  readonly record: string;
  readonly bounds: ScriptBounds;
  /** Runs a call of the script with this audit record. */
  readonly callTool: (record: string) => CallTool;
  readonly host?: Host;
  readonly signal?: Cancel;
  readonly onProgress?: (progress: Progress) => void;
  readonly advise?: (remedy: Remedy) => string;
  /** Whether a call of this tool may have changed something; every one may when absent. */
  readonly mayChange?: (address: string) => boolean;
}

/** What became of a script, and what the audit log keeps of it. */
export interface ScriptOutcome {
  readonly result: ScriptResult;
  readonly script: string;
  readonly record: string;
  readonly seed: readonly number[];
  readonly startedAt: number;
  /** How long it ran without waiting for a person; only of a script that was suspended for a question. */
  readonly elapsedMs?: number;
}

/** Runs scripts of agents (CODE-1 … CODE-9). */
export interface Scripts {
  run(script: string, request: ScriptRequest): Promise<ScriptOutcome>;
  /**
   * Goes on with a suspended script, given the answers of the host. @throws ToolscoutError `INVALID_REQUEST` when there
   * is no such script.
   */
  resume(
    state: string,
    script: string,
    responses: JsonObject,
    request: Omit<ScriptRequest, 'record'>,
  ): Promise<ScriptOutcome>;
  close(): Promise<void>;
}

/** Bytes of a script. */
const MAX_SCRIPT = 256 * 1024;
/** Bytes of JSON that a script may return. */
const OUTPUT_BYTES = 8 * 1024 * 1024;
/** Bytes that a script may print. */
const PRINT_BYTES = 16 * 1024;
/** Calls at servers whose script waits for its host, until the host is given up. */
const LIVE_MS = 600_000;

type About = Pick<SuspendedScript, 'script' | 'record' | 'startedAt' | 'seed'>;

const WENT_ON =
  'This went on with the same script of an earlier call, which waited for the user when toolscout stopped; no call was made again.';

/** A script that is found again. */
function wentOn(found: WaitingScript): WaitingScript {
  return { ...found, suspended: { ...found.suspended, used: { ...found.suspended.used, wentOn: true } } };
}

/** Characters of an answer whose shape is told. */
const MAX_SHOWN = 4 * 1024 * 1024;

/** The shape of the answer of the last call, which may have caused an error. */
function lastGave(last: LastAnswer | undefined, shapeOf: (value: JsonValue) => string): string | undefined {
  if (!last || last.kind === 'error' || last.text.length > MAX_SHOWN) return undefined;
  const value = last.kind === 'text' ? last.text : parsedOr(last.text);
  return `The last answer, of ${last.address}, is ${shapeOf(value)}.`;
}

function parsedOr(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

/** Nothing is loaded or started before the first script. */
export function createScripts(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly workers?: Workers;
  /** Names the keys, types and lengths of a value. */
  readonly shapeOf?: (value: JsonValue) => string;
}): Scripts {
  const { store, clock, workers = createWorkers({ clock }), shapeOf = (value) => typeof value } = deps;
  const suspended = createSuspendedScripts({ store, clock, vault: createVault(store) });
  const waiting = createWaitingScripts({ store, suspended, now: () => clock.now() });
  let isClosing = false;
  /** Calls that are at their servers, by the state of the suspended script. */
  const live = new Map<string, ReadonlyMap<number, LiveCall>>();

  const keepLive = (state: string, calls: ReadonlyMap<number, LiveCall>): void => {
    if (calls.size === 0) return;
    live.set(state, calls);
    clock.after(LIVE_MS, () => {
      if (live.get(state) !== calls) return;
      live.delete(state);
      for (const { cancel } of calls.values()) cancel.abort(new Error('the host did not come back'));
    });
  };

  /** What stops the scripts that run now. */
  const running = new Set<Canceller>();

  /** Does something until it is cancelled or toolscout stops. */
  const stoppable = async <T>(signal: Cancel | undefined, work: (stop: Cancel) => Promise<T>): Promise<T> => {
    const stop = new Canceller();
    const onAbort = (): void => stop.abort(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
    running.add(stop);
    try {
      return await work(stop);
    } finally {
      running.delete(stop);
      signal?.removeEventListener('abort', onAbort);
    }
  };

  const run = (
    start: RunStart,
    request: Omit<ScriptRequest, 'record'>,
    record: string,
    journal?: Journal,
  ): Promise<RunEnd> => {
    const { bounds, host, onProgress, advise } = request;
    return stoppable(request.signal, (signal) =>
      runScript(start, {
        clock,
        workers,
        owner: request.owner.principal,
        bounds: { ...bounds, outputBytes: OUTPUT_BYTES, printBytes: PRINT_BYTES },
        callTool: request.callTool(record),
        signal,
        ...(host && { host }),
        ...(onProgress && { onProgress }),
        ...(advise && { advise }),
        ...(journal && { journal }),
      }),
    );
  };

  /** The result for the caller; a script that waits for a person is stored first. */
  const conclude = async (
    end: RunEnd,
    about: About,
    request: Omit<ScriptRequest, 'record'>,
  ): Promise<ScriptOutcome> => {
    const { owner, host } = request;
    const { calls, printed, done = [] } = end.used;
    const base = { calls, printed, ...(end.used.wentOn && { note: WENT_ON }) };
    const { wasAsked, elapsedMs } = end.used;
    const outcome = (result: ScriptResult): ScriptOutcome => ({ result, ...about, ...(wasAsked && { elapsedMs }) });
    const { mayChange = () => true } = request;
    const failed = (failure: ScriptFailure): ScriptOutcome => {
      const error = withEffects(
        failure,
        done.filter(([address]) => mayChange(address)),
      );
      return outcome({ ...base, success: false, error });
    };
    if (end.kind === 'stopped') return failed(failureOfError(end.error, about.script, end.place));
    if (end.kind === 'suspended') {
      const { image, asking, used } = end;
      try {
        if (host?.era === 'legacy') {
          const kept = await waiting.keep({ ...about, image, asking, used }, owner);
          return await ask(kept, end.live, host, request);
        }
        const state = await suspended.keep({ ...about, image, asking, used }, owner);
        keepLive(state, end.live);
        return outcome({ ...base, success: false, suspended: { state, inputRequests: questionsOf(asking) } });
      } catch (thrown) {
        for (const { cancel } of end.live.values()) cancel.abort(thrown);
        return failed(failureOfError(toToolscoutError(thrown)));
      }
    }
    const { end: said } = end;
    if (said.kind !== 'value') {
      const last = (): string | undefined => lastGave(end.last, shapeOf);
      return failed(failureOfThrown(said.error, about.script, said.kind === 'syntax', last));
    }
    if (said.json === undefined) return outcome({ ...base, success: true });
    return outcome({ ...base, success: true, value: JSON.parse(said.json) as JsonValue });
  };

  /** Asks a host of the 2025 era what a script waits for, and goes on with it. */
  const ask = async (
    kept: WaitingScript,
    calls: ReadonlyMap<number, LiveCall>,
    host: Host,
    request: Omit<ScriptRequest, 'record'>,
  ): Promise<ScriptOutcome> => {
    const { image, asking, used, ...about } = kept.suspended;
    // Answers that a dead process received are recorded, so that they are not asked for again.
    const noted = new Set(kept.journal.noted.map(({ id }) => id));
    // Nor for a call that was at its server in that process: it cannot take an answer any more.
    const isOpen = ({ request: { id }, isLive }: AskingCall): boolean => !noted.has(id) && (!isLive || calls.has(id));
    const open = asking.filter(isOpen);
    let said: Awaited<ReturnType<typeof askOnConnection>>;
    try {
      said = await stoppable(request.signal, (stop) => askOnConnection(host, open, calls, stop));
    } catch (thrown) {
      for (const { cancel } of calls.values()) cancel.abort(thrown);
      // A host that went away gave the script up; a toolscout that stops did not.
      await (isClosing ? kept.release() : kept.forget());
      const error = new ToolscoutError('CANCELLED', 'The script was cancelled.', { cause: thrown });
      return conclude({ kind: 'stopped', error, used }, about, request);
    }
    try {
      const end = await run({ image, asking, used, live: calls, ...said }, request, about.record, kept.journal);
      return await conclude(end, about, request);
    } finally {
      await kept.forget();
    }
  };

  return {
    async run(script, request) {
      const seed = crypto.getRandomValues(new Uint32Array(3));
      const about = { script, record: request.record, startedAt: clock.now(), seed: [...seed] };
      if (Buffer.byteLength(script) > MAX_SCRIPT) {
        const error = new ToolscoutError('SCRIPT_LIMIT_EXCEEDED', `The script is larger than ${MAX_SCRIPT / 1024} kB.`);
        return { ...about, result: { success: false, calls: 0, printed: [], error: failureOfError(error) } };
      }
      const { host, owner } = request;
      const found = host?.era === 'legacy' ? await waiting.find(script, owner) : undefined;
      if (found && host) return ask(wentOn(found), new Map(), host, request);
      const start = { script, seed: [seed[0]!, seed[1]!, seed[2]!] as const };
      const end = await run(start, request, request.record);
      return conclude(end, about, request);
    },
    async resume(state, script, responses, request) {
      const { owner } = request;
      const claimed = await suspended.claim(state, script, owner);
      const { image, asking, used, ...about } = claimed.suspended;
      try {
        const calls = live.get(state) ?? new Map<number, LiveCall>();
        live.delete(state);
        const start = { image, asking, used, responses, live: calls };
        const end = await run(start, request, about.record, claimed.journal);
        return await conclude(end, about, request);
      } finally {
        await claimed.forget();
      }
    },
    async close() {
      isClosing = true;
      for (const stop of running) stop.abort(new Error('toolscout is stopping'));
      for (const calls of live.values()) {
        for (const { cancel } of calls.values()) cancel.abort(new Error('toolscout is stopping'));
      }
      live.clear();
      await workers.close();
    },
  };
}
