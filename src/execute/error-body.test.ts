import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../kernel/json.js';
import { isErrorResult } from './error-body.js';

const body = { error_code: 'INCIDENT_NOT_FOUND', suggestion: 'Verify the Fire ID.', severity: 'SEVERE' };
const asText = (value: unknown): JsonObject => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });

describe('an error body without isError', () => {
  it.each<[string, JsonObject]>([
    ['structured content', { content: [], structuredContent: body }],
    ['the object under "error"', { content: [], structuredContent: { error: body } }],
    ['the only text', asText(body)],
    ['the object under "error" in the only text', asText({ error: body })],
    ['a code with a message', asText({ error_code: 'E1', message: 'no' })],
    ['a code with a detail', asText({ error_code: 'E1', detail: 'no' })],
  ])('EXEC-3 NEG-4 %s is an error', (_, result) => {
    expect(isErrorResult(result, undefined)).toBe(true);
  });

  it.each<[string, JsonObject, JsonObject?]>([
    ['a code alone', asText({ error_code: 'E1' })],
    ['a field "error"', asText({ error: 'rate', message: 'x', severity: 'WARNING' })],
    ['a code that says that all is well', asText({ error_code: 'OK', message: 'done' })],
    ['a code of zero', asText({ error_code: '0', message: 'done' })],
    ['a code that is a number', asText({ error_code: 404, message: 'not found' })],
    ['a body that says success', asText({ success: true, error_code: 'E1', message: 'recovered' })],
    ['text beside it', { content: [...(asText(body)['content'] as JsonObject[]), { type: 'text', text: 'log' }] }],
    ['a list of such', asText([body])],
    ['text about it', { content: [{ type: 'text', text: 'an "error_code" means that it failed' }] }],
    ['structured content that is data', { ...asText(body), structuredContent: { rows: [body] } }],
    ['a tool whose output always has it', asText(body), { type: 'object', required: ['error_code'] }],
    ['nothing', {}],
  ])('META-3 %s is data', (_, result, outputSchema) => {
    expect(isErrorResult(result, outputSchema)).toBe(false);
  });

  it('A28 a text that is too long is not parsed', () => {
    expect(isErrorResult(asText({ ...body, filler: 'x'.repeat(70_000) }), undefined)).toBe(false);
  });
});
