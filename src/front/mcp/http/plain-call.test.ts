import { describe, expect, it } from 'vitest';
import { envelope, modernPost } from '../../../../test/support/modern-request.js';
import type { JsonObject } from '../../../kernel/json.js';
import { isPlainCall } from './plain-call.js';

const PREFIX = 'io.modelcontextprotocol';

interface Change {
  readonly headers?: Record<string, string | undefined>;
  readonly message?: JsonObject;
  readonly params?: JsonObject;
  readonly meta?: JsonObject;
}

function judge({ headers, message, params, meta }: Change): boolean {
  const request = new Request('http://a/mcp', modernPost('tools/call', { name: 'echo' }, headers));
  const _meta = { ...envelope(), ...meta };
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', ...params, _meta }, ...message };
  return isPlainCall(request, body);
}

describe('a call of the 2026 era that needs no judge', () => {
  it.each<[string, Change]>([
    ['an ordinary one', {}],
    ['one with arguments and a token for progress', { params: { arguments: { a: 1 } }, meta: { progressToken: 7 } }],
    ['one of a host with capabilities', { meta: { [`${PREFIX}/clientCapabilities`]: { elicitation: { form: {} } } } }],
    ['one of a host without a name', { meta: { [`${PREFIX}/clientInfo`]: undefined } }],
    ['one that wants log messages', { meta: { [`${PREFIX}/logLevel`]: 'info' } }],
    ['one with fields of others', { meta: { traceparent: 'x', 'com.example/a': 1 } }],
  ])('S3 is %s', (_, change) => {
    expect(judge(change)).toBe(true);
  });

  it.each<[string, Change]>([
    ['another revision in the header', { headers: { 'mcp-protocol-version': '2025-11-25' } }],
    ['another method in the header', { headers: { 'mcp-method': 'tools/list' } }],
    ['another name in the header', { headers: { 'mcp-name': 'other' } }],
    ['no name in the header', { headers: { 'mcp-name': undefined } }],
    ['a name that is encoded', { headers: { 'mcp-name': '=?base64?ZQ==?=' }, params: { name: '=?base64?ZQ==?=' } }],
    ['another type of content', { headers: { 'content-type': 'text/plain' } }],
    ['another method', { message: { method: 'tools/list' } }],
    ['no params', { message: { params: undefined } as unknown as JsonObject }],
    ['a field that JSON-RPC does not know', { message: { Method: 'tools/call' } }],
    ['no id', { message: { id: null } }],
    ['an id that is no whole number', { message: { id: 1.5 } }],
    ['a name that is no text', { params: { name: 7 } }],
    ['an answer to a question', { params: { inputResponses: {} } }],
    ['a state', { params: { requestState: 'x' } }],
    ['a token that is none', { meta: { progressToken: {} } }],
    ['another revision in the body', { meta: { [`${PREFIX}/protocolVersion`]: '2025-11-25' } }],
    ['a host that is a text', { meta: { [`${PREFIX}/clientInfo`]: 'host' } }],
    ['a host without a version', { meta: { [`${PREFIX}/clientInfo`]: { name: 'host' } } }],
    ['capabilities that are none', { meta: { [`${PREFIX}/clientCapabilities`]: [] } }],
    ['a capability that is a text', { meta: { [`${PREFIX}/clientCapabilities`]: { sampling: 'yes' } } }],
    ['a log level that is none', { meta: { [`${PREFIX}/logLevel`]: 'loud' } }],
    ['a field that the protocol keeps for itself', { meta: { [`${PREFIX}/subscriptionId`]: 'x' } }],
  ])('S3 A10 is not one with %s', (_, change) => {
    expect(judge(change)).toBe(false);
  });

  it('S3 is not one without an envelope', () => {
    const request = new Request('http://a/mcp', modernPost('tools/call', { name: 'echo' }));
    expect(isPlainCall(request, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo' } })).toBe(false);
  });
});
