import { assert, constantFrom, integer, jsonValue, oneof, property, record, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readHeads } from './message-head.js';

const heads = (text: string): object[] => readHeads(Buffer.from(text));

describe('the head of a message', () => {
  it('STORE-6 has the id and the method, wherever they stand and whatever is nested', () => {
    expect(heads('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')).toEqual([{ id: 1, method: 'ping' }]);
    expect(heads('{"params":{"id":9,"method":"x","a":["}","\\"]"]},"method":"tools/call","id":"a\\"b"}')).toEqual([
      { id: 'a"b', method: 'tools/call' },
    ]);
    expect(heads(' { "id" : 2 , "result" : { } } ')).toEqual([{ id: 2 }]);
    expect(heads('{"jsonrpc":"2.0","method":"notifications/initialized"}')).toEqual([
      { method: 'notifications/initialized' },
    ]);
    expect(heads('{}')).toEqual([{}]);
  });

  it('STORE-6 leaves out what is neither an id nor a method', () => {
    expect(heads('{"id":null,"method":{"a":1}}')).toEqual([{}]);
    expect(heads('{"id":01,"method":"x"}')).toEqual([{ method: 'x' }]);
  });

  it('STORE-6 reads every message of a batch', () => {
    expect(heads('[{"id":1,"method":"a"},{"method":"b"},7,null]')).toEqual([
      { id: 1, method: 'a' },
      { method: 'b' },
      {},
      {},
    ]);
    expect(heads('[1,')).toEqual([]);
  });

  it.each([
    '',
    'hello',
    '7',
    '{',
    '{"id',
    '{"id"',
    '{"id":',
    '{"id":1',
    '{"id":"a',
    '{"id":{"a":"',
    '{"a":[1,2}',
    '{x}',
    '{"a" 1}',
  ])('STORE-6 finds nothing in %j', (text) => {
    expect(heads(text)).toEqual([]);
  });

  it('STORE-6 agrees with JSON.parse on every object', () => {
    const message = record(
      { id: oneof(integer(), string()), method: string(), params: jsonValue(), 'x"y': jsonValue() },
      { requiredKeys: [] },
    );
    assert(
      property(message, constantFrom(undefined, 2), (value, indent) => {
        const { id, method } = value;
        const expected = { ...(id !== undefined && { id }), ...(method !== undefined && { method }) };
        expect(heads(JSON.stringify(value, undefined, indent))).toEqual([expected]);
      }),
    );
  });
});
