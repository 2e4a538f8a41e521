import { Canceller } from '../kernel/async/cancel.js';
import type { Clock, Timer } from '../kernel/clock.js';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import { isAhead } from '../kernel/expiry.js';
import { addressOf } from '../kernel/ids.js';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import type { Call } from '../model/call.js';
import type { ConfirmConfig } from '../model/confirm-config.js';
import { offers } from '../model/host.js';
import { ONCE_DAYS, scopeOf, type ConfirmRule, type PendingCall } from '../model/pending-call.js';
import type { Store } from '../model/store.js';
import { duration } from './duration.js';
import { createPasses, isPass } from './passes.js';
import { createPendingCalls, type PendingCalls, type Standing } from './pending-calls.js';
import { callToConfirm, questionFor, readAnswer } from './question.js';
import { bindCall, toolBinding, type AskedCall, type ConfirmSubject } from './subject.js';
import type { AskWebhook } from './webhook.js';

/** A call that may be sent, or a question that its host must answer first by calling again. */
export type Clearance =
  | { readonly question: JsonObject }
  | {
      /** The call without what was meant for toolscout. */
      readonly call: Call;
      /** The result as the host gets it: where the server asks something, the next round needs no new confirmation. */
      carry(result: JsonObject): Promise<JsonObject>;
    };

/** An answer to a question, or a question, for the audit log. */
export interface ConfirmNote {
  readonly decision: 'asked' | 'approved' | 'rejected' | 'unanswered';
  /** Who answered, or whose host did. */
  readonly by: string;
  readonly via: 'host' | 'operator' | 'webhook';
  readonly asked: AskedCall;
  readonly id?: string;
  readonly reason?: string;
}

type OnAsking = (isOpen: boolean) => void;

/** Asks before a call is sent (SEC-11). */
export interface Confirmer {
  readonly pending: PendingCalls;
  /** Whether this call needs a confirmation. */
  needed(subject: ConfirmSubject): boolean;
  /**
   * Gets the confirmation of a call that needs one. `onAsking` is told `true` when the host or the webhook is asked, `false` when
   * it has answered.
   *
   * @throws ToolscoutError `CONFIRMATION_REQUIRED` when the question is pending and the call can be repeated later,
   * `CONFIRMATION_REJECTED` when the answer was no.
   */
  clear(subject: ConfirmSubject, onAsking?: OnAsking): Promise<Clearance>;
}

/** What asking needs of the world. */
export interface ConfirmerDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: () => ConfirmConfig;
  readonly redact: (value: JsonValue, server: string) => JsonValue;
  /** Whether a JMESPath expression selects something true in the arguments; throws when the expression fails. */
  readonly selects: (expression: string, args: JsonObject) => boolean;
  /** Writes to the audit log; durable when it resolves. */
  readonly note: (note: ConfirmNote) => Promise<void>;
  readonly webhook: AskWebhook;
}

const ONCE_MS = ONCE_DAYS * 86_400_000;
const ONCE = 'confirmed-tools';
/** How often a host gets progress for a waiting call, so that it does not give up. */
const TELL_MS = 10_000;
/** The name of the question among those of a round. */
const KEY = 'toolscout-confirm';
/** When an agent may check again for a decision. */
const LOOK_AGAIN_MS = 10_000;

const NO_RULE: ConfirmRule = { ask: true, reason: 'a rule that is gone' };

/** A confirmer over a store. */
export function createConfirmer(deps: ConfirmerDeps): Confirmer {
  const { store, clock, log } = deps;
  const pendingMs = (): number => deps.config().pendingMs;
  const passes = createPasses(deps);
  const pending = createPendingCalls({ store, clock, pendingMs, redact: deps.redact });

  const isAsking = ({ call, tool }: ConfirmSubject): boolean => {
    const ask = tool.confirm?.ask;
    if (ask === undefined || typeof ask !== 'object') return ask !== undefined;
    try {
      return deps.selects(ask.when, call.arguments);
    } catch (thrown) {
      // What cannot be judged is asked about.
      log.warn('confirm.when', { server: tool.server, tool: tool.name, error: messageOf(thrown) });
      return true;
    }
  };

  const isKnown = async (asked: AskedCall): Promise<boolean> => {
    if (scopeOf(asked.rule) !== 'tool') return false;
    const entry = await store.get(ONCE, toolBinding(asked));
    if (entry === undefined || entry.damaged || isAhead(entry.storedAt, clock.now())) return false;
    return (entry.expiresAt ?? 0) > clock.now();
  };

  const remember = async (asked: AskedCall): Promise<void> => {
    if (scopeOf(asked.rule) !== 'tool') return;
    await store.put(ONCE, toolBinding(asked), { at: clock.now() }, { expiresAt: clock.now() + ONCE_MS });
  };

  const cleared = (asked: AskedCall, call: Call): Clearance => ({
    call,
    async carry(result) {
      if (result['resultType'] !== 'input_required') return result;
      const { requestState } = result;
      const inner = typeof requestState === 'string' ? requestState : undefined;
      const owner = call.viewer.principal;
      return { ...result, requestState: await passes.issue('go-on', asked.binding, pendingMs(), { owner, inner }) };
    },
  });

  /** Writes down what a host answered, before anything is done about it. */
  const judge = async (asked: AskedCall, answer: unknown): Promise<'yes' | 'none'> => {
    const verdict = readAnswer(answer);
    const decision = verdict === 'yes' ? 'approved' : verdict === 'no' ? 'rejected' : 'unanswered';
    await deps.note({ decision, by: asked.call.viewer.principal, via: 'host', asked });
    if (verdict === 'no') throw rejected(asked, 'the user rejected it');
    if (verdict === 'yes') await remember(asked);
    return verdict;
  };

  /** A modern host came back: with the answer, or to go on with a call that was confirmed before. */
  const resume = async (asked: AskedCall): Promise<Clearance | undefined> => {
    const { call } = asked;
    const { requestState, inputResponses } = call.resumed ?? {};
    if (requestState === undefined || !isPass(requestState)) return undefined;
    const pass = await passes.take(requestState, asked.binding);
    if (!pass) {
      const message =
        'The requestState is not valid for this call: it has expired, was already used, or belongs to another call.';
      throw new ToolscoutError('CONFIRMATION_REQUIRED', message, {
        suggestion: 'Make the call again without requestState; the user is then asked again.',
        delivered: false,
      });
    }
    // The rule may have gone since the question was asked.
    if (pass.purpose === 'answer' && !isAsking(asked)) return cleared(asked, withoutPass(call));
    if (pass.purpose === 'go-on') {
      const { inner } = pass;
      return cleared(asked, {
        ...call,
        resumed: { ...(inputResponses && { inputResponses }), ...(inner !== undefined && { requestState: inner }) },
      });
    }
    if (!canElicit(asked)) return undefined;
    const answer = isObject(inputResponses) && Object.hasOwn(inputResponses, KEY) ? inputResponses[KEY] : undefined;
    return conclude(asked, answer);
  };

  /** Asks a host of the 2025 era, which answers while the call waits; `undefined` when it could not be asked. */
  const askHost = async (asked: AskedCall): Promise<unknown> => {
    const { call } = asked;
    const stop = new Canceller();
    const onAbort = (): void => stop.abort(call.signal?.reason);
    const message = `Waits for the user's confirmation, at most ${duration(pendingMs())}.`;
    let told = 0;
    let telling: Timer | undefined;
    const tell = (): void => {
      call.onProgress?.({ progress: told++, message });
      telling = clock.after(TELL_MS, tell);
    };
    const limit = clock.after(pendingMs(), () => stop.abort(new Error('no answer in time')), { awaited: true });
    call.signal?.addEventListener('abort', onAbort, { once: true });
    if (call.signal?.aborted) onAbort();
    tell();
    try {
      return await call.host!.request('elicitation/create', questionFor(asked), {
        signal: stop,
        confirms: callToConfirm(asked),
      });
    } catch (thrown) {
      if (call.signal?.aborted) throw unconfirmed(thrown);
      log.warn('confirm.host', { server: asked.server.id, tool: asked.tool.name, error: messageOf(thrown) });
      return undefined;
    } finally {
      limit.cancel();
      telling?.cancel();
      call.signal?.removeEventListener('abort', onAbort);
    }
  };

  const canElicit = ({ call: { host } }: AskedCall): boolean => {
    const { elicit, webhook } = deps.config();
    return elicit && webhook === undefined && host !== undefined && offers(host.capabilities, 'elicitation/create');
  };

  /** Asks the webhook about a pending call and records its answer as the decision of the person that it names. */
  const askWebhook = async (asked: AskedCall, waiting: PendingCall, onAsking: OnAsking): Promise<void> => {
    const answer = await during(onAsking, () => deps.webhook(waiting, deps.config(), asked.call.signal));
    if (!answer) return;
    const { verdict, by, reason } = answer;
    const ruling = { by, ...(reason !== undefined && { reason }), at: clock.now(), via: 'webhook' as const };
    try {
      await pending.decide(waiting.id, verdict, ruling);
      await deps.note({ decision: verdict, by, via: 'webhook', asked, id: waiting.id, ...(reason && { reason }) });
    } catch (thrown) {
      // A person was faster; their decision stands.
      log.info('confirm.webhook', { id: waiting.id, error: messageOf(thrown) });
    }
  };

  /** Puts the call among those that wait, or takes its confirmation. */
  const wait = async (asked: AskedCall, onAsking: OnAsking): Promise<Clearance> => {
    const standing = await ask(asked, onAsking);
    if (standing.state === 'waiting') throw waits(asked, standing.pending, clock.now());
    return settle(asked, standing);
  };

  const ask = async (asked: AskedCall, onAsking: OnAsking): Promise<Standing> => {
    const standing = await pending.ask(asked);
    if (standing.isNew) {
      const { id } = standing.pending;
      await deps.note({ decision: 'asked', by: asked.call.viewer.principal, via: 'operator', asked, id });
      if (deps.config().webhook !== undefined) {
        await askWebhook(asked, standing.pending, onAsking);
        return pending.ask(asked);
      }
    }
    return standing;
  };

  /** Applies a decision that did not come from the host. */
  const settle = async (asked: AskedCall, { state, pending: found }: Standing): Promise<Clearance> => {
    if (state === 'rejected') {
      const { by, reason } = found.ruling!;
      throw rejected(asked, `${by} rejected it${reason === undefined ? '' : `: ${reason}`}`);
    }
    // The rule may have become `once` since a person was asked about one call.
    if (found.scope === 'tool') await remember(asked);
    return cleared(asked, withoutPass(asked.call));
  };

  /** What an administrator has decided about this very call. */
  const decidedFor = async (asked: AskedCall): Promise<Clearance | undefined> => {
    const standing = await pending.settled(asked);
    return standing && settle(asked, standing);
  };

  /** What follows from the answer of a host; `undefined` where it gave none. Its no stands; before its yes stands what was decided meanwhile. */
  const conclude = async (asked: AskedCall, answer: unknown): Promise<Clearance | undefined> => {
    const decided = readAnswer(answer) === 'no' ? undefined : await decidedFor(asked);
    if (decided) return decided;
    return (await judge(asked, answer)) === 'yes' ? cleared(asked, withoutPass(asked.call)) : undefined;
  };

  return {
    pending,
    needed: (subject) => isPass(subject.call.resumed?.requestState ?? '') || isAsking(subject),
    async clear(subject, onAsking = () => undefined) {
      const asked = bindCall(subject, subject.tool.confirm ?? NO_RULE);
      const resumed = await resume(asked);
      if (resumed) return resumed;
      const { call } = asked;
      if (await isKnown(asked)) return cleared(asked, call);
      if (call.resumed?.requestState !== undefined || !canElicit(asked)) return wait(asked, onAsking);
      const settled = await decidedFor(asked);
      if (settled) return settled;
      if (call.host!.era === 'modern') {
        const owner = call.viewer.principal;
        const requestState = await passes.issue('answer', asked.binding, pendingMs(), { owner });
        const inputRequests = { [KEY]: { method: 'elicitation/create', params: questionFor(asked) } };
        return { question: { resultType: 'input_required', inputRequests, requestState } };
      }
      const answer = await during(onAsking, () => askHost(asked));
      // The config may not let the host decide any more.
      const concluded = canElicit(asked) ? await conclude(asked, answer) : undefined;
      return concluded ?? wait(asked, onAsking);
    },
  };
}

async function during<T>(onAsking: OnAsking, ask: () => Promise<T>): Promise<T> {
  onAsking(true);
  try {
    return await ask();
  } finally {
    onAsking(false);
  }
}

/** The call without a pass that was taken: no server is shown one. */
function withoutPass(call: Call): Call {
  return isPass(call.resumed?.requestState ?? '') ? { ...call, resumed: undefined } : call;
}

function unconfirmed(cause: unknown): ToolscoutError {
  const message = 'The call was cancelled before a person confirmed it; nothing was sent to the server.';
  return new ToolscoutError('CANCELLED', message, { delivered: false, cause });
}

function rejected({ server, tool }: AskedCall, why: string): ToolscoutError {
  return new ToolscoutError(
    'CONFIRMATION_REJECTED',
    `"${addressOf(server.id, tool.name)}" was not called, because ${why}.`,
    { delivered: false },
  );
}

function waits({ server, tool }: AskedCall, { id, rule, expiresAt }: PendingCall, now: number): ToolscoutError {
  const left = Math.max(0, expiresAt - now);
  return new ToolscoutError(
    'CONFIRMATION_REQUIRED',
    `"${addressOf(server.id, tool.name)}" was not called yet: it needs a person's confirmation (${rule}). The pending call ${id} expires in ${duration(left)}.`,
    { remedy: { kind: 'confirm-call', id }, retryAfterMs: Math.min(left, LOOK_AGAIN_MS), delivered: false },
  );
}
