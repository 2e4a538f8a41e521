import { newTraceId } from './ids.js';
import type { JsonObject } from './json.js';

const PARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const ZEROS = /^0+$/;

/** Where in which trace something was asked for (W3C Trace Context). */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** A text as the id of a trace, as W3C Trace Context writes it; a UUID is one without its hyphens. */
export function readTraceId(text: string | undefined): string | undefined {
  const digits = text?.replaceAll('-', '').toLowerCase() ?? '';
  return /^[0-9a-f]{32}$/.test(digits) && !ZEROS.test(digits) ? digits : undefined;
}

/** Parses a `traceparent`; `undefined` when it is not valid. Ids of zeros alone are not valid. */
export function readTraceParent(text: unknown): TraceParent | undefined {
  const found = typeof text === 'string' ? PARENT.exec(text) : null;
  if (!found || ZEROS.test(found[1]!) || ZEROS.test(found[2]!)) return undefined;
  return { traceId: found[1]!, spanId: found[2]!, isSampled: (Number.parseInt(found[3]!, 16) & 1) === 1 };
}

/** Headers, as far as they are read here. */
interface Readable {
  get(name: string): string | null;
}

const REQUEST_ID = /^[\w.:-]{1,128}$/;
const TRACE_STATE = /^[\x20-\x7e]{1,512}$/;

/** The id of a request, for its answer, the audit log and its spans: that of its trace, the caller's own, or a new one (REG-3). */
export function traceIdOf({ headers }: { readonly headers: Readable }): string {
  const traced = readTraceParent(headers.get('traceparent'));
  if (traced) return traced.traceId;
  const given = headers.get('x-trace-id');
  return given !== null && REQUEST_ID.test(given) ? given : newTraceId();
}

/** What a call carries on to its server so that the trace goes on there; nothing else of the request does (S11). */
export function traceMeta({ headers }: Request): JsonObject | undefined {
  const traceparent = headers.get('traceparent');
  if (traceparent === null || !readTraceParent(traceparent)) return undefined;
  const tracestate = headers.get('tracestate') ?? '';
  return { traceparent, ...(TRACE_STATE.test(tracestate) && { tracestate }) };
}
