import { describe, expect, it } from 'vitest';
import { missingCalls, readCalls } from './imported-calls.js';

const CALL = { name: 'hello', server: 'legacy', tool: 'echo', arguments: { message: 'x', to: { a: 1, b: 2 } } };

describe('imported calls', () => {
  it.each([
    ['an export', { calls: [{ ...CALL, id: 'one', savedAt: 5 }] }],
    ['a list', [CALL]],
    ['a single call', CALL],
  ])('STUDIO-5 reads %s', (_what, value) => {
    expect(readCalls(`\uFEFF${JSON.stringify(value)}`)).toEqual({ calls: [CALL] });
  });

  it.each([
    ['{', 'This is not JSON.'],
    ['', 'This is not JSON.'],
    ['[]', 'There are no calls in it.'],
    ['{"calls":[]}', 'There are no calls in it.'],
    ['null', 'Call 1 is not one'],
    [JSON.stringify([CALL, { ...CALL, arguments: [] }]), 'Call 2 is not one'],
    [JSON.stringify({ ...CALL, name: ' ' }), 'Call 1 is not one'],
    [JSON.stringify({ ...CALL, server: 5 }), 'Call 1 is not one'],
    [JSON.stringify(Array.from({ length: 201 }, () => CALL)), 'There are more than 200 calls'],
  ])('STUDIO-5 says what is wrong with %.60s', (text, problem) => {
    expect(readCalls(text)).toEqual({ problem: expect.stringContaining(problem) as string });
  });

  it('STUDIO-5 leaves out what is kept already, whatever the order of keys, and what is there twice', () => {
    const other = { ...CALL, name: 'other' };
    const turned = { ...CALL, arguments: { to: { b: 2, a: 1 }, message: 'x' } };
    expect(missingCalls([turned, other, other], [CALL])).toEqual([other]);
    expect(missingCalls([CALL, { ...CALL, arguments: {} }], [])).toHaveLength(2);
  });
});
