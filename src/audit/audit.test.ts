import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { ToolscoutError } from '../kernel/errors.js';
import { hashJson } from '../kernel/hash.js';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import { createLog } from '../kernel/log.js';
import type { AuditRecord } from '../model/audit-record.js';
import type { Store } from '../model/store.js';
import { createRedaction } from '../redact/index.js';
import { createMemoryStore } from '../store/memory.js';
import { type AuditOptions, createAudit } from './audit.js';
import type { NewRecord } from './new-record.js';

function setUp(options: Partial<AuditOptions> = {}) {
  const clock = createFakeClock();
  const memory = createMemoryStore({ clock });
  const appended: AuditRecord[][] = [];
  const trouble = { failing: false };
  const store: Store = {
    ...memory,
    async append(records) {
      if (trouble.failing) throw new ToolscoutError('STORE_ERROR', 'the disk is full');
      appended.push([...records]);
      await memory.append(records);
    },
    async audit(filter) {
      if (trouble.failing) throw new ToolscoutError('STORE_ERROR', 'the disk is gone');
      return memory.audit(filter);
    },
  };
  const lines: string[] = [];
  const log = createLog({ level: 'debug', now: clock.now, write: (line) => void lines.push(line) });
  const audit = createAudit({ store, clock, log, redact: createRedaction().stored, ...options });
  return { audit, clock, store, memory, appended, trouble, lines, log };
}

const entry = (tool: string, more: Partial<NewRecord> = {}): NewRecord => ({
  kind: 'execution',
  principal: 'local',
  server: 'github',
  tool,
  outcome: 'success',
  ...more,
});
const toolsOf = (records: readonly AuditRecord[]): Array<string | undefined> => records.map(({ tool }) => tool);

describe('audit', () => {
  it('EXEC-5 executions are stored in one append a batch, within a second', async () => {
    const { audit, clock, appended } = setUp();
    audit.record(entry('a'));
    audit.record(entry('b'));
    expect(appended).toEqual([]);
    await clock.advance(100);
    audit.record(entry('c'));
    await clock.advance(900);
    expect(appended.map(toolsOf)).toEqual([['a', 'b', 'c']]);
    expect(clock.waiting).toBe(0);
    expect(audit.state()).toEqual({ waiting: 0, failed: 0, lost: 0 });
  });

  it('EXEC-5 a record carries id, the time it happened, redacted arguments and the hash of the raw ones', async () => {
    const { audit, clock } = setUp();
    const raw = { owner: 'ada', token: 's3cr3t-value', body: 'x'.repeat(1000) };
    const before = clock.now();
    audit.record(
      entry('a', {
        arguments: raw,
        route: 'mcp',
        skill: 'triage',
        code: 'TOOL_EXECUTION_ERROR',
        outcome: 'failure',
        latencyMs: 12.5,
        resultBytes: 99,
        era: 'modern',
        traceId: 'trace',
      }),
    );
    await clock.advance(1000);
    const [record] = await audit.query({});
    expect(record).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{32,}$/),
      time: before,
      kind: 'execution',
      principal: 'local',
      route: 'mcp',
      skill: 'triage',
      server: 'github',
      tool: 'a',
      arguments: { owner: 'ada', token: '***', body: expect.stringContaining('[1000 characters]') },
      argumentsHash: hashJson(raw),
      outcome: 'failure',
      code: 'TOOL_EXECUTION_ERROR',
      latencyMs: 12.5,
      resultBytes: 99,
      era: 'modern',
      traceId: 'trace',
    });
  });

  it('EXEC-5 A33 NEG-6 the message of a failure is kept, bounded, without what the arguments must not show', async () => {
    const { audit } = setUp();
    const failed = { outcome: 'failure', code: 'TOOL_EXECUTION_ERROR' } as const;
    const messageFor = async (message: string, args?: JsonObject): Promise<string | undefined> => {
      await audit.recordNow(entry('a', { ...failed, message, ...(args && { arguments: args }) }));
      return (await audit.query({}))[0]?.message;
    };
    expect(await messageFor('no such city: nowhere', { city: 'nowhere' })).toBe('no such city: nowhere');
    // The server repeats what it was sent, as it is and as JSON, and a key that nobody named.
    expect(
      await messageFor('"hun\\"ter2" is wrong (hun"ter2, 90210), try sk-0123456789abcdef0123', {
        login: { password: 'hun"ter2', tokens: [90210] },
      }),
    ).toBe('"***" is wrong (***, ***), try ***');
    expect(await messageFor('x'.repeat(4000))).toHaveLength(500);
    let deep: JsonObject = { password: 'hunter2' };
    for (let depth = 0; depth < 100_000; depth++) deep = { deep };
    expect(await messageFor('hunter2 is wrong', deep)).toBe('***');
    expect(await messageFor('y'.repeat(490))).toHaveLength(490);
    await audit.recordNow(entry('a'));
    expect((await audit.query({}))[0]).not.toHaveProperty('message');
  });

  it('SEC-12 a log whose older records have no message verifies', async () => {
    const { audit, memory } = setUp();
    await memory.append([{ id: 'old', time: 1, kind: 'execution', principal: 'local', outcome: 'failure' }]);
    await audit.recordNow(entry('a', { outcome: 'failure', message: 'no such city' }));
    expect(await audit.verify()).toMatchObject({ ok: true, records: 2 });
  });

  it('EXEC-5 A33 details of administrative acts are redacted as well', async () => {
    const { audit } = setUp();
    await audit.recordNow(entry('a', { kind: 'reload', detail: { headers: { Authorization: 'Bearer s3cr3t' } } }));
    expect((await audit.query({}))[0]?.detail).toEqual({ headers: { Authorization: '***' } });
  });

  it('EXEC-5 nothing is hashed or redacted while a call is running', async () => {
    let redactions = 0;
    const { audit } = setUp({
      redact(value) {
        redactions += 1;
        return value;
      },
    });
    for (let i = 0; i < 100; i++) audit.record(entry('a', { arguments: {} }));
    expect(redactions).toBe(0);
    await audit.flush();
    expect(redactions).toBe(100);
  });

  it('EXEC-5 an administrative act is durable when its promise resolves, after what came before it', async () => {
    const { audit, memory, trouble } = setUp();
    audit.record(entry('a'));
    await audit.recordNow({ kind: 'reload', principal: 'ada', outcome: 'success' });
    expect((await memory.audit({})).map(({ kind }) => kind)).toEqual(['reload', 'execution']);
    trouble.failing = true;
    await expect(audit.recordNow({ kind: 'reload', principal: 'ada', outcome: 'success' })).rejects.toMatchObject({
      code: 'STORE_ERROR',
    });
  });

  it('EXEC-5 a query sees what was recorded just before', async () => {
    const { audit } = setUp();
    audit.record(entry('a'));
    audit.record(entry('b', { server: 'slack' }));
    expect(toolsOf(await audit.query({}))).toEqual(['b', 'a']);
    expect(toolsOf(await audit.query({ server: 'github' }))).toEqual(['a']);
  });

  it('EXEC-5 a failed append is kept, tried again, counted and logged once; nothing comes twice', async () => {
    const { audit, clock, trouble, lines, memory } = setUp();
    trouble.failing = true;
    audit.record(entry('a'));
    await clock.advance(2000);
    audit.record(entry('b'));
    await clock.advance(20_000);
    expect(audit.state()).toMatchObject({ waiting: 2, lost: 0 });
    expect(audit.state().failed).toBeGreaterThan(3);
    expect(lines.filter((line) => line.includes('audit.append-failed'))).toHaveLength(1);
    trouble.failing = false;
    await clock.advance(6000);
    expect(toolsOf(await memory.audit({}))).toEqual(['b', 'a']);
    expect(audit.state()).toMatchObject({ waiting: 0, lost: 0 });
    audit.record(entry('c'));
    await clock.advance(1000);
    expect(toolsOf(await memory.audit({}))).toEqual(['c', 'b', 'a']);
  });

  it('EXEC-5 A28 while the store fails only so many records wait; the oldest go, counted and logged', async () => {
    const { audit, clock, trouble, lines } = setUp({ maxBuffer: 10 });
    trouble.failing = true;
    for (let i = 0; i < 25; i++) audit.record(entry(`t${i}`));
    await clock.advance(1000);
    expect(audit.state()).toMatchObject({ waiting: 10, lost: 15 });
    expect(lines.join('')).toContain('audit.lost');
    trouble.failing = false;
    expect(toolsOf(await audit.query({})).at(-1)).toBe('t15');
  });

  it('EXEC-5 a burst is stored early, in batches, and nothing of it is lost', async () => {
    const { audit, clock, appended } = setUp({ maxBuffer: 5000 });
    for (let i = 0; i < 4000; i++) audit.record(entry(`t${i}`));
    await clock.advance(1);
    await audit.flush();
    expect(appended.map(({ length }) => length)).toEqual([...Array.from({ length: 15 }, () => 256), 160]);
    expect(audit.state()).toEqual({ waiting: 0, failed: 0, lost: 0 });
  });

  it('EXEC-5 a record that cannot be redacted is masked as a whole and delays no other record', async () => {
    const { audit, memory, lines } = setUp({
      redact(value) {
        if ((value as JsonObject)['bad'] === 'throw') throw new Error('cannot redact');
        if ((value as JsonObject)['bad'] === 'not-json') return { big: 1n } as unknown as JsonValue;
        return value;
      },
    });
    audit.record(entry('a', { arguments: { bad: 'throw' } }));
    audit.record(entry('b', { arguments: { bad: 'not-json' } }));
    audit.record(entry('c', { arguments: { good: 1 } }));
    await audit.flush();
    expect((await memory.audit({})).map((record) => record.arguments)).toEqual([{ good: 1 }, '***', '***']);
    expect(lines.filter((line) => line.includes('audit.redact-failed'))).toHaveLength(2);
  });

  it('EXEC-5 A26 arguments of any depth and names of any length are recorded', async () => {
    const { audit, memory } = setUp();
    let deep: JsonObject = {};
    for (let level = 0; level < 20_000; level++) deep = { deep };
    audit.record(entry('x'.repeat(100_000), { arguments: deep, principal: 'p'.repeat(100_000) }));
    await audit.flush();
    const [record] = await memory.audit({});
    expect(JSON.stringify(record).length).toBeLessThan(5000);
    expect(record?.outcome).toBe('success');
  });

  it('EXEC-5 retention deletes records beyond its age', async () => {
    const { audit, clock } = setUp();
    await audit.recordNow(entry('old'));
    await clock.advance(3 * 86_400_000);
    await audit.recordNow(entry('new'));
    expect(await audit.prune(4 * 86_400_000)).toBe(0);
    expect(await audit.prune(2 * 86_400_000)).toBe(1);
    expect(toolsOf(await audit.query({}))).toEqual(['new']);
    for (const retentionMs of [0, -1, Number.NaN]) {
      await expect(audit.prune(retentionMs)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    }
    expect(await audit.query({})).toHaveLength(1);
  });

  it('EXEC-5 closing stores what waits; a later record is counted as lost, never thrown', async () => {
    const { audit, memory, clock } = setUp();
    audit.record(entry('a'));
    audit.follow({}, () => {});
    await audit.close();
    await audit.close();
    expect(toolsOf(await memory.audit({}))).toEqual(['a']);
    expect(clock.waiting).toBe(0);
    audit.record(entry('b'));
    expect(audit.state()).toMatchObject({ lost: 1, waiting: 0 });
    await expect(audit.recordNow(entry('c'))).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });

  it('EXEC-5 closing while the store fails ends, and says what was lost', async () => {
    const { audit, trouble, clock } = setUp();
    trouble.failing = true;
    audit.record(entry('a'));
    await audit.close();
    expect(audit.state()).toEqual({ waiting: 0, failed: 1, lost: 1 });
    expect(clock.waiting).toBe(0);
  });
});

describe('audit follow', () => {
  it('EXEC-5 gives new records of this and other processes, in order, once each', async () => {
    const { audit, clock, store, log } = setUp();
    const other = createAudit({ store, clock, log, redact: createRedaction().stored });
    await audit.recordNow(entry('before'));
    audit.record(entry('before, not stored yet'));
    const heard: Array<string | undefined> = [];
    const stop = audit.follow({}, (record) => heard.push(record.tool));
    audit.record(entry('a'));
    await clock.advance(1000);
    await other.recordNow(entry('b'));
    audit.record(entry('c'));
    await clock.advance(1000);
    await clock.advance(5000);
    expect(heard).toEqual(['a', 'b', 'c']);
    stop();
    await audit.recordNow(entry('d'));
    await clock.advance(5000);
    expect(heard).toEqual(['a', 'b', 'c']);
    expect(clock.waiting).toBe(0);
  });

  it('EXEC-5 gives only what matches, also when its time lies far back', async () => {
    const { audit, clock, store } = setUp();
    const heard: Array<string | undefined> = [];
    audit.follow({ server: 'github', limit: 1 }, (record) => heard.push(record.tool));
    audit.record(entry('a'));
    audit.record(entry('other', { server: 'slack' }));
    audit.record(entry('b'));
    await clock.advance(1000);
    await store.append([
      { id: 'late', time: 1, kind: 'execution', principal: 'p', server: 'github', outcome: 'success', tool: 'late' },
    ]);
    await clock.advance(1000);
    expect(heard).toEqual(['a', 'b', 'late']);
  });

  it('EXEC-5 a burst larger than a page arrives whole', async () => {
    const { audit, clock } = setUp({ maxBuffer: 5000 });
    const heard: Array<string | undefined> = [];
    audit.follow({}, (record) => heard.push(record.tool));
    const tools = Array.from({ length: 3000 }, (_, i) => `t${i}`);
    for (const tool of tools) audit.record(entry(tool));
    await clock.advance(1);
    await audit.flush();
    await clock.advance(2000);
    expect(heard).toEqual(tools);
  });

  it('EXEC-5 goes on after pruning, after a failing store and after a listener that throws', async () => {
    const { audit, clock, trouble, lines } = setUp();
    const heard: Array<string | undefined> = [];
    await audit.recordNow(entry('before'));
    audit.follow({}, (record) => {
      heard.push(record.tool);
      if (record.tool === 'a') throw new Error('a listener that fails');
    });
    audit.record(entry('a'));
    audit.record(entry('b'));
    await clock.advance(1000);
    await clock.advance(10_000);
    await audit.prune(1000);
    audit.record(entry('c'));
    trouble.failing = true;
    await clock.advance(3000);
    trouble.failing = false;
    await clock.advance(10_000);
    expect(heard).toEqual(['a', 'b', 'c']);
    expect(lines.filter((line) => line.includes('audit.follow-failed'))).toHaveLength(1);
    expect(lines.join('')).toContain('a listener that fails');
  });

  it('EXEC-5 started while the store fails, it does not bring up the past', async () => {
    const { audit, clock, trouble } = setUp();
    await audit.recordNow(entry('before'));
    await clock.advance(1000);
    trouble.failing = true;
    const heard: Array<string | undefined> = [];
    audit.follow({}, (record) => heard.push(record.tool));
    audit.record(entry('a'));
    await clock.advance(1000);
    trouble.failing = false;
    await clock.advance(10_000);
    expect(heard).toEqual(['a']);
  });
});
