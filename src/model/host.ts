import type { Cancel } from '../kernel/async/cancel.js';
import { ToolscoutError } from '../kernel/errors.js';
import { isObject, type JsonObject } from '../kernel/json.js';
import { oneLine, printable } from '../kernel/text.js';
import type { ConfirmScope } from './pending-call.js';

/** What a server may ask of the host behind a call. */
export const CALLBACK_METHODS: ReadonlySet<string> = new Set([
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
]);

/** What to do about a call that failed because no host could be asked. */
export function unaskedAdvice(method = 'elicitation'): string {
  const feature = method.split('/')[0];
  return `Give the tool what it asks for as arguments, or call it from a host that supports ${feature}.`;
}

/** What to do about a server that asks its host in a way that no host supports. */
export const REPORT_TO_AUTHORS = 'Report it to the authors of the server.';

/** What to do about a call whose question the host or its user refused. */
export const ANSWER_QUESTION = 'Make the call again and answer the question of its server.';

/** The refusal of one more question when `most` are open. */
export function tooManyQuestions(most: number): ToolscoutError {
  const message = `The server already has ${most} open questions; the next one was refused.`;
  return new ToolscoutError('RATE_LIMITED', message, {
    suggestion: 'Answer the open questions, then make the call again.',
  });
}

/** The end of a question whose answer is no longer needed. */
export function questionWithdrawn(): ToolscoutError {
  return new ToolscoutError('CANCELLED', "The server's question was cancelled before it was answered.");
}

/** The reason with which a question is withdrawn when the call that it was asked in has ended. */
export class CallEnded extends Error {
  constructor() {
    super('the call has ended');
  }
}

/** What a question of toolscout itself is about: a person is to confirm a call before it is sent (SEC-11). */
export interface CallToConfirm {
  /** The rule that asks, as one phrase: `rule 2 (pattern "*delete*")`. */
  readonly rule: string;
  readonly scope: ConfirmScope;
  readonly arguments: JsonObject;
}

/** What may accompany a question to a host. */
export interface HostRequest {
  /** Aborted when the answer is no longer needed; the host gets a cancellation. */
  readonly signal?: Cancel;
  /** The question is one of toolscout, not of a server. */
  readonly confirms?: CallToConfirm;
}

/**
 * The other side of a call: the host that made it, as far as a server may speak to it. It is asked
 * for nothing that it did not declare (S8).
 */
export interface Host {
  /** Hosts with one id may share a connection to a server: a session, or all that declared the same. */
  readonly id: string;
  /** Hosts of one group may also share a connection to a server that has never asked a host anything. */
  readonly group?: string;
  /** Names the hosts of its principal that declared the same: they may share a server of both eras that has never asked a host. */
  readonly alike?: string;
  readonly era: 'legacy' | 'modern';
  /** The revision of the protocol that was agreed with a host of the 2025 era; without it, the newest of its era. */
  readonly revision?: string;
  /** The client capabilities it declared, as it wrote them. */
  readonly capabilities: JsonObject;
  /** It is the only one there will ever be: a connection of its own costs no more than a shared one. */
  readonly sole?: boolean;
  /** Questions of a modern server are handed back as the result, also by a host of the older era. */
  readonly defersQuestions?: boolean;
  /** The lowest level of log messages it accepts, if set. */
  readonly logLevel?: string;
  /** The session the call belongs to, for what a server says outside of any call. */
  readonly session?: Host;
  /**
   * Asks the host; the answer is its own object. A refusal by the host is a `ToolscoutError` with
   * `upstream` set to the JSON-RPC error it gave.
   */
  request(method: string, params: JsonObject | undefined, options?: HostRequest): Promise<JsonObject>;
  /** Sends a notification to the host; a host that no longer listens is ignored. */
  notify(method: string, params: JsonObject | undefined): void;
}

/**
 * What rules take out of the conversation between a server and the host of a call (NEG-6). Where it
 * is `undefined`, nothing is taken out.
 */
export interface Screen {
  /** The params of a question, as the host sees them. */
  question(params: JsonObject): JsonObject;
  /** What the host answered to a question, as the server sees it. */
  answer(result: JsonObject): JsonObject;
  /** The JSON-RPC error with which a host refused a question, as the server sees it. */
  refusal(error: JsonObject): JsonObject;
  /** The params of a notification, as the host sees them. */
  notice(params: JsonObject): JsonObject;
}

/** What a client that can do everything would declare, so that a server lists all it has. */
export const EVERY_CAPABILITY: JsonObject = {
  sampling: {},
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
};

/** Whether a host declared anything that lets a server ask it back. */
export function canBeAsked(capabilities: JsonObject): boolean {
  return isObject(capabilities['sampling']) || isObject(capabilities['elicitation']) || isObject(capabilities['roots']);
}

function offersSampling(sampling: JsonObject, params: JsonObject): boolean {
  const asksTools = params['tools'] !== undefined || params['toolChoice'] !== undefined;
  return !asksTools || isObject(sampling['tools']);
}

function offersElicitation(elicitation: JsonObject, params: JsonObject): boolean {
  if (params['mode'] === 'url') return isObject(elicitation['url']);
  // Before there were modes, an empty object meant forms.
  return isObject(elicitation['form']) || !isObject(elicitation['url']);
}

/** Whether a host that declared these capabilities may be asked this (S8). */
export function offers(capabilities: JsonObject, method: string, params: JsonObject = {}): boolean {
  const { sampling, elicitation, roots } = capabilities;
  if (method === 'sampling/createMessage') return isObject(sampling) && offersSampling(sampling, params);
  if (method === 'elicitation/create') return isObject(elicitation) && offersElicitation(elicitation, params);
  return method === 'roots/list' && isObject(roots);
}

/** Characters of the name that are shown. */
const MAX_NAME = 100;

/** The name of a server in quotes, on one line, with nothing that hides or moves text. */
function quoted(server: string): string {
  return JSON.stringify(oneLine(printable(server), MAX_NAME));
}

/**
 * The params of a question with the name of the server that asks it, as it is configured: a host knows only that toolscout asks, and a
 * person must be able to tell whom they answer (A57). Only the message of a form or a page is for a person; what a request for a completion
 * holds is for a model, and stays as the server wrote it.
 */
export function namedQuestion(server: string, method: string, params: JsonObject): JsonObject {
  if (method === 'elicitation/create' && typeof params['message'] === 'string') {
    return { ...params, message: `Server ${quoted(server)} asks:\n${params['message']}` };
  }
  return params;
}

/** A result that asks for input, with the name of its server in every question. */
export function namedQuestions(server: string, result: JsonObject): JsonObject {
  const { inputRequests } = result;
  if (!isObject(inputRequests)) return result;
  const named = Object.entries(inputRequests).map(([key, question]) => {
    if (!isObject(question) || !isObject(question['params'])) return [key, question];
    return [key, { ...question, params: namedQuestion(server, String(question['method']), question['params']) }];
  });
  return { ...result, inputRequests: Object.fromEntries(named) as JsonObject };
}
