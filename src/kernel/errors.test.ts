import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ERROR_TABLE, hideIn, messageOf, toToolscoutError, ToolscoutError, type ErrorCode } from './errors.js';

const CODES = Object.keys(ERROR_TABLE) as ErrorCode[];

/** What the specification promises, written down a second time. */
const PROMISED = [
  'TOOL_VALIDATION_ERROR',
  'TOOL_NOT_FOUND',
  'SERVER_NOT_FOUND',
  'TOOL_DISABLED',
  'APPROVAL_REQUIRED',
  'TOOL_CHANGED',
  'RATE_LIMITED',
  'TOOL_EXECUTION_TIMEOUT',
  'TOOL_EXECUTION_ERROR',
  'SERVER_CONNECTION_ERROR',
  'AUTHENTICATION_FAILED',
  'SESSION_INIT_FAILED',
  'TOOLS_LIST_FAILED',
  'SCHEMA_CONVERSION_FAILED',
  'CONFIGURATION_ERROR',
  'FORBIDDEN',
  'CIRCUIT_OPEN',
];

describe('errors', () => {
  it("A33 hides in the server's own error too: its message and its data", () => {
    const error = new ToolscoutError('TOOL_EXECUTION_ERROR', 'said hunter2', {
      upstream: { code: -1, message: 'hunter2', data: { deep: ['hunter2', 1] } },
    });
    const hidden = hideIn(error, (text) => text.replaceAll('hunter2', '***'));
    expect(hidden).toMatchObject({
      message: 'said ***',
      upstream: { code: -1, message: '***', data: { deep: ['***', 1] } },
    });
    expect(hideIn(error, () => '{').upstream).toEqual({ code: -1, message: '{', data: '{' });
  });

  it('EXEC-3 every promised code is in the table', () => {
    expect(CODES).toEqual(expect.arrayContaining(PROMISED));
  });

  it.each(CODES)('EXEC-3 CLI-2 %s has a status, an exit code, a severity and a suggestion', (code) => {
    const { status, exit, severity, suggestion } = ERROR_TABLE[code];
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
    expect([1, 2, 3, 4, 64]).toContain(exit);
    expect(['WARNING', 'SEVERE']).toContain(severity);
    // What is wrong with a request, only its message can say.
    expect(suggestion).toMatch(code === 'INVALID_REQUEST' ? /^$/ : /\.$/);
  });

  it('CLI-2 what a rule or an approval refuses ends with 4, what is not found with 2', () => {
    const ending = (exit: number): string[] => CODES.filter((code) => ERROR_TABLE[code].exit === exit).toSorted();
    expect(ending(4)).toEqual([
      'APPROVAL_REQUIRED',
      'CONFIRMATION_REJECTED',
      'CONFIRMATION_REQUIRED',
      'FORBIDDEN',
      'TOOL_CHANGED',
      'TOOL_DISABLED',
      'UNAUTHENTICATED',
    ]);
    expect(ending(2)).toEqual([
      'CONFIGURATION_ERROR',
      'NOTHING_FOUND',
      'NOT_FOUND',
      'REGISTRY_MISCONFIGURED',
      'SERVER_NOT_FOUND',
      'SKILL_NOT_FOUND',
      'TOOL_NOT_FOUND',
    ]);
    expect(ending(64)).toEqual(['INVALID_REQUEST', 'METHOD_NOT_ALLOWED', 'PAYLOAD_TOO_LARGE']);
  });

  it('EXEC-3 an error takes suggestion and severity from the table unless it has its own', () => {
    const plain = new ToolscoutError('RATE_LIMITED', 'Too fast.');
    expect(plain).toMatchObject({
      name: 'ToolscoutError',
      message: 'Too fast.',
      suggestion: ERROR_TABLE.RATE_LIMITED.suggestion,
      severity: 'WARNING',
      problems: [],
    });
    expect(plain.retryAfterMs).toBeUndefined();
    expect(plain.delivered).toBeUndefined();
    expect(Object.hasOwn(plain, 'cause')).toBe(false);

    const cause = new Error('below');
    const exact = new ToolscoutError('RATE_LIMITED', 'Too fast.', {
      suggestion: 'Wait a second.',
      severity: 'SEVERE',
      retryAfterMs: 1000,
      problems: [{ path: '/a', message: 'is wrong' }],
      delivered: false,
      upstream: { code: -32_000 },
      cause,
    });
    expect(exact).toMatchObject({
      suggestion: 'Wait a second.',
      severity: 'SEVERE',
      retryAfterMs: 1000,
      problems: [{ path: '/a', message: 'is wrong' }],
      delivered: false,
      upstream: { code: -32_000 },
      cause,
    });
  });

  it('EXEC-3 a ToolscoutError passes through unchanged', () => {
    const error = new ToolscoutError('TOOL_NOT_FOUND', 'No such tool.');
    expect(toToolscoutError(error, 'INTERNAL_ERROR')).toBe(error);
  });

  it('EXEC-3 anything thrown becomes an error of ours with the code the caller names, and never throws itself', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true }), (thrown) => {
        const error = toToolscoutError(thrown, 'STORE_ERROR');
        expect(error.code).toBe('STORE_ERROR');
        expect(typeof error.message).toBe('string');
        expect(error.cause).toBe(thrown);
      }),
    );
  });

  it('R10 a process without free files is overloaded for a moment, whatever failed for it, and no file is named', () => {
    for (const code of ['EMFILE', 'ENFILE']) {
      const thrown = Object.assign(new Error(`${code}: too many open files, open '/home/me/x.js'`), { code });
      const error = toToolscoutError(thrown, 'SERVER_CONNECTION_ERROR');
      expect(error).toMatchObject({ code: 'OVERLOADED', retryAfterMs: 1000, cause: thrown });
      expect(ERROR_TABLE[error.code].status).toBe(503);
      expect(error.message).not.toContain('/home');
    }
    expect(toToolscoutError(Object.assign(new Error('x'), { code: 'ENOENT' })).code).toBe('INTERNAL_ERROR');
  });

  it('EXEC-3 the message of anything is text', () => {
    expect(messageOf(new Error('boom'))).toBe('boom');
    expect(messageOf('text')).toBe('text');
    expect(messageOf(undefined)).toBe('undefined');
    expect(messageOf(Symbol('s'))).toBe('Symbol(s)');
  });

  it('A33 every text of an error passes through the mask, everything else stays', () => {
    const error = new ToolscoutError('TOOLS_LIST_FAILED', 'It said s3cret.', {
      suggestion: 'Do not use s3cret.',
      severity: 'WARNING',
      retryAfterMs: 7,
      problems: [{ path: '/a', message: 's3cret is wrong' }],
      delivered: false,
      upstream: { code: -32_000 },
      cause: new Error('s3cret'),
    });
    const shown = hideIn(error, (text) => text.replaceAll('s3cret', '***'));
    expect(shown).toMatchObject({
      code: 'TOOLS_LIST_FAILED',
      message: 'It said ***.',
      suggestion: 'Do not use ***.',
      severity: 'WARNING',
      retryAfterMs: 7,
      problems: [{ path: '/a', message: '*** is wrong' }],
      delivered: false,
      upstream: { code: -32_000 },
    });
    expect(String(shown.stack) + String(shown.cause)).not.toContain('s3cret');
  });
});
