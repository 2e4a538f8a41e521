import { describe, expect, it } from 'vitest';
import { testTool } from '../../../test/support/test-tool.js';
import type { JsonObject } from '../../kernel/json.js';
import type { Tool } from '../../model/tool.js';
import { createOutputCheck } from './output-check.js';

const tool = (outputSchema?: JsonObject): Tool =>
  testTool('s', 't', {
    hash: JSON.stringify(outputSchema ?? null),
    definition: { ...(outputSchema && { outputSchema }) },
  });
const sum = tool({ type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] });

describe('results against their output schema', () => {
  it('META-3 reports a contradiction, and changes nothing', async () => {
    const check = createOutputCheck();
    expect(await check(sum, { structuredContent: { sum: 1 } })).toBeUndefined();
    expect(await check(sum, { structuredContent: { sum: 'one' } })).toContain('sum');
    expect(await check(sum, { content: [] })).toContain('missing');
  });

  it('META-3 nothing is said where there is nothing to check', async () => {
    const check = createOutputCheck();
    expect(await check(tool(), { content: [] })).toBeUndefined();
    expect(await check(sum, { isError: true, content: [] })).toBeUndefined();
    expect(await check(tool({ type: 'array' }), { structuredContent: [1] })).toBeUndefined();
    expect(await check(tool({ $ref: '#/nowhere' }), { structuredContent: {} })).toBeUndefined();
  });
});
