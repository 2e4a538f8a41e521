import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { ToolscoutError } from '../../kernel/errors.js';
import { eraChanged, rpcError, toUpstreamError } from './errors.js';

const http = (status: number, text: string, message = 'Error POSTing to endpoint') =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, message, { status, statusText: 'Status', text });
const failedFetch = (code: string) => new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) });
const map = (thrown: unknown) => toUpstreamError('s', thrown, (text) => text.replaceAll('hunter2', '***'));

describe('eraChanged', () => {
  it('EXEC-3 says that the call did not run and can be made again', () => {
    expect(eraChanged('s')).toMatchObject({
      message: expect.stringContaining('the call did not run') as string,
      suggestion: 'Make the call again.',
      delivered: false,
    });
  });
});

describe('toUpstreamError', () => {
  it('EXEC-3 names refused credentials', () => {
    expect(map(http(401, '')).code).toBe('AUTHENTICATION_FAILED');
    expect(map(http(403, '')).code).toBe('AUTHENTICATION_FAILED');
    expect(map(Object.assign(new Error('x'), { name: 'UnauthorizedError' })).code).toBe('AUTHENTICATION_FAILED');
  });

  it('A26 data of an error that nests too deep to be written is left out, the error stays', () => {
    const data = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`) as unknown;
    expect(rpcError('s', { code: -1, message: 'no', data }).upstream).toEqual({ code: -1, message: 'no' });
  });

  it('EXEC-3 finds the JSON-RPC error in the body of a refusal', () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32020, message: 'header', data: { a: 1 } } });
    expect(map(http(400, body))).toMatchObject({
      code: 'TOOL_EXECUTION_ERROR',
      upstream: { code: -32020, data: { a: 1 } },
    });
  });

  it('A33 hides a secret before it cuts the text: no half of one is left at the end', () => {
    const hide = (text: string): string => text.replaceAll('canary-secret', '***');
    const { message } = rpcError('s', { code: 1, message: `${'x'.repeat(1990)}canary-secret` }, hide);
    expect(message).toMatch(/x\*\*\*$/);
    expect(message).not.toContain('canary');
  });

  it('EXEC-3 shows a short, printable, masked piece of any other body', () => {
    const error = map(http(500, `<h1>\u001b[31mtoken hunter2</h1>${'x '.repeat(5000)}`));
    expect(error.code).toBe('SERVER_CONNECTION_ERROR');
    expect(error.message).toContain('HTTP 500: <h1>\\u001b[31mtoken ***</h1>');
    expect(error.message.length).toBeLessThan(300);
  });

  it('EXEC-3 keeps what the body of a refusal says, within bounds and without secrets', () => {
    const body = { error_code: 'E42', suggestion: 'not hunter2', severity: 'SEVERE' };
    for (const status of [400, 401, 403, 422, 500]) {
      expect(map(http(status, JSON.stringify(body))).refusal).toEqual({
        status,
        body: { ...body, suggestion: 'not ***' },
      });
    }
    expect(map(http(400, '<h1>no</h1>')).refusal).toEqual({ status: 400 });
    expect(map(http(400, JSON.stringify({ ...body, padding: 'x'.repeat(70_000) }))).refusal).toEqual({ status: 400 });
    expect(map(http(400, `{"a":${'['.repeat(100)}${']'.repeat(100)}}`)).refusal).toEqual({ status: 400 });
    const busy = new ToolscoutError('RATE_LIMITED', 'later', { refusal: { status: 429, body }, retryAfterMs: 5 });
    expect(map(new Error('send failed', { cause: busy }))).toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterMs: 5,
      refusal: { status: 429, body: { suggestion: 'not ***' } },
    });
  });

  it('S11 says where a redirect points that was not followed', () => {
    const said =
      "Error POSTing to endpoint: Redirect to https://other.example/hunter2 not followed; use that URL (redirectPolicy: 'x')";
    expect(map(http(307, '', said))).toMatchObject({
      message: 'The server "s" redirects to https://other.example/*** (HTTP 307), and toolscout follows no redirects.',
      suggestion: 'If that is the server you mean, write that address as its "url" in the config.',
      refusal: { status: 307 },
    });
    expect(map(http(302, '')).message).toBe('The server "s" answered with HTTP 302: Status');
  });

  it.each([
    ['text/html', 'the content type text/html'],
    [null, 'no content type'],
  ])('EXEC-3 says that an answer of the type %j is not of MCP', (contentType, said) => {
    const thrown = new SdkError(SdkErrorCode.ClientHttpUnexpectedContent, 'Unexpected content type', { contentType });
    expect(map(thrown)).toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
      message: `The server "s" answered with ${said}; expected application/json or text/event-stream.`,
    });
  });

  it('CONN-7 detects that nothing can have been sent', () => {
    for (const code of ['ECONNREFUSED', 'ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT', 'CERT_HAS_EXPIRED']) {
      expect(map(failedFetch(code))).toMatchObject({ code: 'SERVER_CONNECTION_ERROR', delivered: false });
    }
    for (const code of ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_BODY_TIMEOUT']) {
      expect(map(failedFetch(code))).toMatchObject({ code: 'SERVER_CONNECTION_ERROR', delivered: undefined });
    }
    const both = new AggregateError([Object.assign(new Error('::1'), { code: 'ECONNREFUSED' })]);
    expect(map(new TypeError('fetch failed', { cause: both })).delivered).toBe(false);
  });

  it('EXEC-3 our own error passes through whatever wraps it', () => {
    const ours = new ToolscoutError('RATE_LIMITED', 'later', { retryAfterMs: 5 });
    expect(map(new Error('probe failed', { cause: ours }))).toBe(ours);
  });

  it('EXEC-3 an answer that cannot be parsed was an answer: the server was reached', () => {
    const invalid = { message: '[ { "code": "invalid_union" } ]', issues: [{ code: 'invalid_union' }] };
    const zod = Object.assign(new Error(invalid.message), { name: 'ZodError', issues: invalid.issues });
    for (const thrown of [zod, new SyntaxError('Unexpected token N in JSON')]) {
      const error = map(thrown);
      expect(error).toMatchObject({ code: 'TOOL_EXECUTION_ERROR', upstream: undefined });
      expect(error.message).toMatch(/answered with something that is not (valid JSON|a JSON-RPC 2\.0 message)/);
      expect(error.message).not.toContain('invalid_union');
      expect(error.suggestion).toContain('may have taken effect');
    }
  });

  it('EXEC-3 anything else is a connection that cannot be reached', () => {
    expect(map('text')).toMatchObject({ code: 'SERVER_CONNECTION_ERROR', delivered: undefined });
  });
});
