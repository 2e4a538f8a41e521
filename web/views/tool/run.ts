import { signal } from '@preact/signals';
import { api } from '../../api/client.js';
import { ApiError, asApiError } from '../../api/problem.js';
import type { Ask, Json, JsonObject } from '../../api/types.js';

/** How far a call is. */
export type RunState =
  | { readonly step: 'idle' }
  | {
      readonly step: 'running';
      readonly startedAt: number;
      readonly progress: readonly JsonObject[];
      readonly asks: readonly Ask[];
      /** It reported progress since it asked: it does not wait for the answer. */
      readonly isWorking?: boolean;
    }
  | { readonly step: 'done'; readonly ms: number; readonly askedMs: number; readonly answer: JsonObject }
  | {
      readonly step: 'failed';
      readonly ms: number;
      readonly askedMs: number;
      readonly error: ApiError;
      readonly answer?: JsonObject;
    }
  | { readonly step: 'cancelled'; readonly wasSent: boolean };

const MAX_PROGRESS = 50;

/** Whether the call was not sent, because a person is still to say yes. */
export function isUnsent(state: RunState): boolean {
  return state.step === 'failed' && state.error.problem.code === 'CONFIRMATION_REQUIRED';
}

/** Whether a failure is an answer of the server: then it did not wait for the answer to a question. */
function isAnswered({ result }: JsonObject, error: Json): boolean {
  return result !== undefined || (typeof error === 'object' && error !== null && 'upstream' in error);
}

/** One call at a time: what it tells, what it asks, how it ends. */
export function createRun(call: typeof api.call = api.call, now: () => number = () => performance.now()) {
  const state = signal<RunState>({ step: 'idle' });
  let running: AbortController | undefined;
  /** Time in which a question waited for an answer, and since when one waits now. */
  let askedMs = 0;
  let askedAt: number | undefined;
  /** The part of it that counts only if the call got no answer: roots were asked for when the call ended. */
  let endedMs = 0;
  /** Questions whose answer is on its way: the call may end before that is confirmed. */
  let sent = new Set<string>();
  /** Every question of the call; the list of all that wait may still hold one that is over. */
  const asked = new Set<string>();
  /** What the person did about the questions of the server. */
  let actions = new Map<string, string>();
  const keepTime = (asks: readonly Ask[]): void => {
    if (askedAt !== undefined) askedMs += now() - askedAt;
    askedAt = asks.some(({ id }) => !sent.has(id)) ? now() : undefined;
  };
  const setWorking = (isEnd: boolean): void => {
    if (askedAt === undefined) return;
    if (isEnd) endedMs += now() - askedAt;
    askedAt = isEnd ? undefined : now();
  };
  /** A server asks for roots beside its work; to any other question it waits for the answer of a person. */
  const isForPerson = ({ id, kind }: Ask): boolean => kind !== 'roots' && !sent.has(id);
  const setAsks = (asks: readonly Ask[]): void => {
    if (state.value.step !== 'running') return;
    keepTime(asks);
    state.value = { ...state.value, asks };
  };

  const start = async (server: string, tool: string, args: JsonObject): Promise<void> => {
    running?.abort();
    const own = new AbortController();
    running = own;
    const startedAt = now();
    askedMs = 0;
    endedMs = 0;
    askedAt = undefined;
    sent = new Set();
    actions = new Map();
    state.value = { step: 'running', startedAt: Date.now(), progress: [], asks: [] };
    const update = (change: Partial<Extract<RunState, { step: 'running' }>>): void => {
      if (state.value.step === 'running') state.value = { ...state.value, ...change };
    };
    let ended: JsonObject | undefined;
    try {
      await call({ server, tool, arguments: args }, own.signal, (name, data) => {
        if (state.value.step !== 'running') return;
        const { asks } = state.value;
        if (name === 'progress') {
          // While toolscout asks for a confirmation, the server has not got the call: the progress says that a person is asked.
          if (asks.some(({ confirms }) => confirms)) return;
          setWorking(false);
          const isWorking = asks.length > 0;
          update({ progress: [...state.value.progress, data].slice(-MAX_PROGRESS), isWorking });
        } else if (name === 'ask') {
          asked.add(String(data['id']));
          update({ isWorking: false });
          setAsks([...asks, data as unknown as Ask]);
        } else if (name === 'withdrawn') {
          if (data['ended'] === true && !asks.some(isForPerson)) setWorking(true);
          setAsks(asks.filter(({ id }) => id !== data['id']));
        } else if (name === 'result' || name === 'error') ended = data;
      });
      const ms = now() - startedAt;
      keepTime([]);
      if (own.signal.aborted) return;
      const error = ended?.['error'] ?? (ended?.['success'] === false ? ended : undefined);
      if (ended === undefined) throw new Error('the answer ended without a result');
      if (error !== undefined) {
        const { message, detail, suggestion, remedy, code, problems } = error as Record<string, Json>;
        const problem = {
          detail: (message ?? detail) as string,
          suggestion: (suggestion ?? (typeof remedy === 'string' ? remedy : undefined)) as string,
          code: code as never,
          problems: problems as never,
        };
        state.value = {
          step: 'failed',
          ms,
          askedMs: isAnswered(ended, error) ? askedMs : askedMs + endedMs,
          error: new ApiError(422, problem),
          answer: ended,
        };
      } else state.value = { step: 'done', ms, askedMs, answer: ended };
    } catch (thrown) {
      if (own.signal.aborted) return;
      keepTime([]);
      state.value = { step: 'failed', ms: now() - startedAt, askedMs: askedMs + endedMs, error: asApiError(thrown) };
    }
  };
  return {
    state,
    start,
    cancel: () => {
      running?.abort();
      const { value } = state;
      // What toolscout still asks about has not reached the server.
      const wasSent = !(value.step === 'running' && value.asks.some(({ confirms }) => confirms));
      state.value = { step: 'cancelled', wasSent };
    },
    /** The answer to a question is sent, or could not be. */
    answering: (id: string, isSent: boolean, action?: unknown) => {
      if (isSent) sent.add(id);
      else sent.delete(id);
      // The call may end before the answer is confirmed.
      if (isSent && typeof action === 'string') actions.set(id, action);
      else actions.delete(id);
      if (state.value.step === 'running') keepTime(state.value.asks);
    },
    /** Whether this page was asked: then the question is not one of a call made elsewhere. */
    wasAsked: (id: string) => asked.has(id),
    /** How the questions of the server were answered: `accept`, `decline`, `cancel`. */
    actions: (): readonly string[] => [...actions.values()],
    /** Takes a question away that was answered. */
    answered: (id: string) => {
      if (state.value.step === 'running') setAsks(state.value.asks.filter((ask) => ask.id !== id));
    },
  };
}

/** A call and what became of it. */
export type Run = ReturnType<typeof createRun>;
