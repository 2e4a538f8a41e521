import { Canceller, type Cancel } from '../kernel/async/cancel.js';
import { toToolscoutError, type ToolscoutError } from '../kernel/errors.js';
import { isObject, type JsonObject } from '../kernel/json.js';
import type { Host } from '../model/host.js';
import { questionsOf, type AskingCall } from './asking-call.js';
import type { LiveCall } from './live-call.js';

/** What a host said to the questions of a script, by the keys of the questions. */
export interface Said {
  readonly responses: JsonObject;
  readonly refusals: ReadonlyMap<string, ToolscoutError>;
}

/**
 * Asks a host of the 2025 era, on its connection, what a suspended script waits for. A question that its server withdraws is withdrawn from
 * the host too. Rejects only when `signal` is aborted.
 */
export async function askOnConnection(
  host: Host,
  asking: readonly AskingCall[],
  live: ReadonlyMap<number, LiveCall>,
  signal: Cancel,
): Promise<Said> {
  const responses: JsonObject = {};
  const refusals = new Map<string, ToolscoutError>();
  const stops = new Map<string, Canceller>();
  const onAbort = (): void => {
    for (const stop of stops.values()) stop.abort(signal.reason);
  };
  const ask = async (key: string, question: JsonObject): Promise<void> => {
    const stop = new Canceller();
    stops.set(key, stop);
    const { method, params } = question;
    try {
      responses[key] = await host.request(String(method), isObject(params) ? params : undefined, { signal: stop });
    } catch (thrown) {
      refusals.set(key, toToolscoutError(thrown));
    }
  };
  const questions = asking.flatMap((call) =>
    Object.entries(questionsOf([call])).flatMap(([key, question]) =>
      isObject(question) ? [{ key, question, call: call.request.id }] : [],
    ),
  );
  for (const [id, call] of live) {
    call.onQuestion = () => {
      const open = new Set([...call.questions.keys()].map((key) => `${id}.${key}`));
      for (const { key, call: owner } of questions) {
        if (owner === id && !open.has(key)) stops.get(key)?.abort(new Error('the question was cancelled'));
      }
    };
  }
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const all = questions.map(({ key, question }) => ask(key, question));
    for (const call of live.values()) call.onQuestion();
    if (signal.aborted) onAbort();
    await Promise.all(all);
  } finally {
    signal.removeEventListener('abort', onAbort);
    for (const call of live.values()) call.onQuestion = () => undefined;
  }
  if (signal.aborted) throw toToolscoutError(signal.reason);
  return { responses, refusals };
}
