import { isObject, type JsonObject } from '../../../kernel/json.js';
import type { RequestHead } from '../../../net/http-message.js';
import { isOfConnection, META_KEY } from '../../../protocol/request-meta.js';
import { isPlainRequest, isPlainToken, type PlainRequest } from '../../../protocol/json-rpc.js';
import { LATEST_REVISION } from '../../../protocol/revisions.js';
import { isLogLevel } from '../sessions/log-levels.js';

/** A call of a tool by a host of the 2026 era of which nothing is odd. */
export interface PlainCall extends PlainRequest {
  readonly params: JsonObject & { readonly name: string; readonly _meta: JsonObject };
}

const ENVELOPE: ReadonlySet<string> = new Set([
  'progressToken',
  META_KEY.protocolVersion,
  META_KEY.clientInfo,
  META_KEY.clientCapabilities,
  META_KEY.logLevel,
]);

const areTexts = (value: JsonObject): boolean => Object.values(value).every((each) => typeof each === 'string');

function isPlainHost(info: unknown): boolean {
  if (info === undefined) return true;
  return isObject(info) && 'name' in info && 'version' in info && areTexts(info);
}

const isPlainCapability = (value: unknown): boolean => isObject(value) && Object.values(value).every(isObject);

function isPlainEnvelope(meta: unknown): boolean {
  if (!isObject(meta) || meta[META_KEY.protocolVersion] !== LATEST_REVISION) return false;
  const capabilities = meta[META_KEY.clientCapabilities];
  const level = meta[META_KEY.logLevel];
  if (!isPlainToken(meta['progressToken']) || !isPlainHost(meta[META_KEY.clientInfo])) return false;
  if (!isObject(capabilities) || !Object.values(capabilities).every(isPlainCapability)) return false;
  if (level !== undefined && !isLogLevel(level)) return false;
  for (const field in meta) if (isOfConnection(field) && !ENVELOPE.has(field)) return false;
  return true;
}

/** What begins a value of a header that is encoded; such a one is compared by the protocol. */
const ENCODED = '=?';

/**
 * Whether a request is a call of a tool by a host of the 2026 era, whose headers say what its body says (S3) and which is no
 * further round of an earlier one. Everything else is judged by the protocol.
 */
export function isPlainCall({ headers }: RequestHead, message: unknown): message is PlainCall {
  if (headers.get('mcp-protocol-version') !== LATEST_REVISION || headers.get('mcp-method') !== 'tools/call')
    return false;
  if (headers.get('content-type') !== 'application/json') return false;
  if (!isPlainRequest(message) || message.method !== 'tools/call' || !message.params) return false;
  const { name, inputResponses, requestState, _meta: meta } = message.params;
  if (typeof name !== 'string' || name.startsWith(ENCODED) || headers.get('mcp-name') !== name) return false;
  return inputResponses === undefined && requestState === undefined && isPlainEnvelope(meta);
}
