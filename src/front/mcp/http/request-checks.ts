import type { Clock } from '../../../kernel/clock.js';
import { excessIn } from '../../../kernel/json-bounds.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import { LIMITS } from '../../../kernel/limits.js';
import type { Log } from '../../../kernel/log.js';
import { createParamHeaders } from '../../../protocol/param-headers.js';
import { readTraceParent } from '../../../kernel/trace-context.js';
import type { McpFront } from '../front.js';
import type { HostSurface } from '../menu/host-surface.js';

/** Through which door a request comes, and who sent it. */
export interface Arrival {
  /** One server passed through; without it everything behind toolscout. */
  readonly server?: string;
  /** The authenticated subject. */
  readonly principal?: string;
  /** When its token expires, in milliseconds since 1970: whoever only listens is not served beyond that. */
  readonly until?: number;
  /** The id of the request, unless its message belongs to a trace. */
  readonly traceId?: string;
}

/**
 * The id of the trace that a message belongs to: its own `_meta.traceparent` comes before the header of the same name, which
 * becomes the `_meta` of a message without one.
 */
export function traceOfMessage(body: unknown, { headers }: Request): string | undefined {
  if (!isObject(body) || typeof body['method'] !== 'string') return undefined;
  const params = isObject(body['params']) ? body['params'] : {};
  const meta = isObject(params['_meta']) ? params['_meta'] : {};
  const own = readTraceParent(meta['traceparent']);
  if (own) return own.traceId;
  const traceparent = headers.get('traceparent');
  const outer = readTraceParent(traceparent);
  if (!outer || body['id'] === undefined) return undefined;
  body['params'] = { ...params, _meta: { ...meta, traceparent } };
  return outer.traceId;
}

/** What either era of the HTTP endpoint is made of. */
export interface HttpEraDeps {
  readonly front: McpFront;
  /** What a host that introduces itself so is offered: one server passed through, or everything. */
  readonly offerAt: (server: string | undefined, introduction: JsonObject) => Promise<HostSurface>;
  readonly log: Log;
  readonly clock: Clock;
  readonly report: (error: Error) => void;
}

/** A JSON-RPC error that answers one request, or none in particular. */
export function jsonRpcError(status: number, code: number, message: string, id: unknown = null): Response {
  const headers = status === 405 ? { allow: 'GET, POST, DELETE' } : undefined;
  return Response.json({ jsonrpc: '2.0', id, error: { code, message } }, { status, headers });
}

/** What whoever speaks in a session that is not, or not theirs, is told. */
export function sessionGone(): Response {
  return jsonRpcError(404, -32_001, 'This session has ended; initialize again.');
}

/** All bytes of a body, or `undefined` as soon as they are too many. */
async function readBounded(request: Request): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > LIMITS.bodyBytes) return undefined;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > LIMITS.bodyBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** The body as JSON; `undefined` when there is none, a response when it cannot be read. */
export async function readBody(request: Request): Promise<{ body?: unknown } | Response> {
  if (request.method !== 'POST') return {};
  let bytes: Uint8Array | undefined;
  try {
    bytes = await readBounded(request);
  } catch {
    // Whoever sent it has gone; nobody hears this.
    return jsonRpcError(400, -32_700, 'Parse error: the body ended before its time.');
  }
  if (!bytes) return jsonRpcError(413, -32_600, 'The request body is too large.');
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const excess = excessIn(text);
    if (excess !== undefined) return jsonRpcError(400, -32_700, `Parse error: the body ${excess}.`);
    return { body: JSON.parse(text) as unknown };
  } catch {
    return jsonRpcError(400, -32_700, 'Parse error: the body is not JSON in UTF-8.');
  }
}

/** What a modern host may ask; the server behind would answer anything else with 200 and an error (S3). */
const MODERN_METHODS = new Set([
  'server/discover',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'subscriptions/listen',
]);

/** The answer to a modern request for a method that does not exist; `undefined` when it does. */
export function refuseUnknownMethod({ headers }: Request, body: unknown): Response | undefined {
  if (!isObject(body) || body['jsonrpc'] !== '2.0' || body['id'] === undefined) return undefined;
  const { id, method } = body;
  // Headers that do not fit the body are the worse mistake; the handler names it.
  if (headers.get('mcp-method') !== method || MODERN_METHODS.has(String(method))) return undefined;
  return jsonRpcError(404, -32_601, `Method not found: ${String(method)}`, id);
}

/** Looks whether the headers of a modern request say what its body says; an answer is a refusal. */
export type HeaderCheck = (
  request: Request,
  body: unknown,
  offer: () => Promise<HostSurface>,
) => Promise<Response | undefined>;

/** A check of the arguments that a tool wants as headers too: they must say the same in both places (S3). */
export function createHeaderCheck(): HeaderCheck {
  const paramHeaders = createParamHeaders();
  return async ({ headers }, body, offer) => {
    if (!isObject(body) || body['method'] !== 'tools/call' || !isObject(body['params'])) return undefined;
    const { name, arguments: args } = body['params'];
    const definition = typeof name === 'string' ? await (await offer()).definition?.(name) : undefined;
    if (!definition) return undefined;
    const fault = paramHeaders.faultIn(definition, isObject(args) ? args : {}, (header) => headers.get(header));
    if (fault === undefined) return undefined;
    return jsonRpcError(400, -32_020, `The headers and the body of the request disagree: ${fault}.`, body['id']);
  };
}
