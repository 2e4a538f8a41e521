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

/** What a `traceparent` says; `undefined` when it says nothing valid. Ids of zeros alone are none. */
export function readTraceParent(text: unknown): TraceParent | undefined {
  const found = typeof text === 'string' ? PARENT.exec(text) : null;
  if (!found || ZEROS.test(found[1]!) || ZEROS.test(found[2]!)) return undefined;
  return { traceId: found[1]!, spanId: found[2]!, isSampled: (Number.parseInt(found[3]!, 16) & 1) === 1 };
}
