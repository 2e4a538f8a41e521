import { describe, expect, it } from 'vitest';
import { strictCallResult, strictCompletion, strictPromptResult, strictReadResult } from './strict-results.js';

const NOW = '2025-11-25';
const text = { type: 'text', text: 'two' };

describe('what hosts get of a result', () => {
  it('META-3 a result that can be parsed is the same object', () => {
    const resource = { type: 'resource', resource: { uri: 'x://a', blob: '' }, vendor: 1 };
    const whole = [
      { content: [] },
      {
        content: [text, { type: 'image', data: '', mimeType: 'image/png' }, resource],
        structuredContent: {},
        vendor: 1,
      },
      { content: [{ ...text, annotations: { priority: 1 } }], isError: true, _meta: { a: 1 } },
      { resultType: 'input_required', inputRequests: {} },
      { task: { taskId: '1' } },
    ];
    for (const result of whole) expect(strictCallResult(result, NOW)).toBe(result);
    const prompt = { messages: [{ role: 'user', content: text }] };
    expect(strictPromptResult(prompt, NOW)).toBe(prompt);
    const read = { contents: [{ uri: 'x://a', text: '', mimeType: 'text/plain' }] };
    expect(strictReadResult(read, 'x://b')).toBe(read);
    const completed = { completion: { values: ['a'], total: 1 } };
    expect(strictCompletion(completed)).toBe(completed);
  });

  it('META-6 a structured value that is no object is wrapped before 2026-07-28, and can be read as text', () => {
    expect(strictCallResult({ content: [text], structuredContent: [1, 2] }, NOW)).toEqual({
      content: [text],
      structuredContent: { result: [1, 2] },
    });
    const image = { type: 'image', data: '', mimeType: 'image/png' };
    expect(strictCallResult({ content: [image], structuredContent: 2 }, NOW)).toEqual({
      content: [image, { type: 'text', text: '2' }],
      structuredContent: { result: 2 },
    });
    expect(strictCallResult({ structuredContent: null }, NOW)).toEqual({
      content: [{ type: 'text', text: 'null' }],
      structuredContent: { result: null },
    });
    const modern = { content: [text], structuredContent: [1, 2] };
    expect(strictCallResult(modern, '2026-07-28')).toBe(modern);
  });

  it.each([
    ['one text', { role: 'user', content: { type: 'text', text: 'one text' } }, { uri: 'x://a', text: 'one text' }],
    [undefined, undefined, undefined],
    [null, undefined, undefined],
  ])('META-3 %j where a list of messages or contents belongs becomes a list', (value, message, item) => {
    const given = value === undefined ? {} : { messages: value, contents: value };
    expect(strictPromptResult(given, NOW)['messages']).toEqual(message ? [message] : []);
    expect(strictReadResult(given, 'x://a')['contents']).toEqual(item ? [item] : []);
  });

  it('META-3 a mark of failure that is no boolean still marks a failure', () => {
    expect(strictCallResult({ content: [], isError: 'true', _meta: [] }, NOW)).toEqual({ content: [], isError: true });
    expect(strictCallResult({ content: [], isError: 0 }, NOW)).toEqual({ content: [] });
  });
});
