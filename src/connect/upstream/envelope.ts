import { isObject, type JsonObject } from '../../kernel/json.js';
import type { Host } from '../../model/host.js';
import { META_KEY } from '../../protocol/request-meta.js';

/** What a connection says about itself; what a host said about itself to us is not passed off as ours. */
const ENVELOPE_KEYS = [
  META_KEY.protocolVersion,
  META_KEY.clientInfo,
  META_KEY.clientCapabilities,
  META_KEY.logLevel,
] as const;

/** The `_meta` keys every request of the modern era carries. */
export function modernEnvelope(
  version: string,
  clientInfo: { name: string; version: string },
  capabilities: JsonObject = {},
): JsonObject {
  return {
    [META_KEY.protocolVersion]: version,
    [META_KEY.clientInfo]: { name: clientInfo.name, version: clientInfo.version },
    [META_KEY.clientCapabilities]: capabilities,
  };
}

/** The envelope of one request: the capabilities of its host, and its log level. */
function envelopeFor(envelope: JsonObject, method: string, host: Host | undefined): JsonObject {
  if (host) {
    const level = host.logLevel;
    return {
      ...envelope,
      [META_KEY.clientCapabilities]: host.capabilities,
      ...(level !== undefined && { [META_KEY.logLevel]: level }),
    };
  }
  // A list request declares every capability; a call without a host declares none.
  return method === 'tools/call' ? { ...envelope, [META_KEY.clientCapabilities]: {} } : envelope;
}

function withoutOurs(given: JsonObject): JsonObject {
  const meta = { ...given };
  for (const key of ENVELOPE_KEYS) delete meta[key];
  // A token of the host means nothing here, and could be one of ours.
  delete meta['progressToken'];
  return meta;
}

/** The params of a request as they are sent: with our envelope and our progress token, without the caller's. */
export function withEnvelope(
  request: { readonly method: string; readonly params: JsonObject | undefined; readonly id: number },
  options: { readonly envelope: JsonObject | undefined; readonly progress: boolean; readonly host: Host | undefined },
): JsonObject | undefined {
  const { params, id, method } = request;
  const { envelope, progress, host } = options;
  const given = isObject(params?.['_meta']) ? params['_meta'] : undefined;
  return {
    ...params,
    _meta: {
      ...(given && withoutOurs(given)),
      ...(progress && { progressToken: id }),
      ...(envelope && envelopeFor(envelope, method, host)),
    },
  };
}
