import { describe, expect, it } from 'vitest';
import { createPlainEvents, plainBody } from './plain-answers.js';

const result = { content: [{ type: 'text', text: 'ok\u2028data: {}' }], structuredContent: { error: 'mine' } };
const odd = { jsonrpc: '2.0', id: 7, result, error: null, took: 3 };

describe('plainBody', () => {
  it.each([
    [odd, { jsonrpc: '2.0', id: 7, result }],
    [
      { jsonrpc: '2.0', id: 7, result: { ...result, _meta: 'x' } },
      { jsonrpc: '2.0', id: 7, result },
    ],
    [
      { jsonrpc: '2.0', id: 7, result: null, error: { code: 'E_GONE', message: 'gone', data: 1, more: 2 } },
      { jsonrpc: '2.0', id: 7, error: { code: -32603, message: 'gone', data: 1 } },
    ],
    [
      { jsonrpc: '2.0', id: 'a', error: 'boom' },
      { jsonrpc: '2.0', id: 'a', error: { code: -32603, message: 'boom' } },
    ],
    // What is no answer, or none of JSON-RPC 2.0, is not for us to change.
    [
      { id: 7, result },
      { id: 7, result },
    ],
    [
      { jsonrpc: '2.0', method: 'ping', id: 7, more: 1 },
      { jsonrpc: '2.0', method: 'ping', id: 7, more: 1 },
    ],
    ['text', 'text'],
    [[null], [null]],
    [[null, odd, 7], [{ jsonrpc: '2.0', id: 7, result }]],
  ])('EXEC-1 takes %j as %j', (body, expected) => {
    expect(plainBody(body)).toEqual(expected);
  });
});

describe('createPlainEvents', () => {
  const through = (bytes: Buffer, size: number): string => {
    const events = createPlainEvents();
    const out: Uint8Array[] = [];
    for (let from = 0; from < bytes.length; from += size) {
      const lines = events.take(bytes.subarray(from, from + size));
      if (lines) out.push(lines);
    }
    return Buffer.concat([...out, events.rest()]).toString();
  };

  it.each(['\n', '\r\n', '\r'])(
    'EXEC-1 repairs the answers of a stream, however it is cut, with the line end %j',
    (end) => {
      const text = [
        ': hi',
        `data: ${JSON.stringify(odd)}`,
        '',
        'data: {"error":',
        'data: no',
        '',
        'data: {"error":',
      ].join(end);
      const expected = text.replace(JSON.stringify(odd), JSON.stringify({ jsonrpc: '2.0', id: 7, result }));
      for (const size of [1, 7, 10_000]) expect(through(Buffer.from(text), size)).toBe(expected);
    },
  );
});
