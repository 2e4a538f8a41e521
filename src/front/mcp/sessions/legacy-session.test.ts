import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/json.js';
import { LegacySession, type RequestId } from './legacy-session.js';

interface Opened {
  readonly session: LegacySession;
  readonly sent: JsonObject[];
  readonly related: Array<RequestId | undefined>;
}

function open(capabilities: JsonObject = { sampling: {} }, more: { isGrouped?: boolean; sole?: boolean } = {}): Opened {
  const sent: JsonObject[] = [];
  const related: Array<RequestId | undefined> = [];
  const post = (message: JsonObject, of?: RequestId): void => {
    sent.push(message);
    related.push(of);
  };
  return {
    session: new LegacySession({ id: 'own', principal: 'ada', capabilities, ...more }, { post }),
    sent,
    related,
  };
}

describe('a connected host', () => {
  it('META-6 is asked under ids of ours, and its answer goes to the server that asked', async () => {
    const { session, sent, related } = open();
    const first = session.hostOf('r1').request('sampling/createMessage', { n: 1 });
    const second = session.host.request('ping', undefined);
    expect(sent).toEqual([
      { jsonrpc: '2.0', id: 1, method: 'sampling/createMessage', params: { n: 1 } },
      { jsonrpc: '2.0', id: 2, method: 'ping' },
    ]);
    expect(related).toEqual(['r1', undefined]);
    expect(session.answered({ id: 2, result: { ok: true } })).toBe(true);
    expect(session.answered({ id: 1, error: { code: -1, message: 'User rejected', data: { why: 'no' } } })).toBe(true);
    expect(await second).toEqual({ ok: true });
    await expect(first).rejects.toMatchObject({
      code: 'TOOL_EXECUTION_ERROR',
      message: 'User rejected',
      suggestion: 'Make the call again and answer the question of its server.',
      upstream: { code: -1, data: { why: 'no' } },
    });
    // An answer is good once; what is no answer to us is left to others.
    for (const id of [1, 2, 3, '1', null]) expect(session.answered({ id, result: {} })).toBe(false);
  });

  it('META-6 an invalid answer is an error with a code, whatever the host sent', async () => {
    for (const broken of [{}, { result: 'text' }, { error: 'no' }, { error: { code: 'x', message: 7 } }]) {
      const { session } = open();
      const asked = session.host.request('roots/list', {});
      session.answered({ id: 1, ...broken });
      await expect(asked).rejects.toMatchObject({ upstream: { code: -32_603, message: 'error -32603' } });
    }
  });

  it('META-6 a request that is no longer needed is cancelled at the host', async () => {
    const { session, sent } = open();
    const stop = new AbortController();
    const asked = session.hostOf(7).request('elicitation/create', {}, { signal: stop.signal });
    stop.abort();
    await expect(asked).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(sent.at(-1)).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 1 } });
    expect(session.answered({ id: 1, result: {} })).toBe(false);
    await expect(session.host.request('ping', {}, { signal: stop.signal })).rejects.toMatchObject({
      code: 'CANCELLED',
    });
    expect(sent).toHaveLength(2);
  });

  it('A43 META-6 bounds the number of questions; a host that has gone gets none', async () => {
    const { session, sent } = open();
    const open64 = Array.from({ length: 64 }, () => session.host.request('ping', {}));
    await expect(session.host.request('ping', {})).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      message: 'The server already has 64 open questions; the next one was refused.',
    });
    expect(sent).toHaveLength(64);
    const ends = Promise.allSettled(open64);
    session.close();
    expect((await ends).every(({ status }) => status === 'rejected')).toBe(true);
    await expect(session.host.request('ping', {})).rejects.toMatchObject({
      code: 'CANCELLED',
      message: 'The host has disconnected.',
    });
    expect(sent).toHaveLength(64);
  });

  it('META-6 gets log messages from its level on, and shares a connection until it sets one', () => {
    const { session, sent } = open({}, { isGrouped: true });
    const [shared, group] = [session.host.id, session.host.group];
    expect(shared).not.toBe('own');
    expect(group).toBe(shared);
    expect(session.host.session).toBeUndefined();
    session.host.notify('notifications/message', { level: 'debug', data: 'a' });
    session.logLevel = 'warning';
    session.host.notify('notifications/message', { level: 'info', data: 'b' });
    session.host.notify('notifications/message', { level: 'error', data: 'c' });
    session.hostOf(1).notify('notifications/progress', undefined);
    expect(sent.map(({ params }) => (params as JsonObject | undefined)?.['data'])).toEqual(['a', 'c', undefined]);
    expect(session.host).toMatchObject({ id: 'own', logLevel: 'warning', sole: false });
    expect(session.host.group).toBeUndefined();
    expect(session.hostOf(1).session).toBe(session.host);
    // A host that can be asked has an identity of its own from the start.
    expect(open({ sampling: {} }, { sole: true }).session.host).toMatchObject({ id: 'own', sole: true });
  });
});
