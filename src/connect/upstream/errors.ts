import type { SdkErrorCode } from '@modelcontextprotocol/client';
import { hideIn, messageOf, ToolscoutError, type ErrorDetails } from '../../kernel/errors.js';
import { isDeeperThan, isObject, type JsonValue } from '../../kernel/json.js';
import { LIMITS } from '../../kernel/limits.js';
import type { Remedy } from '../../kernel/remedy.js';
import { oneLine, printable, seconds } from '../../kernel/text.js';
import { RPC_CODE, rpcErrorPrefix } from '../../protocol/json-rpc.js';

/** Failures of the network before anything was sent. */
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'ERR_INVALID_URL',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** The refusal of a call to a server that speaks another revision than the one the call was made for. */
export function eraChanged(server: string, cause?: unknown): ToolscoutError {
  const message = `The server "${server}" speaks another protocol revision than when toolscout last connected; the call did not run.`;
  return new ToolscoutError('SERVER_CONNECTION_ERROR', message, {
    suggestion: 'Make the call again.',
    delivered: false,
    cause,
  });
}

class UnansweredQuestion extends Error {}

/** The end of a call at its deadline; `isAsking` when its server waited for the answer to a question. */
export function overdue(server: string, isAsking: boolean): ToolscoutError {
  const message = `The call to "${server}" did not finish within its total time limit`;
  if (!isAsking) {
    const remedy = { kind: 'ask-for-less', limit: 'total' } as const;
    return new ToolscoutError('TOOL_EXECUTION_TIMEOUT', `${message}.`, { remedy });
  }
  return new ToolscoutError('TOOL_EXECUTION_TIMEOUT', `${message}: the question of the server was not answered.`, {
    suggestion: 'Make the call again, and answer the question of the server.',
    cause: new UnansweredQuestion(),
  });
}

/** The end of a request whose time is up: at the deadline of its call, or because its server said nothing for too long. */
export function outOfTime(
  server: string,
  {
    timeoutMs,
    deadline = Infinity,
    ifLate,
  }: { readonly timeoutMs: number; readonly deadline?: number; readonly ifLate?: Remedy },
  { isAsking, now }: { readonly isAsking: boolean; readonly now: number },
): ToolscoutError {
  if (deadline <= now) return overdue(server, isAsking);
  const message = `The server "${server}" did not answer within ${seconds(timeoutMs)}.`;
  return new ToolscoutError('TOOL_EXECUTION_TIMEOUT', message, { remedy: ifLate });
}

/** Whether a call failed because a person or a host did not answer: that says nothing about its server. */
export function isUnanswered(error: ToolscoutError): boolean {
  return error.cause instanceof UnansweredQuestion;
}

/** The HTTP status an SDK error carries, if it is about one. */
export function httpStatusOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error)) return undefined;
  if (thrown instanceof ToolscoutError && thrown.refusal) return thrown.refusal.status;
  const { status } = (thrown as { data?: { status?: unknown } }).data ?? {};
  if (typeof status === 'number') return status;
  // The event source reports the status as its code; the SSE transport only in its message.
  const { code } = thrown as { code?: unknown };
  if (typeof code === 'number' && code >= 100 && code < 600) return code;
  const found = /\(HTTP (\d{3})\)/.exec(thrown.message)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** The JSON-RPC error code of a failed handshake, if the server answered with one. */
export function rpcCodeOf(thrown: unknown): number | undefined {
  if (thrown instanceof ToolscoutError) return thrown.upstream?.code;
  const code = thrown instanceof Error ? (thrown as { code?: unknown }).code : undefined;
  return typeof code === 'number' && code < 0 ? code : undefined;
}

/** The error of a JSON-RPC answer, as the caller of the request sees it. */
export function rpcError(
  server: string,
  error: unknown,
  mask: (text: string) => string = (text) => text,
): ToolscoutError {
  const body = isObject(error) ? error : { message: typeof error === 'string' ? error : '' };
  const code = typeof body['code'] === 'number' ? body['code'] : RPC_CODE.internalError;
  const text = typeof body['message'] === 'string' && body['message'] !== '' ? body['message'] : `error ${code}`;
  // What nests too deep could not be written as JSON any more.
  const data = isDeeperThan(body['data'], LIMITS.depth) ? undefined : body['data'];
  return new ToolscoutError(
    'TOOL_EXECUTION_ERROR',
    `${rpcErrorPrefix(server)}${oneLine(printable(mask(text)), 2000)}`,
    {
      upstream: { code, message: text, data },
    },
  );
}

/** The error of a request whose answer is not what it should be. */
export function badAnswer(server: string, expected: string): ToolscoutError {
  const message = `The server "${server}" answered with something that is not ${expected}.`;
  const suggestion = 'The call may have taken effect: check that. Report the answer to the authors of the server.';
  return new ToolscoutError('TOOL_EXECUTION_ERROR', message, { suggestion });
}

/** What the SDK throws when it cannot parse a message: the schema that it used says nothing to a reader. */
function unparsable(server: string, thrown: unknown): ToolscoutError | undefined {
  if (thrown instanceof SyntaxError) return badAnswer(server, 'valid JSON');
  const isSchemaError = thrown instanceof Error && Array.isArray((thrown as { issues?: unknown }).issues);
  return isSchemaError ? badAnswer(server, 'a JSON-RPC 2.0 message') : undefined;
}

/** Codes of the network in words. */
const SYSTEM_CODES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ENOTFOUND: 'unknown host name',
  EAI_AGAIN: 'the host name could not be resolved',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
};

/** What the others wrap: a cause says more than "fetch failed". */
function innermost(thrown: unknown): unknown {
  let inner = thrown;
  for (let depth = 0; depth < 5 && inner instanceof Error && inner.cause instanceof Error; depth++) inner = inner.cause;
  return inner;
}

function systemCodeOf(thrown: unknown): string | undefined {
  for (let each = thrown, depth = 0; each instanceof Error && depth < 5; each = each.cause, depth++) {
    const { code } = each as { code?: unknown };
    if (
      typeof code === 'string' &&
      /^(E[A-Z]|UND_ERR|CERT_|DEPTH_|SELF_|UNABLE_)/.test(code) &&
      !code.startsWith('ERA_')
    ) {
      return code;
    }
    if (each instanceof AggregateError) {
      const inner = systemCodeOf(each.errors[0]);
      if (inner !== undefined) return inner;
    }
  }
  return undefined;
}

/** Our own error where one stands behind what the SDK threw: the guarded `fetch` throws them. */
function ourErrorIn(thrown: unknown): ToolscoutError | undefined {
  for (let each = thrown, depth = 0; each instanceof Error && depth < 5; each = each.cause, depth++) {
    if (each instanceof ToolscoutError) return each;
  }
  return undefined;
}

function parseBody(text: unknown): JsonValue | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // A page for people; its status says enough.
    return undefined;
  }
}

/** Characters of a refusal's body that are kept: one that says what to do is short. */
export const MAX_REFUSAL = 64 * 1024;

/** What a refusal says: its status, and its body where that is a JSON object of a size one can hold on to. */
export function refusalOf(status: number, text: unknown): NonNullable<ErrorDetails['refusal']> {
  const body = typeof text === 'string' && text.length <= MAX_REFUSAL ? parseBody(text) : undefined;
  return isObject(body) && !isDeeperThan(body, LIMITS.depth) ? { status, body } : { status };
}

function httpError(server: string, status: number, thrown: unknown, mask: (text: string) => string): ToolscoutError {
  const { text, statusText } = (thrown as { data?: { text?: unknown; statusText?: unknown } }).data ?? {};
  const refusal = refusalOf(status, typeof text === 'string' ? mask(text) : undefined);
  if (status === 401 || status === 403) {
    const message =
      status === 401
        ? `The server "${server}" refused the credentials (HTTP 401).`
        : `The server "${server}" refused access (HTTP 403): the credentials do not allow this request.`;
    return new ToolscoutError('AUTHENTICATION_FAILED', message, {
      remedy: { kind: 'credentials', server },
      refusal,
      cause: thrown,
    });
  }
  const body = parseBody(text);
  if (isObject(body) && isObject(body['error']) && typeof body['error']['code'] === 'number') {
    return rpcError(server, body['error'], mask);
  }
  // Where a refused redirect points to stands in the message of the SDK only.
  const target = /Redirect to (\S+) not followed/.exec(messageOf(thrown))?.[1];
  if (target !== undefined) {
    const shown = oneLine(printable(mask(target)), 200);
    const message = `The server "${server}" redirects to ${shown} (HTTP ${status}), and toolscout follows no redirects.`;
    const what = 'If that is the server you mean, write that address as its "url" in the config.';
    const details = { refusal, remedy: { kind: 'configure', what }, cause: thrown } as const;
    return new ToolscoutError('SERVER_CONNECTION_ERROR', message, details);
  }
  const said = oneLine(printable(mask(typeof text === 'string' && text !== '' ? text : String(statusText ?? ''))), 200);
  const message = `The server "${server}" answered with HTTP ${status}${said === '' ? '' : `: ${said}`}`;
  return new ToolscoutError('SERVER_CONNECTION_ERROR', message, { refusal, cause: thrown });
}

/** Anything that went wrong on the way to a server, as the error documented at the `Upstream` port. */
export function toUpstreamError(
  server: string,
  thrown: unknown,
  mask: (text: string) => string = (text) => text,
): ToolscoutError {
  const ours = ourErrorIn(thrown);
  // What a server said in the body of a refusal was kept as it came.
  if (ours) return ours.refusal?.body === undefined ? ours : hideIn(ours, mask);
  const status = httpStatusOf(thrown);
  if (status !== undefined) return httpError(server, status, thrown, mask);
  if (thrown instanceof Error && thrown.name === 'UnauthorizedError') {
    return new ToolscoutError('AUTHENTICATION_FAILED', `The server "${server}" requires credentials.`, {
      remedy: { kind: 'credentials', server },
      cause: thrown,
    });
  }
  const code = rpcCodeOf(thrown);
  if (code !== undefined)
    return rpcError(server, { code, message: messageOf(thrown), data: (thrown as { data?: never }).data }, mask);
  const bad = unparsable(server, thrown) ?? wrongType(server, thrown, mask);
  if (bad) return bad;
  const system = systemCodeOf(thrown);
  const known = system === undefined ? undefined : SYSTEM_CODES[system];
  const why = known ? `${known} (${system})` : (system ?? oneLine(printable(mask(messageOf(innermost(thrown)))), 300));
  return new ToolscoutError('SERVER_CONNECTION_ERROR', `The server "${server}" cannot be reached: ${why}`, {
    delivered: system !== undefined && NEVER_SENT.has(system) ? false : undefined,
    cause: thrown,
  });
}

/** Written out: the SDK is not loaded for its codes. */
const UNEXPECTED_CONTENT: `${SdkErrorCode.ClientHttpUnexpectedContent}` = 'CLIENT_HTTP_UNEXPECTED_CONTENT';

/** A page for people, for example: the server was reached, but what answers there is not MCP. */
function wrongType(server: string, thrown: unknown, mask: (text: string) => string): ToolscoutError | undefined {
  const { code, data } = thrown as { code?: unknown; data?: { contentType?: unknown } };
  if (code !== UNEXPECTED_CONTENT) return undefined;
  const contentType = data?.contentType;
  const type = typeof contentType === 'string' ? `the content type ${oneLine(printable(mask(contentType)), 100)}` : '';
  const message = `The server "${server}" answered with ${type || 'no content type'}; expected application/json or text/event-stream.`;
  return new ToolscoutError('SERVER_CONNECTION_ERROR', message, { cause: thrown });
}

/** The error of a request that cannot be sent as JSON. */
export function unwritable(server: string, thrown: unknown): ToolscoutError {
  const message = `The request to "${server}" cannot be written as JSON: ${messageOf(thrown)}`;
  return new ToolscoutError('TOOL_VALIDATION_ERROR', message, { delivered: false, cause: thrown });
}

/** The error of a request whose answer broke off. */
export function brokenStream(server: string): ToolscoutError {
  return new ToolscoutError(
    'SERVER_CONNECTION_ERROR',
    `The server "${server}" ended its answer before it was complete.`,
  );
}
