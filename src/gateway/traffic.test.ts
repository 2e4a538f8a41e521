import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { stdioServer } from '../../test/support/test-server.js';
import { ToolscoutError } from '../kernel/errors.js';
import type { JsonObject } from '../kernel/json.js';
import { silentLog } from '../kernel/log.js';
import type { Call } from '../model/call.js';
import type { Host } from '../model/host.js';
import type { TrafficRow } from '../model/traffic.js';
import type { ServerRequest, Upstream } from '../model/upstream.js';
import { createTraffic, type Traffic } from './traffic.js';
import { COMPUTES_LONG } from '../../test/support/patience.js';

const server = stdioServer('one', { command: 'node' });
const noted: Array<[string, JsonObject | undefined]> = [];
const host = (answer: Host['request']): Host => ({
  id: 'h',
  era: 'legacy',
  capabilities: {},
  request: answer,
  notify: (method, params) => void noted.push([method, params]),
});

function open(clock = createFakeClock()): { traffic: Traffic; last: () => TrafficRow; stop: () => void } {
  const traffic = createTraffic({
    clock,
    log: silentLog,
    redact: (value) => value,
    incoming: (_server, result) => result,
  });
  let seen: TrafficRow | undefined;
  const stop = traffic.follow((row) => (seen = row));
  return { traffic, last: () => seen!, stop };
}

const begin = (traffic: Traffic, params: JsonObject = { name: 'x', arguments: {} }) =>
  traffic.begin({ method: 'tools/call', params, principal: 'ada', route: 'mcp', traceId: 't' });

describe('traffic', COMPUTES_LONG, () => {
  it('STUDIO-3 notes waits, retries, unasked questions and failures under their request', async () => {
    const { traffic, last } = open();
    const row = begin(traffic);
    const watched = row.watch(host(async () => ({})));
    const told: string[] = [];
    const request: ServerRequest = {
      method: 'tools/call',
      params: { name: 'do' },
      onWaited: () => told.push('waited'),
      onAttempt: (attempt) => told.push(`attempt ${attempt}`),
      onUnasked: () => told.push('unasked'),
      onProgress: () => told.push('progress'),
    };
    const failing = traffic.send(server, request, { host: watched }, async (_server, sent) => {
      sent.onAttempt?.(0);
      sent.onWaited?.(5);
      sent.onAttempt?.(1);
      sent.onUnasked?.('roots/list');
      sent.onProgress?.({ progress: 1 });
      throw new ToolscoutError('TOOL_EXECUTION_TIMEOUT', 'Too late.');
    });
    await expect(failing).rejects.toThrow('Too late.');
    row.fail(new ToolscoutError('TOOL_EXECUTION_TIMEOUT', 'Too late.'));
    expect(told).toEqual(['attempt 0', 'waited', 'attempt 1', 'unasked', 'progress']);
    expect(last()).toMatchObject({ state: 'failure', code: 'TOOL_EXECUTION_TIMEOUT', tool: 'one:do', traceId: 't' });
    expect(last().children.map(({ kind }) => kind)).toEqual(['upstream', 'wait', 'retry', 'unasked', 'progress']);
    expect(last().children[0]).toMatchObject({ outcome: 'failure', code: 'TOOL_EXECUTION_TIMEOUT' });
    // Without listeners of its own a request is sent as well.
    const bare = { method: 'ping', params: {} };
    await traffic.send(server, bare, { host: watched }, async (_server, sent) => {
      for (const each of [() => sent.onWaited?.(1), () => sent.onAttempt?.(2), () => sent.onUnasked?.('x')]) each();
      sent.onProgress?.({ progress: 1 });
      return { isError: true };
    });
    expect(last().children.find(({ method }) => method === 'ping')).toMatchObject({ outcome: 'failure' });
  });

  it('STUDIO-3 shows the wait for a connection as a part of its own, for each attempt', async () => {
    const clock = createFakeClock();
    const { traffic, last } = open(clock);
    const watched = begin(traffic).watch(host(async () => ({})));
    const eras: string[] = [];
    const request: ServerRequest = {
      method: 'tools/call',
      params: { name: 'do' },
      onConnected: ({ era }) => eras.push(era),
    };
    await traffic.send(server, request, { host: watched }, async (_server, sent) => {
      sent.onAttempt?.(0);
      await clock.advance(300);
      sent.onAttempt?.(1);
      await clock.advance(700);
      sent.onConnected?.({ era: 'legacy' } as Upstream);
      await clock.advance(5);
      return {};
    });
    const waits = (): object[] => last().children.filter(({ kind }) => kind === 'connect');
    expect(waits()).toMatchObject([
      { server: 'one', startMs: 0, endMs: 300, outcome: 'failure' },
      { server: 'one', startMs: 300, endMs: 1000, outcome: 'success' },
    ]);
    expect(eras).toEqual(['legacy']);
    // A connection that is there costs no time; one that never comes is shown too.
    await traffic.send(server, request, { host: watched }, async (_server, sent) => {
      sent.onAttempt?.(0);
      sent.onConnected?.({ era: 'legacy' } as Upstream);
      return {};
    });
    expect(waits()).toHaveLength(2);
    const failing = traffic.send(server, request, { host: watched }, async (_server, sent) => {
      sent.onAttempt?.(0);
      await clock.advance(50);
      throw new ToolscoutError('SERVER_CONNECTION_ERROR', 'Gone.');
    });
    await expect(failing).rejects.toThrow('Gone.');
    expect(waits()).toHaveLength(3);
    expect(waits()[2]).toMatchObject({ startMs: 1005, endMs: 1055, outcome: 'failure' });
  });

  it('STUDIO-3 records refusals of a host and notifications to it; messages without a row are only passed on', async () => {
    const { traffic, last } = open();
    const row = begin(traffic, { uri: 'note://1' });
    const watched = row.watch(host(() => Promise.reject(new Error('no'))));
    await expect(watched.request('elicitation/create', undefined)).rejects.toThrow('no');
    watched.notify('notifications/message', { level: 'info' });
    watched.notify('notifications/message', undefined);
    watched.notify('notifications/progress', { progress: 1 });
    expect(noted.map(([method]) => method)).toEqual([
      'notifications/message',
      'notifications/message',
      'notifications/progress',
    ]);
    row.succeed({ content: [], isError: true });
    expect(last()).toMatchObject({ name: 'note://1', state: 'failure' });
    expect(last().children.map(({ kind, outcome }) => [kind, outcome])).toEqual([
      ['callback', 'failure'],
      ['notice', undefined],
      ['notice', undefined],
    ]);
    const answer = await traffic.send(server, { method: 'm', params: {} }, {}, async () => ({ a: 1 }));
    expect(answer).toEqual({ a: 1 });
  });

  it('STUDIO-3 tells the time in which the host is asked, questions at once counted once, and that of a webhook', async () => {
    const clock = createFakeClock();
    const { traffic, last } = open(clock);
    const row = begin(traffic);
    const answers: Array<() => void> = [];
    const watched = row.watch(host(() => new Promise((resolve) => answers.push(() => resolve({})))));
    const asked = [1, 2].map(() => watched.request('elicitation/create', {}));
    await clock.advance(100);
    answers[0]!();
    await clock.advance(50);
    answers[1]!();
    await Promise.all(asked);
    await clock.advance(7);
    row.succeed({ content: [] });
    expect(last()).toMatchObject({ ms: 157, askedMs: 150 });
    const confirmed = begin(traffic);
    traffic.note({ host: confirmed.watch(host(async () => ({}))) }, { outcome: 'success', askedMs: 40 });
    confirmed.succeed({ content: [] });
    expect(last().askedMs).toBe(40);
    // The call ended before its question: what the record says is not counted twice.
    const ended = begin(traffic);
    const stop = new AbortController();
    const pending = ended.watch(
      host(
        (...[, , options]: Parameters<Host['request']>) =>
          new Promise<never>((_, reject) =>
            options!.signal!.addEventListener('abort', () => reject(new Error('the call has ended'))),
          ),
      ),
    );
    const question = pending.request('elicitation/create', {}, { signal: stop.signal });
    await clock.advance(700);
    traffic.note({ host: pending }, { outcome: 'failure', askedMs: 700 });
    stop.abort();
    await expect(question).rejects.toThrow('the call has ended');
    ended.succeed({ content: [] });
    expect(last()).toMatchObject({ ms: 700, askedMs: 700 });
    const own = begin(traffic);
    const confirms = { rule: 'rule 1 (pattern "*")', scope: 'call', arguments: {} } as const;
    await own.watch(host(async () => ({}))).request('elicitation/create', {}, { confirms });
    await own.watch(host(async () => ({}))).request('elicitation/create', {});
    own.succeed({ content: [] });
    expect(last().children.map(({ from }) => from)).toEqual(['toolscout', 'server']);
    // A row without a question has no such time, and no row has what only the recorder needs.
    begin(traffic);
    expect(Object.keys(last()).filter((key) => /asking|asked|refused|gone|size|started/i.test(key))).toEqual([]);
  });

  it('STUDIO-3 time in which the server works although its question is open is no time of asking', async () => {
    const clock = createFakeClock();
    const { traffic, last } = open(clock);
    const row = begin(traffic);
    const stop = new AbortController();
    const ends = new Promise<never>((_, reject) => {
      stop.signal.addEventListener('abort', () => reject(stop.signal.reason as Error));
    });
    const waiting = row.watch(host(() => ends));
    await traffic.send(server, { method: 'tools/call', params: {} }, { host: waiting }, async (_server, request) => {
      const asked = waiting.request('roots/list', {}, { signal: stop.signal });
      await clock.advance(2000);
      request.onAsking?.(true, true);
      await clock.advance(500);
      request.onAsking?.(false, true);
      stop.abort(new Error('the call has ended'));
      await expect(asked).rejects.toThrow('the call has ended');
      return { content: [] };
    });
    row.succeed({ content: [] });
    expect(last()).toMatchObject({ ms: 2500 });
    expect(last().askedMs).toBeUndefined();
  });

  it('STUDIO-3 a request that the audit log calls refused is refused here, with its code; the last call decides', () => {
    const { traffic, last } = open();
    const refused = begin(traffic);
    const watched = refused.watch(host(async () => ({})));
    traffic.note({ host: watched }, { outcome: 'refused', code: 'TOOL_DISABLED' });
    refused.succeed({ content: [], isError: true });
    expect(last()).toMatchObject({ state: 'refused', code: 'TOOL_DISABLED' });
    const other = begin(traffic);
    const second = other.watch(host(async () => ({})));
    traffic.note({ host: second }, { outcome: 'refused', code: 'TOOL_DISABLED' });
    traffic.note({ host: second }, { outcome: 'failure', code: 'TOOL_EXECUTION_ERROR' });
    other.succeed({ content: [], isError: true });
    expect(last()).toMatchObject({ state: 'failure', code: 'TOOL_EXECUTION_ERROR' });
    traffic.note({}, { outcome: 'refused' });
    expect(traffic.rows()).toHaveLength(2);
  });

  it('STUDIO-3 a call without a host of ours has a row of its own', async () => {
    const { traffic, last } = open();
    const call = { server: 'one', tool: 'do', arguments: { a: 1 }, principal: 'ada', route: 'http' } as unknown as Call;
    const row = traffic.attach(call)!;
    expect(last()).toMatchObject({ tool: 'one:do', state: 'open' });
    await traffic.send(server, { method: 'tools/call', params: { name: 'do' } }, { ...call }, async () => ({ ok: 1 }));
    row.succeed({ ok: 1 });
    expect(last()).toMatchObject({ name: 'one:do', servers: ['one'], state: 'success', route: 'http' });
    const asked = { ...call, host: host(async () => ({})) } as Call;
    expect(traffic.attach(asked)).toBeDefined();
    // It has a row now, which another call with the same host does not open again.
    expect(traffic.attach(asked)).toBeUndefined();
  });

  it('STUDIO-3 names the tool of a call that a host made, also when it is refused before it is sent', () => {
    const { traffic, last } = open();
    const row = begin(traffic, { name: 'execute_tool', arguments: { server: 'one', tool: 'gone' } });
    const watched = row.watch(host(async () => ({})));
    const call = { server: 'one', tool: 'gone', arguments: {}, principal: 'ada', host: watched } as unknown as Call;
    expect(traffic.attach(call)).toBeUndefined();
    row.fail(new ToolscoutError('TOOL_NOT_FOUND', 'There is none.'));
    expect(last()).toMatchObject({ name: 'execute_tool', tool: 'one:gone', servers: [], state: 'failure' });
    expect(last().tokens.returned).toBeGreaterThan(0);
    expect(traffic.rows()).toHaveLength(1);
  });

  it('STUDIO-3 A43 memory is bounded in rows and characters', () => {
    const { traffic, last, stop } = open();
    begin(traffic, { name: 7 as never, arguments: { text: 'x'.repeat(100_000) } });
    expect(last().request).toMatchObject({ cut: true });
    expect(last().request.json).toHaveLength(32 * 1024);
    const early = begin(traffic);
    for (let each = 0; each < 1100; each++) begin(traffic, { arguments: { text: 'x'.repeat(40_000) } });
    expect(traffic.rows().length).toBeLessThanOrEqual(1000);
    // A row that was pushed out may still end.
    early.succeed({ content: [] });
    expect(traffic.rows().every(({ state }) => state === 'open')).toBe(true);
    stop();
    expect([traffic.rows(), traffic.isOn]).toEqual([[], false]);
  });

  it('STUDIO-3 A43 of many children those beyond the bound are counted', () => {
    const { traffic, last } = open();
    const row = begin(traffic);
    const watched = row.watch(host(async () => ({})));
    for (let each = 0; each < 205; each++) watched.notify('notifications/message', { each });
    watched.notify('notifications/progress', { progress: 1 });
    expect([last().children.length, last().dropped]).toEqual([200, 5]);
  });

  it('STUDIO-3 what cannot be redacted is not shown, and fails no call', () => {
    const traffic = createTraffic({
      clock: createFakeClock(),
      log: silentLog,
      redact: () => {
        throw new RangeError('too deep');
      },
      incoming: (_server, result) => result,
    });
    traffic.keep(5);
    begin(traffic, { name: 'x', arguments: { secret: 'canary' } }).succeed({ content: [] });
    expect(traffic.rows()).toMatchObject([
      { state: 'success', request: { json: '"cannot be shown: too deep"' }, response: { bytes: 14 } },
    ]);
    expect(JSON.stringify(traffic.rows())).not.toContain('canary');
  });

  it('STUDIO-3 a question to the host is a child with its answer; a refusal is a failed one, and is passed on', async () => {
    const { traffic, last } = open();
    const willing = begin(traffic).watch(host(async () => ({ action: 'accept' })));
    expect(await willing.request('elicitation/create', {})).toEqual({ action: 'accept' });
    expect(last().children).toMatchObject([{ outcome: 'success', response: { json: '{"action":"accept"}' } }]);
    const refusing = host(() => Promise.reject(new ToolscoutError('CANCELLED', 'Not now.')));
    const watched = begin(traffic).watch(refusing);
    await expect(watched.request('elicitation/create', undefined)).rejects.toThrow('Not now.');
    expect(last().children).toMatchObject([
      { kind: 'callback', method: 'elicitation/create', outcome: 'failure', code: 'CANCELLED' },
    ]);
  });
});
