import { signal, type ReadonlySignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { asApiError, type ApiError } from '../api/problem.js';
import { onLiveEvent, reconnects, type LiveEvent } from './live.js';

/** What was asked of the API: the newest answer, the failure of the last attempt, and whether one is under way. */
export interface Resource<T> {
  readonly data: ReadonlySignal<T | undefined>;
  readonly error: ReadonlySignal<ApiError | undefined>;
  readonly loading: ReadonlySignal<boolean>;
  /** Asks again; what is there stays shown meanwhile. */
  reload(): void;
}

/** The last answers by their key: what is shown of a view that is opened while toolscout is away. */
const lastAnswers = new Map<string, unknown>();
const MAX_ANSWERS = 50;

function remember(key: string, answer: unknown): void {
  lastAnswers.delete(key);
  lastAnswers.set(key, answer);
  if (lastAnswers.size > MAX_ANSWERS) lastAnswers.delete(lastAnswers.keys().next().value!);
}

/** Whether what was known before is still worth showing: toolscout is away or failed, and refused nothing. */
export function isPassing({ isOffline, status }: Pick<ApiError, 'isOffline' | 'status'>): boolean {
  return isOffline || status >= 500;
}

const forgetters: Array<() => void> = [];

/** Calls back when what is remembered must be forgotten. */
export function onForget(forget: () => void): void {
  forgetters.push(forget);
}

/** Forgets all answers: another person may look next. */
export function forgetAnswers(): void {
  lastAnswers.clear();
  for (const forget of forgetters) forget();
}

/** Events come in bursts: one request answers all that arrive within this time. */
const BURST_MS = 150;

/**
 * Asks the API when the component appears, when `key` changes, when the connection is there again, and when an event
 * arrives that `when` accepts. An answer that was overtaken by a newer request is dropped.
 */
export function useResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  when?: (event: LiveEvent) => boolean,
  /** What may change without an event, through another process, is asked again after this time while it is looked at. */
  everyMs?: number,
): Resource<T> {
  const state = useMemo(() => {
    const data = signal<T | undefined>(undefined);
    const error = signal<ApiError | undefined>(undefined);
    const loading = signal(true);
    let running: AbortController | undefined;
    const stop = (): void => running?.abort();
    const settle = async (own: AbortController): Promise<void> => {
      try {
        const answer = await load(own.signal);
        if (own.signal.aborted) return;
        data.value = answer;
        error.value = undefined;
        // What follows no events is asked for one purpose, such as the plan of a change, and must not come back later.
        if (when) remember(key, answer);
      } catch (thrown) {
        if (own.signal.aborted) return;
        const failure = asApiError(thrown);
        if (isPassing(failure) && data.value === undefined) data.value = lastAnswers.get(key) as T | undefined;
        error.value = failure;
      }
      loading.value = false;
    };
    const reload = (): void => {
      stop();
      const own = new AbortController();
      running = own;
      loading.value = true;
      void settle(own);
    };
    return { data, error, loading, reload, stop };
    // A new key is a new question, whatever the identity of `load`.
  }, [key]);

  useEffect(() => {
    state.reload();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stopEvents = onLiveEvent((event) => {
      // What changed between the answer and the beginning of the stream was told to nobody here.
      const isBeginning = event.type === 'hello' && when !== undefined;
      if (!isBeginning && !when?.(event)) return;
      clearTimeout(timer);
      timer = setTimeout(state.reload, BURST_MS);
    });
    const interval = everyMs === undefined ? undefined : setInterval(() => document.hidden || state.reload(), everyMs);
    const seen = reconnects.peek();
    const stopReconnects = reconnects.subscribe((count) => {
      if (count !== seen) state.reload();
    });
    return () => {
      clearTimeout(timer);
      clearInterval(interval);
      stopEvents();
      stopReconnects();
      state.stop();
    };
  }, [state]);
  return state;
}
