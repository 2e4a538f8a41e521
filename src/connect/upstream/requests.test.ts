import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import type { JsonObject } from '../../kernel/json.js';
import { silentLog } from '../../kernel/log.js';
import type { Progress } from '../../model/call.js';
import type { Host } from '../../model/host.js';
import type { UpstreamRequest } from '../../model/upstream.js';
import { judgeFailure } from '../pool/breaker.js';
import { modernEnvelope } from './envelope.js';
import { createRequests } from './requests.js';

interface Sent {
  readonly message: JsonObject;
  readonly options: TransportSendOptions | undefined;
}

/** A wire that notes what is sent; the test answers. */
function connect(settings: { streams?: boolean; remote?: boolean; sessionId?: string; refuse?: unknown } = {}) {
  const sent: Sent[] = [];
  let closes = 0;
  const wire: Transport = {
    ...(settings.streams && { hasPerRequestStream: true }),
    ...(settings.sessionId !== undefined && { sessionId: settings.sessionId }),
    start: () => Promise.resolve(),
    send: (message, options) => {
      sent.push({ message: message as unknown as JsonObject, options });
      return settings.refuse === undefined ? Promise.resolve() : Promise.reject(settings.refuse);
    },
    close: async () => {
      closes += 1;
      wire.onclose?.();
    },
  };
  const clock = createFakeClock();
  const requests = createRequests({
    server: 's',
    transport: wire,
    clock,
    log: silentLog,
    mask: (text) => text,
    remote: settings.remote ?? false,
    lost: () => undefined,
  });
  const receive = (message: JsonObject) =>
    wire.onmessage?.({ jsonrpc: '2.0', ...message } as unknown as JSONRPCMessage);
  const call = (params: JsonObject = {}, options = {}) =>
    requests.request('tools/call', params, { timeoutMs: 1000, ...options });
  return { clock, requests, sent, receive, call, wire, closes: () => closes };
}

const idOf = (sent: Sent | undefined) => sent?.message['id'] ?? null;

describe('createRequests', () => {
  it('EXEC-1 gives the very object of the server', async () => {
    const { call, sent, receive } = connect();
    const answer = call();
    const result = { content: [{ type: 'text', text: 'x', vendor: 1 }], resultType: 'complete', 'x-top': [1] };
    receive({ id: idOf(sent[0]), result });
    expect(await answer).toBe(result);
  });

  it('EXEC-1 tells answers of concurrent requests apart, and takes each once', async () => {
    const { call, sent, receive } = connect();
    const answers = [call({ n: 1 }), call({ n: 2 })];
    receive({ id: idOf(sent[1]), result: { n: 2 } });
    receive({ id: idOf(sent[1]), result: { n: 'again' } });
    receive({ id: 987_654, result: { n: 'nobody' } });
    receive({ id: String(idOf(sent[0])), result: { n: 1 } });
    expect(await Promise.all(answers)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('EXEC-3 carries a JSON-RPC error with its code and data, however badly formed', async () => {
    const { call, sent, receive } = connect();
    const answers = [call(), call(), call(), call()];
    receive({ id: idOf(sent[0]), error: { code: -32602, message: 'bad', data: { field: 'a' } } });
    receive({ id: idOf(sent[1]), error: 'text' });
    receive({ id: idOf(sent[2]), result: 'no object' });
    receive({ id: idOf(sent[3]), result: {}, error: { code: 1, message: 'both' } });
    await expect(answers[0]).rejects.toMatchObject({
      code: 'TOOL_EXECUTION_ERROR',
      upstream: { code: -32602, data: { field: 'a' } },
    });
    await expect(answers[1]).rejects.toMatchObject({ upstream: { code: -32603, message: 'text' } });
    await expect(answers[2]).rejects.toMatchObject({
      code: 'TOOL_EXECUTION_ERROR',
      message: expect.stringContaining('not an object, which violates MCP') as string,
      suggestion: expect.stringContaining('may have taken effect') as string,
      upstream: undefined,
    });
    await expect(answers[3]).rejects.toMatchObject({ upstream: { code: 1 } });
  });

  it('EXEC-1 an error that is null is none', async () => {
    const { call, sent, receive } = connect();
    const answer = call();
    receive({ id: idOf(sent[0]), result: { n: 1 }, error: null });
    expect(await answer).toEqual({ n: 1 });
  });

  it('EXEC-1 times out, cancels at the server, and progress restarts the time', async () => {
    const { call, sent, receive, clock } = connect();
    const seen: Progress[] = [];
    const answer = call({}, { onProgress: (progress: Progress) => seen.push(progress) });
    const ended = answer.catch((thrown: unknown) => thrown);
    const token = (sent[0]!.message['params'] as JsonObject)['_meta'] as JsonObject;
    expect(token).toEqual({ progressToken: idOf(sent[0]) });
    await clock.advance(900);
    receive({ method: 'notifications/progress', params: { ...token, progress: 1, total: 2, message: 'm', extra: 1 } });
    await clock.advance(900);
    expect(seen).toEqual([{ progress: 1, total: 2, message: 'm' }]);
    expect(sent).toHaveLength(1);
    await clock.advance(100);
    expect(await ended).toMatchObject({ code: 'TOOL_EXECUTION_TIMEOUT' });
    expect(sent[1]?.message).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: idOf(sent[0]) },
    });
    expect(clock.waiting).toBe(0);
  });

  it.each<[UpstreamRequest, string]>([
    [{}, 'Request less data in one call, or raise timeoutMs of this server (limits.callTimeoutMs).'],
    [
      { ifLate: { kind: 'ask-for-less', limit: 'call' } },
      'Request less data in one call, or raise timeoutMs of this call.',
    ],
    [{ ifLate: { kind: 'diagnose' } }, 'Run toolscout doctor to see what is wrong with this server.'],
  ])('EXEC-3 a request that timed out advises to raise the limit that ended it: %j', async (options, suggestion) => {
    const { call, clock } = connect();
    const ended = expect(call({}, options)).rejects.toMatchObject({ code: 'TOOL_EXECUTION_TIMEOUT', suggestion });
    await clock.advance(60_000);
    await ended;
  });

  it('A50 progress restarts the time, but not beyond the deadline of the call', async () => {
    const { call, clock, sent, receive } = connect();
    const answer = call({}, { deadline: clock.monotonic() + 2500, onProgress: () => undefined });
    const ended = expect(answer).rejects.toMatchObject({
      code: 'TOOL_EXECUTION_TIMEOUT',
      message: 'The call to "s" did not finish within its total time limit.',
      suggestion: 'Request less data in one call, or raise totalTimeoutMs of this server (limits.callTotalMs).',
    });
    for (let step = 1; step <= 4; step++) {
      await clock.advance(600);
      receive({ method: 'notifications/progress', params: { progressToken: idOf(sent[0]), progress: step } });
    }
    await clock.advance(100);
    await ended;
    expect(sent.at(-1)?.message).toMatchObject({ method: 'notifications/cancelled' });
  });

  it('EXEC-5 a server that answers without the answer to its question waited for it, and a deadline says so', async () => {
    const host: Host = {
      id: 'h',
      era: 'legacy',
      capabilities: { elicitation: {}, roots: {} },
      request: (_method, _params, options) =>
        new Promise((_, reject) => options!.signal!.addEventListener('abort', () => reject(new Error('gone')))),
      notify: () => undefined,
    };
    for (const [method, end, worked] of [
      ['elicitation/create', 'answer', false],
      ['elicitation/create', 'deadline', false],
      ['roots/list', 'answer', true],
    ] as const) {
      const { call, clock, sent, receive } = connect();
      const told: Array<[boolean, boolean]> = [];
      const onAsking = (isOpen: boolean, hasWorked = false): void => void told.push([isOpen, hasWorked]);
      const answer = call({}, { host, onAsking, deadline: clock.monotonic() + 5000 }).catch(
        (thrown: unknown) => thrown,
      );
      receive({ id: 'q', method, params: { message: 'Who?' } });
      if (end === 'answer') receive({ id: idOf(sent[0]), result: { content: [] } });
      else await clock.advance(5000);
      const ended = await answer;
      expect([method, end, told]).toEqual([
        method,
        end,
        [
          [true, false],
          [false, worked],
        ],
      ]);
      if (end === 'answer') continue;
      expect(ended).toMatchObject({
        message:
          'The call to "s" did not finish within its total time limit: the question of the server was not answered.',
        suggestion: 'Make the call again, and answer the question of the server.',
      });
      expect(judgeFailure(ended)).toBe('nothing');
    }
  });

  it('A44 a remote server that floods is cut off; answers that come late are not a flood', async () => {
    const { call, clock, requests, receive, closes } = connect({ remote: true });
    for (let n = 0; n < 12_000; n++) void call({}, { timeoutMs: 10 }).catch(() => undefined);
    await clock.advance(10);
    for (let n = 0; n < 12_000; n++) receive({ id: 1000 + n, result: {} });
    expect(requests.closed).toBe(false);
    for (let n = 0; n < 20_001; n++) receive({ method: 'notifications/tools/list_changed' });
    expect(requests.reason?.message).toContain('unsolicited messages');
    expect(closes()).toBe(1);
  });

  it('EXEC-1 an abort cancels at once and leaves no listener behind', async () => {
    const { call, sent, clock } = connect();
    const controller = new AbortController();
    const answer = call({}, { signal: controller.signal });
    controller.abort();
    await expect(answer).rejects.toMatchObject({ code: 'CANCELLED', delivered: undefined });
    expect(sent[1]?.message).toMatchObject({ method: 'notifications/cancelled' });
    await expect(call({}, { signal: controller.signal })).rejects.toMatchObject({
      code: 'CANCELLED',
      delivered: false,
    });
    expect(sent).toHaveLength(2);
    expect(clock.waiting).toBe(0);
  });

  it('EXEC-1 EXEC-3 what cannot be written as JSON is refused and leaves nothing behind', async () => {
    const { call, wire, sent, clock } = connect();
    const { send } = wire;
    // As a pipe does it, which writes at once.
    wire.send = (message) => {
      JSON.stringify(message);
      return send.call(wire, message);
    };
    const controller = new AbortController();
    const answer = call({ arguments: { id: 10n } as unknown as JsonObject }, { signal: controller.signal });
    await expect(answer).rejects.toMatchObject({
      code: 'TOOL_VALIDATION_ERROR',
      message: expect.stringContaining('BigInt') as string,
      delivered: false,
    });
    controller.abort();
    expect(sent).toEqual([]);
    expect(clock.waiting).toBe(0);
  });

  it('EXEC-4 the end of the connection ends every call at once', async () => {
    const { call, wire, requests } = connect();
    const answers = [call(), call()];
    const reasons: unknown[] = [];
    requests.ended.on((reason) => reasons.push(reason));
    wire.onclose?.();
    for (const answer of answers) {
      await expect(answer).rejects.toMatchObject({ code: 'SERVER_CONNECTION_ERROR', delivered: undefined });
    }
    await expect(call()).rejects.toMatchObject({ code: 'SERVER_CONNECTION_ERROR', delivered: false });
    expect(reasons).toEqual([undefined]);
  });

  it('EXEC-4 a broken answer stream ends its call at once', async () => {
    const { call, sent } = connect({ streams: true, remote: true });
    const answer = call();
    sent[0]?.options?.onRequestStreamEnd?.();
    await expect(answer).rejects.toMatchObject({ code: 'SERVER_CONNECTION_ERROR', delivered: undefined });
  });

  it('A29 a call that is given up stops reading its stream', async () => {
    const { call, sent, clock } = connect({ streams: true, remote: true });
    const ended = call().catch((thrown: unknown) => thrown);
    await clock.advance(1000);
    expect(await ended).toMatchObject({ code: 'TOOL_EXECUTION_TIMEOUT' });
    expect(sent[0]?.options?.requestSignal?.aborted).toBe(true);
  });

  it('CONN-3 a session the server has forgotten ends the connection, and the call may be repeated', async () => {
    const refuse = Object.assign(new Error('no'), { data: { status: 404 } });
    const { call, requests, closes } = connect({ remote: true, streams: true, sessionId: 'x', refuse });
    await expect(call()).rejects.toMatchObject({ code: 'SERVER_CONNECTION_ERROR', delivered: false });
    expect([requests.closed, closes()]).toEqual([true, 1]);
  });

  it('CONN-1 the envelope of the connection cannot be replaced by the one of the host', async () => {
    const { call, requests, sent } = connect();
    const host = {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '1',
        'io.modelcontextprotocol/clientCapabilities': { sampling: {} },
        progressToken: 1000,
        traceparent: '00-abc',
      },
      name: 'x',
    };
    void call(host).catch(() => sent);
    requests.setEnvelope(modernEnvelope('2026-07-28', { name: 'toolscout', version: '1' }));
    void call(host).catch(() => sent);
    void call().catch(() => sent);
    const metas = sent.map(({ message }) => (message['params'] as JsonObject)['_meta']);
    const envelope = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'toolscout', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    expect(metas).toEqual([{ traceparent: '00-abc' }, { traceparent: '00-abc', ...envelope }, envelope]);
    expect(host['_meta']['progressToken']).toBe(1000);
  });

  it('CONN-1 leaves other messages to the client', () => {
    const { requests, receive } = connect();
    const left: unknown[] = [];
    Object.assign(requests.transport, { onmessage: (message: unknown) => left.push(message) });
    const heard: unknown[] = [];
    requests.notifications.on((notification) => heard.push(notification));
    receive({ id: 0, result: {} });
    receive({ id: 'listen:0', result: {} });
    receive({ id: 5, method: 'log', params: {} });
    receive({ method: 'notifications/tools/list_changed' });
    receive({ method: 'notifications/resources/updated', params: { uri: 'a:b' } });
    receive({ method: 'notifications/progress', params: { progressToken: 77, progress: 1 } });
    expect(left).toHaveLength(3);
    expect(heard).toEqual([
      { method: 'notifications/tools/list_changed' },
      { method: 'notifications/resources/updated', params: { uri: 'a:b' } },
    ]);
  });
});
