import { describe, expect, it } from 'vitest';
import { isMessage } from './json-rpc.js';

describe('isMessage', () => {
  it.each([
    [true, { jsonrpc: '2.0', id: 1, result: {} }],
    [true, { jsonrpc: '2.0', id: 'a', error: { code: 1, message: 'x' } }],
    [true, { jsonrpc: '2.0', method: 'notifications/x' }],
    [true, { jsonrpc: '2.0', id: 0, method: 'x', params: {} }],
    [false, { id: 1, result: {} }],
    [false, { jsonrpc: '2.0' }],
    [false, { jsonrpc: '2.0', id: 1 }],
    [false, { jsonrpc: '2.0', id: null, error: { code: 1, message: 'x' } }],
    [false, { jsonrpc: '2.0', id: {}, method: 'x' }],
    [false, { jsonrpc: '2.0', method: 1 }],
    [false, { jsonrpc: '2.0', method: 'x', params: [] }],
    [false, { jsonrpc: '2.0', id: 1, error: 'text' }],
    [false, []],
    [false, null],
    [false, 42],
  ])('S22 %s for %j', (expected, value) => {
    expect(isMessage(value)).toBe(expected);
  });
});
