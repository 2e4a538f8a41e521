import { describe, expect, it } from 'vitest';
import { readTraceParent } from './trace-context.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('trace context', () => {
  it('EXEC-5 a traceparent names a trace, a span and whether it is sampled', () => {
    expect(readTraceParent(`00-${TRACE}-${SPAN}-01`)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true });
    expect(readTraceParent(`00-${TRACE}-${SPAN}-02`)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: false });
  });

  it('EXEC-5 ignores an invalid traceparent', () => {
    for (const wrong of [
      undefined,
      7,
      {},
      '',
      `00-${TRACE}`,
      `01-${TRACE}-${SPAN}-01`,
      `00-${TRACE}-${SPAN}-01-x`,
      `00-${TRACE.toUpperCase()}-${SPAN}-01`,
      `00-${'0'.repeat(32)}-${SPAN}-01`,
      `00-${TRACE}-${'0'.repeat(16)}-01`,
    ]) {
      expect(readTraceParent(wrong)).toBeUndefined();
    }
  });
});
