import { describe, expect, it } from 'vitest';
import { isPlainLegacyNotification, isPlainLegacyRequest } from './json-rpc.js';

describe('isPlainLegacyNotification', () => {
  const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
  it.each([
    [true, notification],
    [true, { ...notification, params: { requestId: 1 } }],
    [false, { ...notification, jsonrpc: '1.0' }],
    [false, { ...notification, method: 1 }],
    [false, { ...notification, id: 1 }],
    [false, { ...notification, id: null }],
    [false, { ...notification, Params: {} }],
    [false, { ...notification, params: [] }],
    [false, { ...notification, params: { _meta: {} } }],
    [false, [notification]],
    [false, null],
  ])('A10 S3 is %s for %j', (expected, message) => {
    expect(isPlainLegacyNotification(message)).toBe(expected);
  });
});

describe('isPlainLegacyRequest', () => {
  const request = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
  it.each([
    [true, request],
    [true, { ...request, id: 'a', params: { name: 'x', _meta: { progressToken: 'p', traceparent: 'x' } } }],
    [false, { ...request, jsonrpc: '1.0' }],
    [false, { ...request, id: undefined }],
    [false, { ...request, id: 1.5 }],
    [false, { ...request, Params: {} }],
    [false, { ...request, params: [] }],
    [false, { ...request, params: { _meta: [] } }],
    [false, { ...request, params: { _meta: { progressToken: {} } } }],
    [false, { ...request, params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } } }],
    [false, [request]],
    [false, null],
  ])('A10 S3 is %s for %j', (expected, message) => {
    expect(isPlainLegacyRequest(message)).toBe(expected);
  });
});
