import { isObject, type JsonObject } from '../../kernel/json.js';
import { LIMITS } from '../../kernel/limits.js';

/** A JSON-RPC error that answers no request in particular. */
export function jsonRpcError(status: number, code: number, message: string): Response {
  const headers = status === 405 ? { allow: 'GET, POST, DELETE' } : undefined;
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status, headers });
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
  const bytes = await readBounded(request);
  if (!bytes) return jsonRpcError(413, -32_600, 'The request body is too large.');
  try {
    return { body: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown };
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
  const error = { code: -32_601, message: `Method not found: ${String(method)}` };
  return Response.json({ jsonrpc: '2.0', id, error }, { status: 404 });
}

const PREFIX = 'io.modelcontextprotocol/';

/** What a modern request says about its host, in the words of a handshake. */
export function introductionIn(body: unknown): JsonObject {
  const params = isObject(body) && isObject(body['params']) ? body['params'] : {};
  const meta = isObject(params['_meta']) ? params['_meta'] : {};
  return { clientInfo: meta[`${PREFIX}clientInfo`], capabilities: meta[`${PREFIX}clientCapabilities`] };
}
