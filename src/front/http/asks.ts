import type { Cancel } from '../../kernel/async/cancel.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { sha256 } from '../../kernel/hash.js';
import { newId } from '../../kernel/ids.js';
import type { Clock } from '../../kernel/clock.js';
import type { JsonObject } from '../../kernel/json.js';
import {
  ANSWER_QUESTION,
  CallEnded,
  EVERY_CAPABILITY,
  questionWithdrawn,
  type CallToConfirm,
  type Host,
} from '../../model/host.js';
import type { Principal } from '../../model/principal.js';

/** A question in the middle of a call. */
export interface Ask {
  readonly id: string;
  readonly kind: string;
  readonly method: string;
  readonly params: JsonObject;
  readonly server: string;
  readonly tool: string;
  readonly askedAt: number;
  /** Only for a question of toolscout itself: the call that waits for a yes. */
  readonly confirms?: CallToConfirm;
}

/** Questions of servers, answered by the caller that follows its call as a stream of events. */
export interface Asks {
  /** The other side of one call: what is asked goes out as an event, and comes back through {@link answer}. */
  hostFor(
    principal: Principal,
    about: { readonly server: string; readonly tool: string },
    send: (event: string, data: unknown) => void,
  ): Host;
  /** The questions that wait for this caller, the oldest first: another page or program of the caller may have been asked. */
  list(principal: Principal): Ask[];
  /** Calls the listener when a question to this caller is asked or is over, until the returned function is called. */
  follow(principal: Principal, listener: () => void): () => void;
  /**
   * Answers a question.
   *
   * @throws ToolscoutError `NOT_FOUND` when no such question waits, or it waits for another caller.
   */
  answer(id: string, principal: Principal, given: AskAnswer): void;
}

/** The result that the question asks for, or why there is none. */
export type AskAnswer = { readonly answer: JsonObject } | { readonly refusal: string };

interface Open {
  readonly principal: string;
  readonly ask: Ask;
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: ToolscoutError) => void;
}

/** Questions that may be open at once, for one principal (A43). */
const MAX_OPEN = 64;

/** The code with which a client says that its user declined. */
const REFUSED = -1;

const KINDS: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

interface Question {
  readonly server: string;
  readonly tool: string;
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly signal?: Cancel;
  readonly confirms?: CallToConfirm;
}

/** Questions of one process; only the principal whose call it belongs to can answer it. */
export function createAsks(clock: Clock): Asks {
  const open = new Map<string, Open>();
  const followers = new Map<() => void, string>();
  const keyOf = ({ name, session }: Principal): string => JSON.stringify([name, session?.id ?? null]);
  // The questions of one caller show and decide calls of its servers, so a key with fewer rights of the same name is another caller.
  const ownerOf = (principal: Principal): string => {
    const { scopes, servers } = principal;
    return JSON.stringify([keyOf(principal), [...scopes].toSorted(), servers ? [...servers].toSorted() : null]);
  };
  const tell = (owner: string): void => {
    for (const [listener, own] of followers) if (own === owner) listener();
  };

  const ask = (
    principal: Principal,
    send: (event: string, data: unknown) => void,
    question: Question,
  ): Promise<JsonObject> =>
    new Promise((resolve, reject) => {
      const { method, params = {}, signal, server, tool, confirms } = question;
      const owner = ownerOf(principal);
      const mine = [...open.values()].filter((each) => each.principal === owner).length;
      if (signal?.aborted) return reject(questionWithdrawn());
      if (mine >= MAX_OPEN) {
        const message = `This caller already has ${MAX_OPEN} open questions; the next one was refused.`;
        return reject(
          new ToolscoutError('RATE_LIMITED', message, {
            suggestion: 'Answer the open questions, then make the call again.',
          }),
        );
      }
      const id = newId();
      const leave = (): void => {
        open.delete(id);
        signal?.removeEventListener('abort', withdraw);
        tell(owner);
      };
      const withdraw = (): void => {
        leave();
        send('withdrawn', { id, ...(signal?.reason instanceof CallEnded && { ended: true }) });
        reject(questionWithdrawn());
      };
      signal?.addEventListener('abort', withdraw, { once: true });
      const told: Ask = {
        id,
        kind: KINDS[method] ?? method,
        method,
        params,
        server,
        tool,
        askedAt: clock.now(),
        ...(confirms && { confirms }),
      };
      open.set(id, {
        principal: owner,
        ask: told,
        resolve(result) {
          leave();
          resolve(result);
        },
        reject(error) {
          leave();
          reject(error);
        },
      });
      send('ask', told);
      tell(owner);
    });

  return {
    hostFor: (principal, about, send) => ({
      // One connection for all calls of one principal: a server that is started for a person is started once.
      id: `http:${sha256(keyOf(principal))}`,
      era: 'legacy',
      capabilities: EVERY_CAPABILITY,
      request: (method, params, options) => ask(principal, send, { ...about, method, params, ...options }),
      notify(method, params) {
        if (method === 'notifications/message') send('log', params ?? {});
      },
    }),

    list(principal) {
      const owner = ownerOf(principal);
      return [...open.values()].flatMap((each) => (each.principal === owner ? [each.ask] : []));
    },

    follow(principal, listener) {
      followers.set(listener, ownerOf(principal));
      return () => void followers.delete(listener);
    },

    answer(id, principal, given) {
      const waiting = open.get(id);
      // The same error for a question that waits for another caller.
      if (waiting?.principal !== ownerOf(principal)) {
        throw new ToolscoutError(
          'NOT_FOUND',
          'This question is not open: it was answered, its call has ended, or it never existed.',
          {
            suggestion: 'Make the call again if its result is still needed.',
          },
        );
      }
      if ('answer' in given) return waiting.resolve(given.answer);
      const message = given.refusal;
      const details = { suggestion: ANSWER_QUESTION, upstream: { code: REFUSED, message } };
      waiting.reject(new ToolscoutError('TOOL_EXECUTION_ERROR', message, details));
    },
  };
}
