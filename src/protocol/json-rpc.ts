import { isObject, type JsonObject } from '../kernel/json.js';

/** A JSON-RPC 2.0 message: a request, a notification or an answer. */
export type JsonRpcMessage = JsonObject & { readonly jsonrpc: '2.0' };

/** Whether a value has the shape of a JSON-RPC 2.0 message. Deliberately light: it runs for every message. */
export function isMessage(value: unknown): value is JsonRpcMessage {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return false;
  const { id, method, params } = value;
  const named = typeof id === 'number' || typeof id === 'string';
  if (method !== undefined) {
    return typeof method === 'string' && (named || id === undefined) && (params === undefined || isObject(params));
  }
  return named && (value['result'] !== undefined || isObject(value['error']));
}
