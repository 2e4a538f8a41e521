import { join } from 'node:path';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { CallEvent } from '../../src/execute/index.js';
import { viewerOf, type Gateway } from '../../src/gateway/index.js';
import { toToolscoutError, type ToolscoutError } from '../../src/kernel/errors.js';
import type { AuditRecord } from '../../src/model/audit-record.js';
import type { CallResult } from '../../src/model/call.js';
import { fixture, isAlive, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { openToolscout, startCounter, textOf } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

describe('executing a tool', STARTS_PROCESSES, () => {
  it('EXEC-1 META-3 the answer of the server arrives as it is: content, structured content, vendor fields, _meta', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    expect(await gateway.call('old', 'image', {})).toMatchObject({
      success: true,
      result: {
        content: [{ type: 'image', mimeType: 'image/png', vendorHint: { zoom: 2 } }],
        vendorTop: ['kept', 1],
        _meta: { 'example.org/trace': 'abc' },
      },
    });
    expect(await gateway.call('old', 'structured', { value: [1, { a: null }] })).toMatchObject({
      success: true,
      result: { structuredContent: [1, { a: null }] },
    });
  });

  it('EXEC-1 EXEC-3 a tool that answers isError gives its result and an error that says so', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    expect(await gateway.call('old', 'fail', { message: 'out of paper' })).toMatchObject({
      success: false,
      result: { isError: true, content: [{ text: 'out of paper' }] },
      error: {
        code: 'TOOL_EXECUTION_ERROR',
        message: 'out of paper',
        server: 'old',
        tool: 'fail',
        severity: 'WARNING',
      },
    });
  });

  it('EXEC-3 a JSON-RPC error of the server is an execution error with its message', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const answer = await gateway.call('old', 'protocol_error', {});
    expect(answer).toMatchObject({ success: false, error: { code: 'TOOL_EXECUTION_ERROR', tool: 'protocol_error' } });
    expect(answer.error?.message).toContain('Invalid params');
    expect(answer.result).toBeUndefined();
  });

  it('EXEC-2 EXEC-3 wrong arguments are refused with their paths before anything is started', async () => {
    const starts = await startCounter();
    const stateDir = await temporaryDirectory();
    const config = { servers: { old: fixture('legacy', starts.flag) } };
    await (await openToolscout(config, { stateDir })).servers.discover();
    const gateway = await openToolscout(config, { stateDir });
    const answer = await gateway.call('old', 'add', { a: 'one' });
    expect(answer).toMatchObject({ success: false, error: { code: 'TOOL_VALIDATION_ERROR', severity: 'WARNING' } });
    expect(answer.error?.problems?.map(({ path }) => path).toSorted()).toEqual(['/a', '/b']);
    expect(await starts.pids()).toHaveLength(1);
  });

  it('EXEC-4 a server that dies in the middle ends its calls at once, and the next call starts it again', async () => {
    const gateway = await openToolscout({ servers: { old: { ...fixture('legacy'), timeoutMs: 20_000 } } });
    const answer = await gateway.call('old', 'crash', {});
    expect(answer).toMatchObject({
      success: false,
      error: { code: 'SERVER_CONNECTION_ERROR', server: 'old', tool: 'crash' },
    });
    expect(textOf(await gateway.call('old', 'echo', { message: 'back' }))).toBe('back');
  });

  it('EXEC-4 R5 a killed server ends every one of its calls with one typed error', async () => {
    const starts = await startCounter();
    const gateway = await openToolscout({ servers: { slow: fixture('slow', starts.flag) } });
    await gateway.servers.discover();
    const calls = Array.from({ length: 10 }, () => gateway.call('slow', 'wait', { ms: 20_000 }));
    await waitUntil(async () => (await starts.pids()).length === 1, { what: 'the start' });
    const [pid] = await starts.pids();
    // The calls are on their way once the server has reported progress to one more of them.
    for await (const event of gateway.stream('slow', 'wait', { ms: 50, steps: 1 }))
      if (event.type === 'progress') break;
    process.kill(pid!, 'SIGKILL');
    for (const call of await Promise.all(calls)) {
      expect(call).toMatchObject({ success: false, error: { code: 'SERVER_CONNECTION_ERROR' } });
    }
  });

  it('EXEC-1 EXEC-3 a call ends at the timeout of its server, of its tool, or of the caller', async () => {
    const slow = fixture('slow');
    const gateway = await openToolscout({
      servers: {
        byServer: { ...slow, timeoutMs: 150 },
        byTool: { ...slow, toolTimeoutsMs: { wait: 150 } },
        byCaller: slow,
      },
    });
    await gateway.servers.discover();
    const wait = { ms: 10_000, progress: false };
    const answers = await Promise.all([
      gateway.call('byServer', 'wait', wait),
      gateway.call('byTool', 'wait', wait),
      gateway.call('byCaller', 'wait', wait, { timeoutMs: 150 }),
    ]);
    for (const answer of answers) {
      expect(answer).toMatchObject({ success: false, error: { code: 'TOOL_EXECUTION_TIMEOUT', tool: 'wait' } });
    }
  });

  it('EXEC-1 progress starts the timeout anew', async () => {
    const gateway = await openToolscout({ servers: { slow: { ...fixture('slow'), timeoutMs: 600 } } });
    await gateway.servers.discover();
    expect(await gateway.call('slow', 'wait', { ms: 1500, steps: 9 })).toMatchObject({ success: true });
  });

  it('EXEC-1 CANCELLED is the answer to a caller who gives up; a call that was given up before is never sent', async () => {
    const file = join(await temporaryDirectory(), 'heard');
    const gateway = await openToolscout({
      servers: { slow: fixture('slow'), recorder: fixture('recorder', `--file=${file}`) },
    });
    await gateway.servers.discover();
    const stop = new AbortController();
    const call = gateway.call(
      'slow',
      'wait',
      { ms: 20_000, steps: 100 },
      { signal: stop.signal, onProgress: () => stop.abort() },
    );
    expect(await call).toMatchObject({ success: false, error: { code: 'CANCELLED' } });

    const refused = await gateway.call('recorder', 'write', { value: 'x' }, { signal: AbortSignal.abort() });
    expect(refused).toMatchObject({ error: { code: 'CANCELLED' } });
    expect(await readFile(file, 'utf8')).not.toContain('tools/call');
  });

  it('EXEC-1 EXEC-5 who gives up while a server is connected or learned is answered at once, and recorded as such', async () => {
    const silent = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] };
    const gateway = await openToolscout({
      servers: { silent, gone: { command: process.execPath, args: ['-e', ''] } },
      retryPolicy: { maxRetries: 3, initialDelayMs: 60_000, maxDelayMs: 60_000 },
    });
    const stop = new AbortController();
    const calls = Promise.all([
      gateway.call('silent', 'x', {}, { signal: stop.signal }),
      gateway.hosts.relay('silent', 'resources/read', { uri: 'a:b' }, { signal: stop.signal }).catch(toToolscoutError),
      gateway.hosts.relay('gone', 'prompts/get', { name: 'p' }, { signal: stop.signal }).catch(toToolscoutError),
    ]);
    setTimeout(() => stop.abort('enough'), 1000);
    const [called, read, got] = await calls;
    expect([called.error?.code, (read as ToolscoutError).code, (got as ToolscoutError).code]).toEqual([
      'CANCELLED',
      'CANCELLED',
      'CANCELLED',
    ]);
    const records = (await gateway.audit.list()).filter(({ kind }) => kind !== 'discovered');
    expect(records.map(({ kind, code }) => `${kind} ${code}`).toSorted()).toEqual([
      'execution CANCELLED',
      'prompt-get CANCELLED',
      'resource-read CANCELLED',
    ]);
  });

  it('EXEC-1 a stream gives the progress, then the result', async () => {
    const gateway = await openToolscout({ servers: { slow: fixture('slow') } });
    const events: CallEvent[] = [];
    const told: number[] = [];
    const onProgress = ({ progress }: { progress: number }): void => void told.push(progress);
    for await (const event of gateway.stream('slow', 'wait', { ms: 300, steps: 3 }, { onProgress })) events.push(event);
    expect(events.map((event) => event.type)).toEqual(['progress', 'progress', 'progress', 'result']);
    expect(events[0]).toMatchObject({ progress: { progress: 1, total: 3, message: 'step 1' } });
    expect(events.at(-1)).toMatchObject({ result: { success: true } });
    expect(told).toEqual([1, 2, 3]);
  });

  it('EXEC-1 S4 leaving the loop cancels the call, and the server stays usable', async () => {
    const gateway = await openToolscout({ servers: { slow: fixture('slow') } });
    for await (const event of gateway.stream('slow', 'wait', { ms: 20_000, steps: 100 })) {
      if (event.type === 'progress') break;
    }
    await waitUntil(async () => (await gateway.audit.list({ outcome: 'failure' })).length === 1, {
      what: 'the cancelled call',
    });
    expect(await gateway.audit.list({ kind: 'execution' })).toMatchObject([{ outcome: 'failure', code: 'CANCELLED' }]);
    expect(textOf(await gateway.call('slow', 'echo', { message: 'still here' }))).toBe('still here');
  });

  it('CONN-7 a call beyond the burst whose turn comes after its time limit is told when to come back', async () => {
    const rateLimit = { requestsPerSecond: 0.03, burstSize: 20 };
    const gateway = await openToolscout({ servers: { old: { ...fixture('legacy'), rateLimit } } });
    await gateway.call('old', 'echo', { message: 'warm' });
    const answers = await Promise.all(
      Array.from({ length: 25 }, (_, index) => gateway.call('old', 'echo', { message: String(index) })),
    );
    const limited = answers.filter((answer) => !answer.success);
    expect(answers.filter((answer) => answer.success).length).toBeLessThanOrEqual(20);
    expect(limited.length).toBeGreaterThanOrEqual(5);
    for (const { error } of limited) {
      expect(error).toMatchObject({ code: 'RATE_LIMITED', server: 'old', tool: 'echo', severity: 'WARNING' });
      expect(error?.retryAfterMs).toBeGreaterThan(30_000);
    }
  });

  it('CONN-3 a server that fails again and again is left alone for a while, and that is visible', async () => {
    const gateway = await openToolscout({
      servers: { old: { ...fixture('legacy'), rateLimit: { requestsPerSecond: 1000, burstSize: 1000 } } },
      limits: { breakerFailures: 2, breakerResetMs: 60_000 },
    });
    await gateway.servers.discover();
    await gateway.call('old', 'crash', {});
    await gateway.call('old', 'crash', {});
    expect(await gateway.call('old', 'echo', { message: 'x' })).toMatchObject({
      error: { code: 'CIRCUIT_OPEN' },
    });
    expect(await gateway.servers.list()).toMatchObject([{ health: { breaker: 'open' } }]);
  });

  it('A32 a child gets the little it needs and what is configured, not the environment of toolscout', async () => {
    const gateway = await openToolscout(
      { servers: { old: { ...fixture('legacy'), env: { MINE: '${FROM_OUTSIDE}' } } } },
      { env: { PATH: process.env['PATH'], FROM_OUTSIDE: 'expanded-value', OTHER_SECRET: 'not-for-you' } },
    );
    const seen = JSON.parse(textOf(await gateway.call('old', 'env', {}))) as Record<string, string>;
    expect(seen['MINE']).toBe('expanded-value');
    expect(Object.keys(seen)).not.toContain('OTHER_SECRET');
  });
});

describe('the audit log', STARTS_PROCESSES, () => {
  it('EXEC-5 success, failure and refusal are recorded with everything an auditor asks for', async () => {
    const gateway = await openToolscout({
      servers: { old: fixture('legacy') },
      toolRules: [{ pattern: 'crash', enabled: false }],
    });
    const alice = gateway.as(viewerOf({ name: 'alice', scopes: new Set(['call']) }));
    await alice.call('old', 'echo', { message: 'hi' }, { route: 'cli', traceId: 'trace-1' });
    await gateway.call('old', 'fail', {});
    await gateway.call('old', 'crash', {});
    await gateway.call('old', 'echo', {});
    await gateway.call('nobody', 'echo', {});
    const records = await gateway.audit.list({ kind: 'execution' });
    expect(records.map(({ outcome, code }) => `${outcome} ${code}`)).toEqual([
      'refused SERVER_NOT_FOUND',
      'refused TOOL_VALIDATION_ERROR',
      'refused TOOL_DISABLED',
      'failure TOOL_EXECUTION_ERROR',
      'success undefined',
    ]);
    const success = records.at(-1) as AuditRecord;
    expect(success).toMatchObject({
      kind: 'execution',
      principal: 'alice',
      route: 'cli',
      server: 'old',
      tool: 'echo',
      arguments: { message: 'hi' },
      outcome: 'success',
      era: 'legacy',
      traceId: 'trace-1',
    });
    expect(success.argumentsHash).toMatch(/^[0-9a-f]{64}$/);
    expect(success.latencyMs).toBeGreaterThan(0);
    expect(success.resultBytes).toBeGreaterThan(0);
    expect(new Set(records.map(({ id }) => id)).size).toBe(5);
    expect(await gateway.audit.list({ kind: 'discovered' })).toMatchObject([
      { kind: 'discovered', server: 'old', outcome: 'success', detail: { kept: 9, dropped: 0 } },
    ]);
    expect(await gateway.audit.list({ limit: 1 })).toHaveLength(1);
    expect(await gateway.audit.list()).toHaveLength(6);
  });

  it('EXEC-5 a call that belongs to a trace is recorded with it, although no collector is configured', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const meta = { traceparent: `00-${trace}-b7ad6b7169203331-01` };
    await gateway.call('old', 'echo', { message: 'a' }, { meta });
    await gateway.call('old', 'echo', { message: 'b' }, { meta, traceId: 'my-own' });
    await gateway.call('old', 'echo', { message: 'c' }, { meta: { traceparent: 'nonsense' } });
    const records = await gateway.audit.list({ kind: 'execution' });
    expect(records.map(({ traceId }) => traceId).toReversed()).toEqual([trace, 'my-own', undefined]);
  });

  it('EXEC-5 NEG-6 secrets in arguments are not stored', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    await gateway.call('old', 'structured', { value: { password: 'hunter2-hunter2', apiKey: 'abcdef-123456' } });
    const stored = JSON.stringify(await gateway.audit.list());
    expect(stored).not.toContain('hunter2');
    expect(stored).not.toContain('abcdef-123456');
  });

  it('EXEC-5 who follows sees new records as they come, until told to stop', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    await gateway.call('old', 'echo', { message: 'before' });
    const seen: AuditRecord[] = [];
    const stop = gateway.audit.follow((record) => seen.push(record), { kind: 'execution' });
    await gateway.call('old', 'add', { a: 1, b: 2 });
    await waitUntil(() => seen.length > 0, { what: 'the record' });
    expect(seen.map(({ tool }) => tool)).toEqual(['add']);
    stop();
    await gateway.call('old', 'image', {});
    await gateway.audit.list();
    expect(seen).toHaveLength(1);
  });
});

/** A call of the fixture `slow` that has surely reached the server. */
function startCall(gateway: Gateway, ms: number): Promise<{ readonly answer: Promise<CallResult> }> {
  return new Promise((resolve) => {
    const steps = Math.ceil(ms / 50);
    const onProgress = (): void => resolve({ answer });
    const answer = gateway.call('slow', 'wait', { ms, steps }, { onProgress });
  });
}

describe('closing', STARTS_PROCESSES, () => {
  it('R7 calls in flight finish within the time they are given, then every child is gone', async () => {
    const starts = await startCounter();
    const gateway = await openToolscout({ servers: { slow: fixture('slow', starts.flag) } });
    await gateway.servers.discover();
    const call = await startCall(gateway, 500);
    await gateway.close({ drainMs: 5000 });
    expect(await call.answer).toMatchObject({ success: true });
    const [pid] = await starts.pids();
    expect(isAlive(pid!)).toBe(false);
  });

  it('R7 calls that take too long end with a typed error', async () => {
    const gateway = await openToolscout({ servers: { slow: fixture('slow') } });
    await gateway.servers.discover();
    const call = await startCall(gateway, 20_000);
    await gateway.close({ drainMs: 50 });
    const answer = await call.answer;
    expect(answer.success).toBe(false);
    expect(['SHUTTING_DOWN', 'SERVER_CONNECTION_ERROR']).toContain(answer.error?.code);
  });

  it('R7 closing twice is closing once: the second waits for the first and cuts no call short', async () => {
    const gateway = await openToolscout({ servers: { slow: fixture('slow') } });
    await gateway.servers.discover();
    const call = await startCall(gateway, 600);
    const order: string[] = [];
    const first = gateway.close({ drainMs: 5000 }).then(() => order.push('first'));
    const second = gateway.close({ drainMs: 5000 }).then(() => order.push('second'));
    expect(await call.answer).toMatchObject({ success: true });
    order.push('call');
    await Promise.all([first, second]);
    expect(order[0]).toBe('call');
    await expect(gateway.close()).resolves.toBeUndefined();
  });

  it('R7 what is asked of a closed gateway is refused with a typed error, and nothing is started', async () => {
    const starts = await startCounter();
    const gateway = await openToolscout({
      servers: { old: fixture('legacy', starts.flag), cold: fixture('legacy', starts.flag) },
    });
    await gateway.servers.discover(['old']);
    await gateway.close();
    const before = (await starts.pids()).length;
    expect(await gateway.call('old', 'echo', { message: 'x' })).toMatchObject({
      success: false,
      error: { code: 'SHUTTING_DOWN' },
    });
    expect(await gateway.call('cold', 'echo', { message: 'x' })).toMatchObject({
      success: false,
      error: { code: 'SHUTTING_DOWN' },
    });
    expect(await gateway.servers.discover()).toMatchObject([{ ok: false }, { ok: false }]);
    await expect(gateway.reload()).rejects.toMatchObject({ name: 'ToolscoutError' });
    await expect(gateway.tools.clearCache()).rejects.toMatchObject({ name: 'ToolscoutError' });
    await expect(gateway.audit.list()).rejects.toMatchObject({ name: 'ToolscoutError' });
    expect(await starts.pids()).toHaveLength(before);
  });

  it('CONN-4 closing while servers are being learned leaves no child behind', async () => {
    const starts = await startCounter();
    const gateway = await openToolscout(
      {
        servers: {
          hung: fixture('slow', '--hang', starts.flag),
          listless: fixture('slow', '--hang-list', starts.flag),
        },
      },
      { learnAtStart: true },
    );
    await waitUntil(async () => (await starts.pids()).length >= 2, { what: 'the starts' });
    await gateway.close({ drainMs: 0 });
    const pids = await starts.pids();
    expect(pids.filter(isAlive)).toEqual([]);
  });
});
