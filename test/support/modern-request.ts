import { isObject, type JsonObject } from '../../src/kernel/json.js';

const REVISION = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol';

/** The envelope that every request of the modern era carries in `_meta`. */
export function envelope(capabilities: JsonObject = {}, name = 'host'): JsonObject {
  return {
    [`${PREFIX}/protocolVersion`]: REVISION,
    [`${PREFIX}/clientInfo`]: { name, version: '1' },
    [`${PREFIX}/clientCapabilities`]: capabilities,
  };
}

/**
 * A request of the modern era, as `fetch` sends it: with its headers, and with an envelope below what `params` say in
 * `_meta`. A header that is `undefined` is left out.
 */
export function modernPost(
  method: string,
  params: JsonObject = {},
  headers: Readonly<Record<string, string | undefined>> = {},
): RequestInit {
  const name = typeof params['name'] === 'string' ? params['name'] : undefined;
  const all = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': REVISION,
    'mcp-method': method,
    'mcp-name': name,
    ...headers,
  };
  const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const given = isObject(params['_meta']) ? params['_meta'] : {};
  return {
    method: 'POST',
    headers: Object.fromEntries(sent),
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { ...params, _meta: { ...envelope(), ...given } } }),
  };
}
