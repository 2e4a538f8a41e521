import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../../kernel/tokens.js';
import { openHttpApp } from '../../../../test/support/http-app.js';
import { openOfflineGateway } from '../../../../test/support/offline-gateway.js';
import { wrapGateway, type CallOptions } from '../../../gateway/index.js';
import { failedCall } from './calls.js';

const TOOLS = [{ name: 'read_note', description: 'Reads a note.', inputSchema: { type: 'object' } }];
const ONCE = { retryPolicy: { maxRetries: 0 } };
const CALL = { server: 'notes', tool: 'read_note', arguments: { id: 7 } };

describe('POST /v1/call', () => {
  it('EXEC-1 hands on how long, how much and which part of an answer is wanted', async () => {
    const { gateway } = await openOfflineGateway([{ id: 'notes', tools: TOOLS }], ONCE);
    const seen: Array<CallOptions | undefined> = [];
    const watched = wrapGateway(gateway, (inner) => ({
      call: (server, tool, args, options) => {
        seen.push(options);
        return inner.call(server, tool, args, options);
      },
    }));
    const { post } = await openHttpApp(watched);
    const limits = { timeoutMs: 5000, select: 'a.b', max_tokens: 600 };
    const answer = await post('/v1/call', { ...CALL, ...limits });
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ code: 'SERVER_CONNECTION_ERROR', server: 'notes', tool: 'read_note' });
    await post('/v1/call', CALL);
    expect(seen[0]).toMatchObject({ route: 'http', timeoutMs: 5000, select: 'a.b', maxTokens: 600 });
    for (const name of ['timeoutMs', 'select', 'maxTokens']) expect(seen[1]).not.toHaveProperty(name);
    await gateway.close({ drainMs: 0 });
  });

  it('EXEC-1 a call that fails before anything came back is the last event of its stream', async () => {
    const { gateway } = await openOfflineGateway([{ id: 'notes', tools: TOOLS }], ONCE);
    const { post } = await openHttpApp(gateway);
    const answer = await post('/v1/call', CALL, { accept: 'text/event-stream' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('text/event-stream') as string,
    ]);
    const [, data] = /event: result\ndata: (.+)/.exec(await answer.text()) ?? [];
    const { error, tokens, ...rest } = JSON.parse(data!) as { error: object; tokens: object; success: boolean };
    expect(rest.success).toBe(false);
    // A refusal is read, too: it costs its text.
    const { remedy: _remedy, ...read } = error as { remedy?: unknown };
    expect(tokens).toMatchObject({ returned: estimateTokens(JSON.stringify(read)) });
    await gateway.close({ drainMs: 0 });
  });

  it('EXEC-1 a failure says what it knows: its code at the server, whether it arrived, and what the tool said', async () => {
    const failure = { code: 'TOOL_EXECUTION_ERROR', message: 'No.', server: 'notes', tool: 'read_note' } as const;
    const remedy = { kind: 'fix-arguments' } as const;
    const base = { ...failure, remedy, suggestion: '', severity: 'medium', retryable: false } as const;
    const failed = async (more: object, result?: object): Promise<unknown> => {
      const call = { success: false, error: { ...base, ...more }, ...(result && { result }) };
      return failedCall(call as unknown as Parameters<typeof failedCall>[0], 'trace').json();
    };
    const bare = await failed({});
    for (const name of ['error_code', 'delivered', 'result']) expect(bare).not.toHaveProperty(name);
    const result = { content: [], isError: true };
    expect(await failed({ error_code: -32_000, delivered: true }, result)).toMatchObject({
      error_code: -32_000,
      delivered: true,
      result,
    });
    const nothing = { success: false } as unknown as Parameters<typeof failedCall>[0];
    expect(() => failedCall(nothing, 'trace')).toThrow('without a reason');
  });
});
