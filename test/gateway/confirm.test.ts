import { describe, expect, it } from 'vitest';
import { fixture } from '../support/fixture.js';
import { connectHost } from '../support/mcp-host.js';
import { openToolscout } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const HOSTS = [
  { era: 'legacy', over: 'stdio' },
  { era: 'modern', over: 'stdio' },
  { era: 'legacy', over: 'http' },
  { era: 'modern', over: 'http' },
] as const;

const CONFIG = { servers: { old: fixture('legacy') }, toolRules: [{ pattern: 'add', confirm: true as const }] };
const ADD = { name: 'execute_tool', arguments: { server: 'old', tool: 'add', arguments: { a: 1, b: 2 } } };

describe('calls that need a yes', STARTS_PROCESSES, () => {
  it.each(HOSTS)('SEC-11 a $era host over $over is asked before the call is sent', async ({ era, over }) => {
    const gateway = await openToolscout(CONFIG);
    let decision = 'reject';
    const host = await connectHost(gateway, {
      era,
      over,
      onElicit: () => ({ action: 'accept', content: { decision } }),
    });
    const no = await host.client.callTool(ADD);
    expect(JSON.stringify(no)).toContain('CONFIRMATION_REJECTED');
    decision = 'allow';
    const yes = await host.client.callTool(ADD);
    expect(yes).toMatchObject({ structuredContent: { sum: 3 } });
    expect(host.asked).toHaveLength(2);
    expect(host.asked[0]!.params['message']).toMatch(/Server: old\nTool: add\nArguments: \{"a":1,"b":2\}/);
    const records = await gateway.audit.list({ kind: 'confirm' });
    expect(records.map(({ detail, outcome }) => [(detail as { decision: string }).decision, outcome])).toEqual([
      ['approved', 'success'],
      ['rejected', 'refused'],
    ]);
  });

  it('SEC-11 without a host that can ask, the call waits; a yes is good for one call with these arguments', async () => {
    const gateway = await openToolscout(CONFIG);
    const first = await gateway.call('old', 'add', { a: 1, b: 2 });
    expect(first.error).toMatchObject({ code: 'CONFIRMATION_REQUIRED', retryAfterMs: 10_000 });
    const [waiting] = await gateway.approvals.calls({ state: 'waiting' });
    expect(first.error?.message).toContain(`as ${waiting!.id}, for 15 minutes`);
    expect((await gateway.call('old', 'add', { b: 2, a: 1 })).error?.message).toContain(waiting!.id);
    await gateway.approvals.approveCall(waiting!.id, { reason: 'fine' });
    expect((await gateway.call('old', 'add', { a: 1, b: 3 })).error?.code).toBe('CONFIRMATION_REQUIRED');
    expect((await gateway.call('old', 'add', { a: 1, b: 2 })).success).toBe(true);
    expect((await gateway.call('old', 'add', { a: 1, b: 2 })).error?.code).toBe('CONFIRMATION_REQUIRED');
    expect((await gateway.approvals.calls({ state: 'waiting' })).map(({ arguments: args }) => args)).toEqual([
      { a: 1, b: 3 },
      { a: 1, b: 2 },
    ]);
  });
});
