import type { JsonObject } from '../kernel/json.js';
import type { CallRequest } from './worker-messages.js';

/** A call that waits for a person, as it is stored. */
export interface AskingCall {
  readonly request: CallRequest;
  /** What is asked, by key. */
  readonly questions: JsonObject;
  /** The state of a modern server, which is asked again with the answers. */
  readonly requestState?: string;
  /** Rounds that the call has had. */
  readonly rounds: number;
  /** It is at its server, in the process that suspended the script. */
  readonly isLive: boolean;
}

/** Prefix of the questions of one call among those of the script. */
function prefixOf(id: number): string {
  return `${id}.`;
}

/** The questions of all calls, by keys that name the call. */
export function questionsOf(asking: readonly AskingCall[]): JsonObject {
  return Object.fromEntries(
    asking.flatMap(({ request, questions }) =>
      Object.entries(questions).map(([key, question]) => [prefixOf(request.id) + key, question]),
    ),
  );
}

/** The refusals of the questions of one call, by their own keys. */
export function refusalsFor<T>(id: number, refusals: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  const prefix = prefixOf(id);
  return new Map(
    [...refusals].flatMap(([key, refusal]) =>
      key.startsWith(prefix) ? [[key.slice(prefix.length), refusal] as const] : [],
    ),
  );
}

/** The answers to the questions of one call, by their own keys; `undefined` when there are none. */
export function responsesFor(id: number, responses: JsonObject): JsonObject | undefined {
  const prefix = prefixOf(id);
  const own = Object.entries(responses).filter(([key]) => key.startsWith(prefix));
  return own.length === 0
    ? undefined
    : Object.fromEntries(own.map(([key, value]) => [key.slice(prefix.length), value]));
}
