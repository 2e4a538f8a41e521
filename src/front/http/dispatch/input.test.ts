import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readBody } from './input.js';

const post = (body: string): Request =>
  new Request('http://127.0.0.1/v1/call', { method: 'POST', headers: { 'content-type': 'application/json' }, body });

describe('readBody', () => {
  it('A28 A43 a body with too many values is refused before it is parsed', async () => {
    // It breaks off, so a parser would call it no JSON.
    await expect(readBody(z.unknown(), post(`[${'[],'.repeat(600_000)}`))).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      problems: [{ path: 'body', message: 'has more than 1000000 values' }],
    });
  });

  it('REG-2 a field that is missing or has the wrong type is named in plain words', async () => {
    const schema = z.strictObject({ server: z.string(), tool: z.string() });
    await expect(readBody(schema, post('{"server":1}'))).rejects.toMatchObject({
      message: 'The body is not valid: server: expected string, found number; tool: is missing; expected string.',
    });
  });

  it('A28 a body that is large for its text alone is taken', async () => {
    const body = { text: '[,{'.repeat(1_000_000) };
    expect(await readBody(z.unknown(), post(JSON.stringify(body)))).toEqual(body);
  });
});
