import type { Cancel } from '../../kernel/async/cancel.js';
import { agentFailureText, directFailureText } from './menu/agent-remedies.js';
import { toToolscoutError, ToolscoutError, type ErrorCode } from '../../kernel/errors.js';
import { isObject, type JsonObject, type JsonValue } from '../../kernel/json.js';
import type { HostCallOptions } from '../../gateway/index.js';
import type { Call, Progress } from '../../model/call.js';
import type { Host } from '../../model/host.js';
import { RPC_CODE } from '../../protocol/json-rpc.js';
import { isOfConnection } from '../../protocol/request-meta.js';
import { HANDSHAKE_REVISIONS, LATEST_REVISION } from '../../protocol/revisions.js';
import {
  strictCallResult,
  strictCompletion,
  strictPromptResult,
  strictReadResult,
} from '../../protocol/strict-results.js';

/** One request of a host, and what its connection lends to it. */
export interface Exchange {
  readonly host: Host;
  /** The authenticated subject, `local` on this machine. */
  readonly principal: string;
  /** The id of the request, where it came over HTTP: the one in the header of its answer. */
  readonly traceId?: string;
  /** Aborted when the host cancels the request. */
  readonly signal: Cancel;
  /** What a modern host answered to an earlier round of this request. */
  readonly resumed?: Call['resumed'];
}

const KEPT_STATE = Symbol('kept state');

/** A result whose `requestState` is good in every process that shares the store: it goes to the host as it is. */
export function keptState(result: JsonObject): JsonObject {
  return Object.assign(result, { [KEPT_STATE]: true });
}

/** Whether {@link keptState} made it; what a server answers never is. */
export function hasKeptState(result: JsonObject): boolean {
  return Object.hasOwn(result, KEPT_STATE);
}

/** Carries the id of a request from the HTTP endpoint to its handler, and back to the caller. */
export const TRACE_HEADER = 'x-trace-id';

/** What goes over the wire instead of a result. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonValue;
}

const CODES: Partial<Record<ErrorCode, number>> = {
  INVALID_REQUEST: RPC_CODE.invalidParams,
  TOOL_VALIDATION_ERROR: RPC_CODE.invalidParams,
  TOOL_NOT_FOUND: RPC_CODE.invalidParams,
  SERVER_NOT_FOUND: RPC_CODE.invalidParams,
  TOOL_DISABLED: RPC_CODE.invalidParams,
};

/** The error of a method that is not there. */
export function methodNotFound(method: string): ToolscoutError {
  return protocolError(RPC_CODE.methodNotFound, `Method not found: ${method}`);
}

/** An error that is to reach the host as just this JSON-RPC error. */
export function protocolError(code: number, message: string, data?: JsonValue): ToolscoutError {
  return new ToolscoutError('INVALID_REQUEST', message, { upstream: { code, message, data } });
}

/** Anything that was thrown while a request was answered, as the host sees it. */
export function toRpcError(thrown: unknown): RpcError {
  const error = toToolscoutError(thrown);
  const { upstream } = error;
  if (!upstream) return { code: CODES[error.code] ?? RPC_CODE.internalError, message: error.message };
  const { code, message = error.message, data } = upstream;
  return { code, message, ...(data !== undefined && { data: data as JsonValue }) };
}

/** `_meta` that belongs to the caller (trace context, vendor keys), without what belongs to this hop. */
function callerMeta(meta: JsonObject): JsonObject | undefined {
  const isTheirs = (key: string): boolean => !isOfConnection(key);
  // Most hosts say nothing else.
  if (!Object.keys(meta).some(isTheirs)) return undefined;
  return Object.fromEntries(Object.entries(meta).filter(([key]) => isTheirs(key)));
}

/** `_meta` of a request of a host, as far as it belongs to the caller. */
export function metaOf({ _meta: meta }: JsonObject): JsonObject | undefined {
  return isObject(meta) ? callerMeta(meta) : undefined;
}

/** Passes a server's progress on under the token of this host's request. */
function relayProgress(meta: JsonObject, host: Host): ((progress: Progress) => void) | undefined {
  const { progressToken } = meta;
  if (progressToken === undefined) return undefined;
  return (progress) => host.notify('notifications/progress', { ...progress, progressToken });
}

/** A failure of a call that an agent reads: it has the meta-tools, or only tools by their own names. */
const WORDINGS: ReadonlyMap<HostCallOptions['budget'], HostCallOptions['wordFailure']> = new Map([
  ['agent', agentFailureText],
  ['pinned', agentFailureText],
  ['passthrough', directFailureText],
]);

/** A request of a host of this name as the options of a call through the gateway. */
export function callOptions(
  params: JsonObject,
  { host, traceId, signal, resumed }: Exchange,
  budget?: HostCallOptions['budget'],
  hostName?: string,
): HostCallOptions {
  const meta = isObject(params['_meta']) ? params['_meta'] : undefined;
  return {
    route: 'mcp',
    budget,
    wordFailure: WORDINGS.get(budget),
    traceId,
    host,
    hostName: hostName || undefined,
    signal,
    resumed,
    meta: meta && callerMeta(meta),
    onProgress: meta && relayProgress(meta, host),
  };
}

const isPlainText = (block: JsonValue): boolean =>
  isObject(block) &&
  block['type'] === 'text' &&
  typeof block['text'] === 'string' &&
  block['annotations'] === undefined &&
  block['_meta'] === undefined;

/** Whether every client can parse what a tool answered: most answers are plain text, and need no closer look. */
function isPlainResult({ content, structuredContent, isError, _meta: meta }: JsonObject): boolean {
  if (!Array.isArray(content) || !content.every(isPlainText)) return false;
  if (structuredContent !== undefined && !isObject(structuredContent)) return false;
  return (isError === undefined || typeof isError === 'boolean') && (meta === undefined || isObject(meta));
}

function fit(method: string, params: JsonObject, result: JsonObject, host: Host): JsonObject {
  if (method === 'tools/call' && isPlainResult(result)) return result;
  const revision = host.era === 'modern' ? LATEST_REVISION : (host.revision ?? HANDSHAKE_REVISIONS[0]!);
  switch (method) {
    case 'tools/call':
      return strictCallResult(result, revision);
    case 'prompts/get':
      return strictPromptResult(result, revision);
    case 'resources/read':
      return strictReadResult(result, String(params['uri']));
    case 'completion/complete':
      return strictCompletion(result);
    default:
      return result;
  }
}

/** An answer in a form that the host can parse: a client that cannot parse it has no answer at all. */
export async function fitAnswer(
  method: string,
  params: JsonObject,
  answer: Promise<JsonObject>,
  host: Host,
): Promise<JsonObject> {
  return fit(method, params, await answer, host);
}
