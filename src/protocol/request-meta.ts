import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';

/** Fields of `_meta` that belong to the protocol and to tracing. */
const PLUMBING = /^(?:progressToken|traceparent|tracestate|io\.modelcontextprotocol\/.*)$/;

/** What a caller says in the `_meta` of a request, for the audit log; `undefined` when that is nothing. */
export function auditedMeta(meta: JsonValue | undefined): JsonObject | undefined {
  if (!isObject(meta)) return undefined;
  const said = Object.entries(meta).filter(([name]) => !PLUMBING.test(name));
  return said.length > 0 ? Object.fromEntries(said) : undefined;
}
