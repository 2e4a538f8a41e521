import type { Cancel } from '../../kernel/async/cancel.js';
import { sleep, type Clock } from '../../kernel/clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { isDeeperThan, isObject, type JsonObject } from '../../kernel/json.js';
import {
  CALLBACK_METHODS,
  namedQuestion,
  namedQuestions,
  offers,
  REPORT_TO_AUTHORS,
  unaskedAdvice,
  type Host,
  type Screen,
} from '../../model/host.js';
import { overdue } from './errors.js';

/** Rounds of one call; a server that asks without end is given up. */
const MAX_ROUNDS = 32;
/** Questions of one round. */
const MAX_QUESTIONS = 32;
/** What nests deeper cannot be written as JSON without the risk of overflowing the stack. */
const MAX_DEPTH = 1000;
/** A server that only asks to be called again is given a moment. */
const PACE_MS = 250;
/** What to do about an answer of the host that cannot be handed on. */
const SIMPLER_ANSWER = 'Make the call again and answer with less nested data.';

/** Whether a modern server asks for something before it goes on. */
function asksForInput(result: JsonObject): boolean {
  return result['resultType'] === 'input_required';
}

/** A call that failed because of what its server asked; other arguments would not help. */
function refused(server: string, what: string, suggestion = REPORT_TO_AUTHORS): ToolscoutError {
  const message = `During the call, the server "${server}" ${what}.`;
  return new ToolscoutError('TOOL_EXECUTION_ERROR', message, { suggestion });
}

/** Refuses what the host did not declare before anything of the round is asked (S8). */
function questionsOf(server: string, asked: JsonObject, host: Host): Array<[string, string, JsonObject | undefined]> {
  const entries = Object.entries(asked);
  if (entries.length > MAX_QUESTIONS) throw refused(server, `asked more than ${MAX_QUESTIONS} questions at once`);
  if (isDeeperThan(asked, MAX_DEPTH))
    throw refused(server, `asked a question that nests deeper than ${MAX_DEPTH} levels`);
  return entries.map(([key, question]) => {
    const method = isObject(question) ? question['method'] : undefined;
    const params = isObject(question) && isObject(question['params']) ? question['params'] : undefined;
    if (typeof method !== 'string' || !CALLBACK_METHODS.has(method))
      throw refused(server, 'sent a request with an unsupported method');
    if (!offers(host.capabilities, method, params))
      throw refused(server, `asked for ${method}, which the host does not offer`, unaskedAdvice(method));
    return [key, method, params];
  });
}

/** What asking the host of a call needs besides the questions. */
interface Asking {
  readonly clock: Clock;
  readonly signal: Cancel | undefined;
  readonly screen: Screen | undefined;
  /** When the call is over at the latest (monotonic). */
  readonly deadline: number | undefined;
}

/** Sends all requests of one round to the host; a single refusal cancels the others. */
async function askHost(
  server: string,
  asked: JsonObject,
  host: Host,
  { signal, screen, clock, deadline }: Asking,
): Promise<JsonObject> {
  const stop = new AbortController();
  const ended = overdue(server, true);
  const timer = deadline === undefined ? undefined : clock.after(deadline - clock.monotonic(), () => stop.abort(ended));
  const onAbort = (): void => stop.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const answers = questionsOf(server, asked, host).map(async ([key, method, params]) => {
      const shown = params && screen ? screen.question(params) : params;
      const named = shown && namedQuestion(server, method, shown);
      const answer = await host.request(method, named, { signal: stop.signal });
      if (isDeeperThan(answer, MAX_DEPTH))
        throw refused(server, 'got an answer from the host that nests too deeply', SIMPLER_ANSWER);
      return [key, screen ? screen.answer(answer) : answer] as const;
    });
    return Object.fromEntries(await Promise.all(answers)) as JsonObject;
  } catch (thrown) {
    if (stop.signal.reason === ended) throw ended;
    stop.abort(thrown);
    throw thrown;
  } finally {
    timer?.cancel();
    signal?.removeEventListener('abort', onAbort);
  }
}

/**
 * A modern server asked for something: sends the request again with what its host answered, for as long as it asks.
 * A modern host, and one that defers questions, is handed the question itself: it answers by calling again.
 */
export async function answerInRounds(
  first: JsonObject,
  send: (params: JsonObject | undefined) => Promise<JsonObject>,
  params: JsonObject | undefined,
  options: {
    readonly server: string;
    readonly clock: Clock;
    readonly host: Host | undefined;
    readonly signal: Cancel | undefined;
    readonly deadline?: number;
    readonly onAsking?: (isOpen: boolean) => void;
    /** What rules take out of questions and answers, as they are now. */
    readonly screen?: () => Screen | undefined;
  },
): Promise<JsonObject> {
  const { server, clock, host, signal } = options;
  let result = first;
  for (let round = 1; asksForInput(result); round++) {
    if (!host) throw refused(server, 'asked for input, but no host is connected that can answer', unaskedAdvice());
    if (host.era === 'modern' || host.defersQuestions) {
      // It answers by calling again; but it is not asked for what it did not declare.
      questionsOf(server, isObject(result['inputRequests']) ? result['inputRequests'] : {}, host);
      return namedQuestions(server, result);
    }
    if (round > MAX_ROUNDS) throw refused(server, `asked for input more than ${MAX_ROUNDS} times`);
    const { inputRequests, requestState } = result;
    const asked = isObject(inputRequests) ? inputRequests : {};
    const isAsking = Object.keys(asked).length > 0;
    if (!isAsking) await sleep(clock, PACE_MS, signal);
    if (isAsking) options.onAsking?.(true);
    const asking = askHost(server, asked, host, {
      signal,
      clock,
      screen: options.screen?.(),
      deadline: options.deadline,
    });
    const inputResponses = await asking.finally(() => isAsking && options.onAsking?.(false));
    result = await send({
      ...params,
      inputResponses,
      ...(typeof requestState === 'string' && { requestState }),
    });
  }
  return result;
}
