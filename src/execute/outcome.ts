import { ERROR_TABLE, hideInUpstream, type ErrorCode, type ToolscoutError } from '../kernel/errors.js';
import type { JsonObject } from '../kernel/json.js';
import { describeRemedy, mapRemedy, toRemedy, type Remedy } from '../kernel/remedy.js';
import { oneLine } from '../kernel/text.js';
import type { Failure } from '../model/call.js';
import { unaskedAdvice } from '../model/host.js';
import { errorBodyIn, errorBodyOf, firstTexts, type ErrorBody } from './error-body.js';
import { RPC_CODE } from '../protocol/json-rpc.js';

/** What a failed call was about, and how secrets are removed from what is said of it. */
export interface FailureContext {
  readonly server: string;
  readonly tool: string;
  readonly hide: (text: string) => string;
  /** What was sent, if anything was: how its server is reached, and whether the tool is marked read-only or idempotent. */
  readonly sent?: { readonly transport: 'stdio' | 'http' | 'sse'; readonly isRepeatable: boolean };
  /** The question to the user or the model that no host could answer, and whether there was a host at all. */
  readonly unasked?: { readonly method: string; readonly hasHost: boolean };
}

/** The message of a tool may be a whole page; the result has it untouched. */
const MAX_MESSAGE_LENGTH = 4000;

/** Longest name of an error that is carried. */
const MAX_CODE_LENGTH = 100;

/** Failures after which a caller must know whether the call has reached its server. */
const UNDELIVERED: ReadonlySet<ErrorCode> = new Set([
  'SERVER_CONNECTION_ERROR',
  'SESSION_INIT_FAILED',
  'TOOL_EXECUTION_TIMEOUT',
  'CANCELLED',
]);

function cut(text: string): string {
  return text.length <= MAX_MESSAGE_LENGTH
    ? text
    : `${text.slice(0, MAX_MESSAGE_LENGTH - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The name a server gave its error, as one short line. */
function shownCode(code: string | undefined, hide: (text: string) => string): { error_code?: string } {
  return code === undefined ? {} : { error_code: hide(oneLine(code, MAX_CODE_LENGTH)) };
}

/** What the body says; the message of a JSON-RPC error is never lost to its data. */
function messageOf(error: ToolscoutError, { errorCode, text }: ErrorBody): string {
  const { message } = error;
  const isTold = text === undefined || message.includes(text);
  const own = error.upstream ? (isTold ? message : `${message} (${text})`) : (text ?? message);
  return errorCode === undefined || own.startsWith(errorCode) ? own : `${errorCode}: ${own}`;
}

/** Whether the call has reached its server: `false`, or `unknown` when it may have taken effect (EXEC-4). */
function deliveryOf(error: ToolscoutError, { sent }: FailureContext): Failure['delivered'] {
  if (!UNDELIVERED.has(error.code)) return undefined;
  if (!sent || error.delivered === false) return false;
  // A server that refused a request with a status of 4xx did not run it.
  return (error.refusal?.status ?? 500) < 500 ? undefined : 'unknown';
}

/** What to do after a call whose outcome is unknown. */
function remedyAfterLoss({ code, remedy }: ToolscoutError, { sent }: FailureContext): Remedy {
  const effect = sent?.isRepeatable
    ? 'The tool is marked read-only or idempotent: the call can be repeated.'
    : 'The call may have taken effect: check before you repeat it.';
  if (code !== 'SERVER_CONNECTION_ERROR') return { kind: 'steps', steps: [toRemedy(effect), remedy] };
  const next = sent?.transport === 'stdio' ? 'restarts the server' : 'connects again';
  return toRemedy(`${effect} toolscout ${next} with the next call.`);
}

function unaskedNote({ unasked }: FailureContext): string {
  if (!unasked) return '';
  const why = unasked.hasHost ? 'this host does not support it' : 'there is no host to ask';
  return ` (The server asked for ${unasked.method}, but ${why}.)`;
}

/** What to do, unless the server itself said it. */
function remedyFor(error: ToolscoutError, context: FailureContext, delivered: Failure['delivered']): Remedy {
  const isGeneral = error.suggestion === ERROR_TABLE[error.code].suggestion || error.remedy.kind === 'ask-for-less';
  if (!isGeneral) return error.remedy;
  if (context.unasked) return toRemedy(unaskedAdvice(context.unasked.method));
  if (error.upstream?.code === RPC_CODE.missingCapability) {
    return toRemedy(
      'The server requires a client capability that this host did not declare; call the tool from a host that has it.',
    );
  }
  return delivered === 'unknown' ? remedyAfterLoss(error, context) : error.remedy;
}

/** A remedy without what must not be seen, and its words. */
function told(given: Remedy | string, hide: (text: string) => string): Pick<Failure, 'remedy' | 'suggestion'> {
  const remedy = mapRemedy(toRemedy(given), (text) => hide(cut(text)));
  return { remedy, suggestion: describeRemedy(remedy) };
}

/** Anything that stopped a call, as the object every front shows (META-3). */
export function failureOf(error: ToolscoutError, context: FailureContext): Failure {
  const { server, tool, hide } = context;
  const carried = errorBodyIn(error.upstream?.data) ?? errorBodyIn(error.refusal?.body);
  const delivered = deliveryOf(error, context);
  return {
    code: error.code,
    message: hide(cut(carried ? messageOf(error, carried) : error.message) + unaskedNote(context)),
    server,
    tool,
    ...told(carried?.suggestion ?? remedyFor(error, context, delivered), hide),
    severity: carried?.severity ?? error.severity,
    ...shownCode(carried?.errorCode, hide),
    ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
    ...(delivered !== undefined && { delivered }),
    ...(error.problems.length > 0 && {
      problems: error.problems.map(({ path, message }) => ({ path: hide(path), message: hide(message) })),
    }),
    ...(error.upstream && { upstream: hideInUpstream(error.upstream, hide) }),
  };
}

/** The failure a tool reported in its own result, with `isError` or as an error body. */
export function failureOfResult(result: JsonObject, context: FailureContext): Failure {
  const { server, tool, hide, unasked } = context;
  const carried = errorBodyOf(result);
  const { severity, remedy } = ERROR_TABLE.TOOL_EXECUTION_ERROR;
  const carriedMessage = [carried?.errorCode, carried?.text].filter(Boolean).join(': ');
  const message = carriedMessage || firstTexts(result)[0] || 'The tool reported an error without saying which.';
  return {
    code: 'TOOL_EXECUTION_ERROR',
    message: hide(cut(message) + unaskedNote(context)),
    server,
    tool,
    ...told(carried?.suggestion ?? (unasked ? unaskedAdvice(unasked.method) : remedy), hide),
    severity: carried?.severity ?? severity,
    ...shownCode(carried?.errorCode, hide),
  };
}
