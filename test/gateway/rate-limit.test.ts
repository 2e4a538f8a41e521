import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openGateway } from '../../src/app/open-gateway.js';
import type { Gateway } from '../../src/gateway/index.js';
import type { AuditRecord } from '../../src/model/audit-record.js';
import type { ConfigInput } from '../../src/model/config.js';
import { fixture, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { connectHost } from '../support/mcp-host.js';
import { openToolscout } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { scriptedServer, scriptedTool } from '../support/scripted-server.js';

const executions = (gateway: Gateway): Promise<AuditRecord[]> => gateway.audit.list({ kind: 'execution' });

/** The list takes one token; the second call after it waits for twenty seconds, which its time limit allows. */
const TWO = { requestsPerSecond: 0.05, burstSize: 2 };

/** A gateway over a config file, with a remote server `far` whose tool `look` counts its calls. */
async function overFile(rateLimit: ConfigInput['rateLimit']) {
  const far = await scriptedServer();
  const folder = await temporaryDirectory();
  const file = join(folder, 'toolscout.config.json');
  const stateDir = join(folder, 'state');
  const write = (config: ConfigInput): Promise<void> =>
    writeFile(file, JSON.stringify({ servers: { far: { url: far.url } }, rateLimit, ...config }));
  await write({});
  const open = async (): Promise<Gateway> => {
    const options = { config: file, stateDir, env: { PATH: process.env['PATH'] }, learnAtStart: false };
    const gateway = await openGateway(options);
    onTestFinished(() => gateway.close({ drainMs: 0 }));
    return gateway;
  };
  return { far, write, open, sent: () => far.count('tools/call') };
}

describe('the rate limit of a server', STARTS_PROCESSES, () => {
  it.each([
    ['legacy', 'stdio'],
    ['modern', 'stdio'],
    ['legacy', 'http'],
    ['modern', 'http'],
  ] as const)('CONN-7 a host of the %s era over %s has all its calls answered, in turn', async (era, over) => {
    const order: unknown[] = [];
    const far = await scriptedServer({
      answer(method, params) {
        if (method === 'tools/call') order.push((params['arguments'] as { at?: number }).at);
        return undefined;
      },
    });
    const rateLimit = { requestsPerSecond: 10, burstSize: 1 };
    const gateway = await openToolscout({ servers: { far: { url: far.url, rateLimit } } });
    await gateway.servers.discover();
    const host = await connectHost(gateway, { era, over });
    const call = (at: number) => ({
      name: 'execute_tool',
      arguments: { server: 'far', tool: 'look', arguments: { at } },
    });
    const answers = await Promise.all([1, 2, 3, 4, 5].map((at) => host.request('tools/call', call(at))));
    for (const answer of answers) expect(answer).toMatchObject({ content: [{ text: 'did look' }] });
    // The order in which they are sent is kept; requests over HTTP may overtake each other on their way.
    expect(order.toSorted()).toEqual([1, 2, 3, 4, 5]);
    const waited = (await executions(gateway)).map(({ waitedMs }) => waitedMs ?? 0);
    expect(waited.filter((ms) => ms > 0).length).toBeGreaterThanOrEqual(1);
  });

  it('CONN-7 a local server has no limit unless one is configured', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    await gateway.servers.discover();
    const calls = Array.from({ length: 60 }, (_, at) => gateway.call('old', 'echo', { message: `${at}` }));
    expect((await Promise.all(calls)).filter(({ success }) => !success)).toEqual([]);
    expect((await executions(gateway)).filter(({ waitedMs }) => waitedMs !== undefined)).toEqual([]);
  });

  it('EXEC-1 CONN-7 a host that goes away frees the place of its call, which is never sent', async () => {
    const here = await overFile(TWO);
    const gateway = await here.open();
    await gateway.servers.discover();
    await gateway.call('far', 'look', {});
    const host = await connectHost(gateway, { era: 'legacy', over: 'http' });
    const leaving = new AbortController();
    const params = { name: 'execute_tool', arguments: { server: 'far', tool: 'look', arguments: {} } };
    const left = host.request('tools/call', params, { signal: leaving.signal });
    left.catch(() => {});
    // A call that cannot wait is told when its turn would be: behind the one that waits.
    const refusal = async () => (await gateway.call('far', 'look', {}, { timeoutMs: 1000 })).error;
    await waitUntil(async () => ((await refusal())?.retryAfterMs ?? 0) > 20_000);
    leaving.abort();
    await waitUntil(async () => (await executions(gateway)).some(({ code }) => code === 'CANCELLED'));
    const next = await refusal();
    expect(next).toMatchObject({ code: 'RATE_LIMITED' });
    expect(next?.retryAfterMs).toBeLessThanOrEqual(20_000);
    expect(here.sent()).toBe(1);
  });

  it('CFG-6 EXEC-2 a reload lets the calls that wait go by the new limit and the new rules', async () => {
    const here = await overFile(TWO);
    const gateway = await here.open();
    await gateway.servers.discover();
    await gateway.call('far', 'look', {});
    const first = gateway.call('far', 'look', {});
    await here.write({ rateLimit: false });
    await gateway.reload();
    expect(await first).toMatchObject({ success: true });
    await here.write({ rateLimit: { requestsPerSecond: 0.05, burstSize: 1 } });
    await gateway.reload();
    await gateway.call('far', 'look', {});
    const second = gateway.call('far', 'look', {});
    await here.write({ rateLimit: false, toolRules: [{ pattern: 'look', enabled: false }] });
    await gateway.reload();
    expect(await second).toMatchObject({ success: false, error: { code: 'TOOL_DISABLED' } });
    expect(here.sent()).toBe(3);
    expect((await executions(gateway))[0]).toMatchObject({ outcome: 'refused', code: 'TOOL_DISABLED' });
  });

  it('CFG-6 EXEC-2 a call that waits for a server that is removed is refused at once', async () => {
    const here = await overFile(TWO);
    const gateway = await here.open();
    await gateway.servers.discover();
    await gateway.call('far', 'look', {});
    const waits = gateway.call('far', 'look', {});
    await here.write({ servers: {} });
    await gateway.reload();
    expect(await waits).toMatchObject({ success: false, error: { code: 'SERVER_NOT_FOUND' } });
    expect(here.sent()).toBe(1);
  });

  it('A40 EXEC-2 a tool that another process rejects while a call waits is not called', async () => {
    const here = await overFile(TWO);
    const gateway = await here.open();
    await gateway.servers.discover();
    await gateway.call('far', 'look', {});
    const waits = gateway.call('far', 'look', {});
    const other = await here.open();
    await other.approvals.reject('far:look');
    await waitUntil(async () => (await gateway.tools.list('far')).length === 0);
    await here.write({ rateLimit: false });
    await gateway.reload();
    expect(await waits).toMatchObject({ success: false, error: { code: 'APPROVAL_REQUIRED' } });
    expect(here.sent()).toBe(1);
  });

  it('A44 CONN-7 a server that asks for a wait without end is refused to callers, and does not hold up another server', async () => {
    const hostile = await scriptedServer({
      tools: [scriptedTool('look', { annotations: { readOnlyHint: true } })],
      answer: (method) => (method === 'tools/call' ? { status: 429, headers: { 'retry-after': '999999' } } : undefined),
    });
    const calm = await scriptedServer();
    const gateway = await openToolscout({ servers: { hostile: { url: hostile.url }, calm: { url: calm.url } } });
    await gateway.servers.discover();
    const refused = await Promise.all(Array.from({ length: 10 }, () => gateway.call('hostile', 'look', {})));
    expect(new Set(refused.map(({ error }) => error?.code))).toEqual(new Set(['RATE_LIMITED']));
    expect(await gateway.call('calm', 'look', {})).toMatchObject({ success: true });
  });
});
