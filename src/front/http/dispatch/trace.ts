import { newTraceId } from '../../../kernel/ids.js';
import type { JsonObject } from '../../../kernel/json.js';
import { readTraceParent } from '../../../kernel/trace-context.js';

const TRACE_ID = /^[\w.:-]{1,128}$/;
const TRACE_STATE = /^[\x20-\x7e]{1,512}$/;

/** The trace that a request belongs to, as W3C Trace Context says; `undefined` when it says nothing valid. */
function traceOf(request: Request): string | undefined {
  return readTraceParent(request.headers.get('traceparent'))?.traceId;
}

/** The id of a request, for its answer, the audit log and its spans: that of its trace, the caller's own, or a new one (REG-3). */
export function traceIdOf(request: Request): string {
  const given = request.headers.get('x-trace-id');
  return traceOf(request) ?? (given !== null && TRACE_ID.test(given) ? given : newTraceId());
}

const kept = new WeakMap<Request, string>();

/** The same id each time, where several who do not know of each other ask for it. */
export function keptTraceIdOf(request: Request): string {
  const known = kept.get(request) ?? traceIdOf(request);
  kept.set(request, known);
  return known;
}

/** What a call carries on to its server so that the trace goes on there; nothing else of the request does (S11). */
export function traceMeta(request: Request): JsonObject | undefined {
  const traceparent = request.headers.get('traceparent');
  if (traceOf(request) === undefined || traceparent === null) return undefined;
  const tracestate = request.headers.get('tracestate') ?? '';
  return { traceparent, ...(TRACE_STATE.test(tracestate) && { tracestate }) };
}
