import type { Cancel } from '../../kernel/async/cancel.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { sha256 } from '../../kernel/hash.js';
import { newId } from '../../kernel/ids.js';
import type { JsonObject } from '../../kernel/json.js';
import { CallEnded, EVERY_CAPABILITY, questionWithdrawn, type Host } from '../../model/host.js';
import type { Principal } from '../../model/principal.js';

/** Questions of servers, answered by the caller that follows its call as a stream of events. */
export interface Asks {
  /** The other side of one call: what a server asks goes out as an event, and comes back through {@link answer}. */
  hostFor(principal: Principal, send: (event: string, data: unknown) => void): Host;
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

/** Questions of one process; only the principal whose call it belongs to can answer it. */
export function createAsks(): Asks {
  const open = new Map<string, Open>();
  const keyOf = ({ name, session }: Principal): string => JSON.stringify([name, session?.id ?? null]);

  const ask = (
    principal: Principal,
    send: (event: string, data: unknown) => void,
    question: { readonly method: string; readonly params: JsonObject | undefined; readonly signal?: Cancel },
  ): Promise<JsonObject> =>
    new Promise((resolve, reject) => {
      const { method, params, signal } = question;
      const owner = keyOf(principal);
      const mine = [...open.values()].filter((each) => each.principal === owner).length;
      if (signal?.aborted) return reject(questionWithdrawn());
      if (mine >= MAX_OPEN) {
        const message = `${MAX_OPEN} questions to this caller are open already; the next was not asked.`;
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
      };
      const withdraw = (): void => {
        leave();
        send('withdrawn', { id, ...(signal?.reason instanceof CallEnded && { ended: true }) });
        reject(questionWithdrawn());
      };
      signal?.addEventListener('abort', withdraw, { once: true });
      open.set(id, {
        principal: owner,
        resolve(result) {
          leave();
          resolve(result);
        },
        reject(error) {
          leave();
          reject(error);
        },
      });
      send('ask', { id, kind: KINDS[method] ?? method, method, params: params ?? {} });
    });

  return {
    hostFor: (principal, send) => ({
      // One connection for all calls of one principal: a server that is started for a person is started once.
      id: `http:${sha256(keyOf(principal))}`,
      era: 'legacy',
      capabilities: EVERY_CAPABILITY,
      request: (method, params, options) => ask(principal, send, { method, params, ...options }),
      notify(method, params) {
        if (method === 'notifications/message') send('log', params ?? {});
      },
    }),

    answer(id, principal, given) {
      const waiting = open.get(id);
      // The same error for a question that waits for another caller.
      if (waiting?.principal !== keyOf(principal)) {
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
      waiting.reject(new ToolscoutError('TOOL_EXECUTION_ERROR', message, { upstream: { code: REFUSED, message } }));
    },
  };
}
