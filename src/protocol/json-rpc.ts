import { isObject, type JsonObject } from '../kernel/json.js';
import { isOfConnection } from './request-meta.js';

/** Every error code that is sent or understood: those of JSON-RPC 2.0, of MCP, and the one of toolscout. */
export const RPC_CODE = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  /** A failure of the server that has no code of its own. */
  serverError: -32_000,
  /** A session or a server that does not exist. */
  notFound: -32_001,
  /** The headers of a request say something else than its body. */
  headerMismatch: -32_020,
  /** The server needs a capability that the client did not declare. */
  missingCapability: -32_021,
  /** The server does not speak this revision of the protocol. */
  unsupportedVersion: -32_022,
  /** The user must open a URL first. */
  urlElicitationRequired: -32_042,
  /** The request would make toolscout a server of itself. */
  loopDetected: -32_058,
  cancelled: -32_800,
} as const;

/** How the message about a JSON-RPC error of a server begins; what the server said follows. */
export function rpcErrorPrefix(server: string): string {
  return `The server "${server}" returned an error: `;
}

/** A request that needs no special handling. */
export interface PlainRequest extends JsonObject {
  readonly jsonrpc: '2.0';
  readonly id: string | number;
  readonly method: string;
  readonly params?: JsonObject;
}

/** Whether a value is a valid progress token, or `undefined`. */
export const isPlainToken = (token: unknown): boolean =>
  token === undefined || typeof token === 'string' || Number.isSafeInteger(token);

/**
 * Whether a message is a request that needs no parser of the protocol: the fields of JSON-RPC and no others (A10), each of its
 * type. What is in `_meta` is not looked at.
 */
export function isPlainRequest(message: unknown): message is PlainRequest {
  if (!isObject(message) || message['jsonrpc'] !== '2.0') return false;
  const { id, method, params } = message;
  if (typeof method !== 'string' || (typeof id !== 'string' && !Number.isSafeInteger(id))) return false;
  if (params !== undefined && !isObject(params)) return false;
  for (const field in message) {
    if (field !== 'jsonrpc' && field !== 'id' && field !== 'method' && field !== 'params') return false;
  }
  return true;
}

/** Whether a message is a notification of the 2025 era that needs no parser of the protocol, as a plain request does not. */
export function isPlainLegacyNotification(message: unknown): boolean {
  if (!isObject(message) || message['jsonrpc'] !== '2.0' || typeof message['method'] !== 'string') return false;
  const { params } = message;
  if (params !== undefined && (!isObject(params) || params['_meta'] !== undefined)) return false;
  for (const field in message) if (field !== 'jsonrpc' && field !== 'method' && field !== 'params') return false;
  return true;
}

/** Whether a message is a request of the 2025 era and says nothing in `_meta` that the protocol would have to judge. */
export function isPlainLegacyRequest(message: unknown): message is PlainRequest {
  if (!isPlainRequest(message)) return false;
  const meta = message.params?.['_meta'];
  if (meta === undefined) return true;
  if (!isObject(meta) || !isPlainToken(meta['progressToken'])) return false;
  for (const field in meta) if (field !== 'progressToken' && isOfConnection(field)) return false;
  return true;
}
