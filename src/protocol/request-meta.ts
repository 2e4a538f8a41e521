import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';

const PREFIX = 'io.modelcontextprotocol/';

/** The fields of `_meta` that the protocol defines for messages of the modern era. */
export const META_KEY = {
  protocolVersion: `${PREFIX}protocolVersion`,
  clientInfo: `${PREFIX}clientInfo`,
  clientCapabilities: `${PREFIX}clientCapabilities`,
  logLevel: `${PREFIX}logLevel`,
  serverInfo: `${PREFIX}serverInfo`,
  subscriptionId: `${PREFIX}subscriptionId`,
} as const;

/** Whether a field of `_meta` belongs to one connection and means nothing on another. */
export function isOfConnection(field: string): boolean {
  return field === 'progressToken' || field.startsWith(PREFIX);
}

/** What a caller says in the `_meta` of a request, for the audit log; `undefined` when that is nothing. */
export function auditedMeta(meta: JsonValue | undefined): JsonObject | undefined {
  if (!isObject(meta)) return undefined;
  const said = Object.entries(meta).filter(
    ([name]) => !isOfConnection(name) && name !== 'traceparent' && name !== 'tracestate',
  );
  return said.length > 0 ? Object.fromEntries(said) : undefined;
}
