import { isObject, type JsonObject } from '../../../kernel/json.js';
import { META_KEY } from '../../../protocol/request-meta.js';

/** What a modern request says about its host, in the words of a handshake. */
export function introductionIn(message: unknown): JsonObject {
  const params = isObject(message) && isObject(message['params']) ? message['params'] : {};
  const meta = isObject(params['_meta']) ? params['_meta'] : {};
  return { clientInfo: meta[META_KEY.clientInfo], capabilities: meta[META_KEY.clientCapabilities] };
}
