import { describe, expect, it } from 'vitest';
import { ToolscoutError, type ErrorCode, type ErrorDetails } from '../kernel/errors.js';
import type { JsonObject } from '../kernel/json.js';
import { estimateBytes } from '../kernel/size.js';
import { failureOf, failureOfResult } from './outcome.js';

const context = { server: 's', tool: 't', hide: (text: string) => text.replaceAll('hunter2', '***') };
const sent = { transport: 'stdio' as const, isRepeatable: false };
const text = (value: string): JsonObject => ({ isError: true, content: [{ type: 'text', text: value }] });

describe('failures', () => {
  it('EXEC-1 a failure has the same fields in every front', () => {
    expect(failureOf(new ToolscoutError('RATE_LIMITED', 'too fast', { retryAfterMs: 5 }), context)).toEqual({
      code: 'RATE_LIMITED',
      message: 'too fast',
      server: 's',
      tool: 't',
      remedy: { kind: 'advice', text: 'Wait and try again.' },
      suggestion: 'Wait and try again.',
      severity: 'WARNING',
      retryAfterMs: 5,
    });
  });

  it('A33 no part of a failure shows a secret', () => {
    const error = new ToolscoutError('TOOL_VALIDATION_ERROR', 'hunter2', {
      suggestion: 'not hunter2',
      problems: [{ path: '/hunter2', message: 'must not be hunter2' }],
    });
    expect(JSON.stringify(failureOf(error, context))).not.toContain('hunter2');
    expect(JSON.stringify(failureOfResult(text('hunter2'), context))).not.toContain('hunter2');
  });

  it('EXEC-1 a tool that answers isError gives its first text as message', () => {
    expect(failureOfResult(text('no such file'), context)).toMatchObject({
      code: 'TOOL_EXECUTION_ERROR',
      message: 'no such file',
    });
    const mixed = {
      isError: true,
      content: [
        { type: 'image', data: 'x' },
        { type: 'text', text: 'second' },
      ],
    };
    expect(failureOfResult(mixed, context).message).toBe('second');
  });

  it('EXEC-1 reports a tool that answers isError and nothing else', () => {
    for (const result of [{}, { content: [] }, { content: 'text' }, { content: [null, 5, { type: 'text' }] }]) {
      expect(failureOfResult(result as JsonObject, context).message).toMatch(/without saying which/);
    }
  });

  it('EXEC-3 A33 the body of an HTTP refusal is carried through, without secrets', () => {
    const body = { error_code: 'E42', message: 'hunter2 is full', suggestion: 'Delete hunter2.', severity: 'warning' };
    const error = new ToolscoutError('SERVER_CONNECTION_ERROR', 'unavailable', { refusal: { status: 503, body } });
    expect(failureOf(error, { ...context, sent })).toEqual({
      code: 'SERVER_CONNECTION_ERROR',
      delivered: 'unknown',
      message: 'E42: *** is full',
      server: 's',
      tool: 't',
      error_code: 'E42',
      remedy: { kind: 'advice', text: 'Delete ***.' },
      suggestion: 'Delete ***.',
      severity: 'WARNING',
    });
    const plain = new ToolscoutError('SERVER_CONNECTION_ERROR', 'unavailable', {
      refusal: { status: 503, body: { a: 1 } },
    });
    expect(failureOf(plain, context)).toMatchObject({ message: 'unavailable', severity: 'SEVERE' });
  });

  it('EXEC-3 an error body in the text is carried through', () => {
    const body = { error_code: 'E42', message: 'disk full', suggestion: 'Delete something.', severity: 'severe' };
    expect(failureOfResult(text(JSON.stringify(body)), context)).toMatchObject({
      code: 'TOOL_EXECUTION_ERROR',
      message: 'E42: disk full',
      error_code: 'E42',
      suggestion: 'Delete something.',
      severity: 'SEVERE',
    });
  });

  it('EXEC-3 an error body in structured content or under "error" is carried through', () => {
    const structuredContent = { error: { error_code: 'E1', suggestion: 'Try x.' } };
    expect(failureOfResult({ ...text('plain'), structuredContent }, context)).toMatchObject({
      message: 'E1',
      suggestion: 'Try x.',
      severity: 'WARNING',
    });
  });

  it('EXEC-3 an error body in the data of a JSON-RPC error is carried through', () => {
    const error = new ToolscoutError('TOOL_EXECUTION_ERROR', 'failed', {
      upstream: { code: -32000, data: { error_code: 'E7', suggestion: 'Log in.', severity: 'SEVERE' } },
    });
    expect(failureOf(error, context)).toMatchObject({
      error_code: 'E7',
      message: 'E7: failed',
      suggestion: 'Log in.',
      severity: 'SEVERE',
    });
  });

  it('EXEC-3 a JSON-RPC error keeps its message beside what its data says', () => {
    const rpc = (data: JsonObject): ToolscoutError =>
      new ToolscoutError('TOOL_EXECUTION_ERROR', 'The server "s" returned an error: no such incident', {
        upstream: { code: -32000, message: 'no such incident', data },
      });
    const body = { error_code: 'INCIDENT_NOT_FOUND', suggestion: 'Verify the ID.', severity: 'SEVERE' };
    expect(failureOf(rpc(body), context)).toMatchObject({
      message: 'INCIDENT_NOT_FOUND: The server "s" returned an error: no such incident',
      error_code: 'INCIDENT_NOT_FOUND',
      suggestion: 'Verify the ID.',
      severity: 'SEVERE',
      upstream: { code: -32000, message: 'no such incident', data: body },
    });
    const more = failureOf(rpc({ ...body, message: 'IRWIN has no such ID' }), context).message;
    expect(more).toContain('no such incident');
    expect(more).toContain('IRWIN has no such ID');
    const same = failureOf(rpc({ ...body, message: 'no such incident' }), context).message;
    expect(same.match(/no such incident/g)).toHaveLength(1);
    expect(failureOf(rpc({ error: { suggestion: 'x' } }), context).message).toContain('no such incident');
  });

  it('EXEC-3 an HTTP refusal whose body has no message keeps the message it had', () => {
    const error = new ToolscoutError('SERVER_CONNECTION_ERROR', 'HTTP 503', {
      refusal: { status: 503, body: { error_code: 'E9', suggestion: 'Wait.' } },
    });
    expect(failureOf(error, context)).toMatchObject({ message: 'E9: HTTP 503', suggestion: 'Wait.' });
  });

  it('EXEC-3 an error body behind other texts is found; its name is one short line without secrets', () => {
    const body = { error_code: `INCIDENT\nhunter2 ${'x'.repeat(500)}`, suggestion: 'Verify the Fire ID.' };
    const content = [
      { type: 'text', text: 'It failed.' },
      { type: 'text', text: JSON.stringify(body) },
    ];
    const failure = failureOfResult({ isError: true, content }, context);
    expect(failure.suggestion).toBe('Verify the Fire ID.');
    expect(failure.error_code).toMatch(/^INCIDENT \*\*\*/);
    expect(failure.error_code!.length).toBeLessThanOrEqual(100);
  });

  it('EXEC-3 other JSON, broken JSON and wrong types stay plain text', () => {
    for (const body of ['{"a":1}', '{not json', '{"error_code":5,"severity":"mild","suggestion":""}', '[1]']) {
      expect(failureOfResult(text(body), context)).toMatchObject({ message: body, severity: 'WARNING' });
    }
  });

  it('A28 a message is never a whole page', () => {
    expect(failureOfResult(text('😀'.repeat(1e6)), context).message.length).toBeLessThanOrEqual(4000);
  });
});

describe('a call without an answer', () => {
  const lost = (details: ErrorDetails = {}, code: ErrorCode = 'SERVER_CONNECTION_ERROR'): ToolscoutError =>
    new ToolscoutError(code, 'The server "s" ended.', details);

  it('EXEC-4 says that the server is restarted, and whether the call may have taken effect', () => {
    expect(failureOf(lost(), { ...context, sent })).toMatchObject({
      delivered: 'unknown',
      suggestion:
        'The call may have taken effect: check before you repeat it. toolscout restarts the server with the next call.',
    });
    const remote = failureOf(lost(), { ...context, sent: { ...sent, transport: 'http' } });
    expect(remote.suggestion).toContain('toolscout connects again with the next call.');
    const repeatable = failureOf(lost(), { ...context, sent: { ...sent, isRepeatable: true } });
    expect(repeatable.suggestion).toContain('the call can be repeated');
  });

  it('EXEC-4 says that nothing was sent when nothing was', () => {
    const table = 'Run toolscout doctor to see what is wrong with this server.';
    expect(failureOf(lost({ delivered: false }), { ...context, sent })).toMatchObject({
      delivered: false,
      suggestion: table,
    });
    expect(failureOf(lost(), context)).toMatchObject({ delivered: false, suggestion: table });
  });

  it('EXEC-4 a time limit and a cancellation leave it open as well; a refusal by the server does not', () => {
    const late = failureOf(lost({}, 'TOOL_EXECUTION_TIMEOUT'), { ...context, sent });
    expect(late).toMatchObject({
      delivered: 'unknown',
      suggestion: expect.stringMatching(/may have taken effect.*raise/),
    });
    expect(failureOf(lost({}, 'CANCELLED'), { ...context, sent })).toMatchObject({
      delivered: 'unknown',
      suggestion: expect.stringMatching(/may have taken effect.*still needed/),
    });
    expect(failureOf(lost({ refusal: { status: 404 } }), { ...context, sent })).not.toHaveProperty('delivered');
    expect(failureOf(lost({}, 'RATE_LIMITED'), { ...context, sent })).not.toHaveProperty('delivered');
  });
});

describe('a call without a host that can be asked', () => {
  const unasked = { method: 'elicitation/create', hasHost: true };

  it('META-6 names the question and that the host does not support it', () => {
    const failure = failureOfResult(text('Method not found'), { ...context, sent, unasked });
    expect(failure.message).toBe(
      'Method not found (The server asked for elicitation/create, but this host does not support it.)',
    );
    expect(failure.suggestion).toContain('a host that supports elicitation');
    const rpc = new ToolscoutError('TOOL_EXECUTION_ERROR', 'failed', { upstream: { code: -32603 } });
    expect(failureOf(rpc, { ...context, sent, unasked: { ...unasked, hasHost: false } }).message).toBe(
      'failed (The server asked for elicitation/create, but there is no host to ask.)',
    );
  });

  it('META-6 a modern server that misses a capability of the host is explained', () => {
    const error = new ToolscoutError('TOOL_EXECUTION_ERROR', 'Missing', { upstream: { code: -32_021 } });
    expect(failureOf(error, { ...context, sent }).suggestion).toContain('this host did not declare');
  });
});

describe('size of a result', () => {
  it('EXEC-5 counts texts and data', () => {
    const result = {
      content: [
        { type: 'text', text: 'x'.repeat(1000) },
        { type: 'image', data: 'y'.repeat(5000) },
      ],
    };
    const exact = JSON.stringify(result).length;
    expect(Math.abs(estimateBytes(result) - exact) / exact).toBeLessThan(0.05);
    expect(estimateBytes(undefined)).toBe(4);
  });

  it('A28 looks at a bounded part of a huge result', () => {
    const huge = { structuredContent: { rows: Array.from({ length: 300_000 }, () => ({ a: 'x'.repeat(10) })) } };
    expect(estimateBytes(huge)).toBeGreaterThan(50_000);
  });
});
