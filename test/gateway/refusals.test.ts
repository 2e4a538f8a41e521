import { describe, expect, it } from 'vitest';
import type { ConfigInput } from '../../src/model/config.js';
import { openToolscout } from '../support/open-toolscout.js';
import { scriptedServer, scriptedTool, type ScriptedAnswer } from '../support/scripted-server.js';

const TOOLS = [
  scriptedTool('look', { annotations: { readOnlyHint: true } }),
  scriptedTool('set', { annotations: { idempotentHint: true } }),
  scriptedTool('buy'),
];
const RETRY: ConfigInput = { retryPolicy: { maxRetries: 2, initialDelayMs: 1, maxDelayMs: 5000 } };

/** A server that refuses the first calls, and a gateway before it. */
async function setUp(refusal: ScriptedAnswer | 'silence', times = 1, more: object = {}) {
  const server = await scriptedServer({
    tools: TOOLS,
    answer: (method, _, attempt) => (method === 'tools/call' && attempt <= times ? refusal : undefined),
  });
  const gateway = await openToolscout({ ...RETRY, servers: { h: { url: server.url, ...more } } });
  return { gateway, server, calls: () => server.count('tools/call') };
}

describe('a remote server that refuses a call', () => {
  it.each([429, 502, 503, 504])(
    'CONN-7 with HTTP %i is asked again for a tool that may be repeated, and for no other',
    async (status) => {
      for (const tool of ['look', 'set']) {
        const { gateway, calls } = await setUp({ status });
        expect(await gateway.executeTool('h', tool, {})).toMatchObject({ success: true });
        expect(calls()).toBe(2);
      }
      const { gateway, calls } = await setUp({ status });
      expect(await gateway.executeTool('h', 'buy', {})).toMatchObject({ success: false });
      expect(calls()).toBe(1);
    },
  );

  it.each([400, 404, 500])('CONN-7 with HTTP %i is not asked again', async (status) => {
    const { gateway, calls } = await setUp({ status });
    expect(await gateway.executeTool('h', 'look', {})).toMatchObject({ success: false });
    expect(calls()).toBe(1);
  });

  it('CONN-7 is asked again when it wants to be, and given up when that is too late', async () => {
    const soon = await setUp({ status: 503, headers: { 'retry-after': '1' } });
    expect(await soon.gateway.executeTool('h', 'look', {})).toMatchObject({ success: true });
    expect(soon.calls()).toBe(2);
    const late = await setUp({ status: 503, headers: { 'retry-after': '60' } });
    expect(await late.gateway.executeTool('h', 'look', {})).toMatchObject({
      error: { code: 'SERVER_CONNECTION_ERROR', retryAfterMs: 60_000 },
    });
    expect(late.calls()).toBe(1);
  });

  it('CONN-7 or says nothing in time, is asked again for a tool that may be repeated, and for no other', async () => {
    const look = await setUp('silence', 1, { timeout: 300 });
    expect(await look.gateway.executeTool('h', 'look', {})).toMatchObject({ success: true });
    expect(look.calls()).toBe(2);
    const buy = await setUp('silence', 1, { timeout: 300 });
    expect(await buy.gateway.executeTool('h', 'buy', {})).toMatchObject({ error: { code: 'TOOL_EXECUTION_TIMEOUT' } });
    expect(buy.calls()).toBe(1);
  });

  it.each([400, 403, 429, 500, 503])(
    'EXEC-3 A33 with HTTP %i is heard: error_code, suggestion and severity of its body reach the caller',
    async (status) => {
      const body = { error_code: 'E42', message: 'full', suggestion: 'Ask for T0ken-canary.', severity: 'WARNING' };
      const { gateway } = await setUp({ status, body: JSON.stringify(body) }, 9, {
        headers: { authorization: 'T0ken-canary' },
      });
      const { error } = await gateway.executeTool('h', 'buy', {});
      expect(error).toMatchObject({
        error_code: 'E42',
        message: 'E42: full',
        suggestion: 'Ask for ***.',
        severity: 'WARNING',
      });
    },
  );
});
