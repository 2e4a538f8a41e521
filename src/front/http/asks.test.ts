import { describe, expect, it } from 'vitest';
import { CallEnded } from '../../model/host.js';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { LOCAL } from '../../model/principal.js';
import { createAsks } from './asks.js';

const ABOUT = { server: 'notes', tool: 'drop' };

describe('questions over HTTP', () => {
  it('STUDIO-1 say when they are withdrawn because the call has ended', async () => {
    const sent: Array<[string, unknown]> = [];
    const host = createAsks(createFakeClock()).hostFor(LOCAL, ABOUT, (event, data) => sent.push([event, data]));
    const stop = new AbortController();
    const asked = host.request('roots/list', undefined, { signal: stop.signal });
    stop.abort(new CallEnded());
    await expect(asked).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(sent.at(-1)).toEqual(['withdrawn', { id: expect.any(String) as string, ended: true }]);
  });

  it('STUDIO-1 are listed for their caller alone, and it is told when one is asked or over', async () => {
    const clock = createFakeClock();
    const asks = createAsks(clock);
    const own = { ...LOCAL, name: 'ann' };
    const heard: string[] = [];
    const stop = asks.follow(own, () => heard.push('ann'));
    asks.follow(LOCAL, () => heard.push('local'));
    const host = asks.hostFor(own, ABOUT, () => undefined);
    const confirms = { rule: 'rule 1 (pattern "*")', scope: 'call', arguments: { id: 7 } } as const;
    const asked = [
      host.request('elicitation/create', { message: 'Which?' }),
      host.request('elicitation/create', { message: 'Allow?' }, { confirms }),
    ];
    expect(asks.list(LOCAL)).toEqual([]);
    const listed = asks.list(own);
    expect(listed).toMatchObject([
      { ...ABOUT, kind: 'elicitation', params: { message: 'Which?' }, askedAt: clock.now() },
      { ...ABOUT, kind: 'elicitation', confirms },
    ]);
    expect(listed[0]).not.toHaveProperty('confirms');
    for (const { id } of listed) asks.answer(id, own, { answer: {} });
    await Promise.all(asked);
    expect([asks.list(own), heard]).toEqual([[], ['ann', 'ann', 'ann', 'ann']]);
    stop();
    void host.request('roots/list', undefined);
    expect(heard).toHaveLength(4);
  });

  it('STUDIO-1 A43 are withdrawn with their call, and their number is bounded', async () => {
    const asks = createAsks(createFakeClock());
    const sent: Array<[string, unknown]> = [];
    const host = asks.hostFor(LOCAL, ABOUT, (event, data) => sent.push([event, data]));
    const stop = new AbortController();
    const withdrawn = host.request('elicitation/create', { message: 'x' }, { signal: stop.signal });
    stop.abort();
    await expect(withdrawn).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(sent.map(([event]) => event)).toEqual(['ask', 'withdrawn']);
    expect(sent[1]![1]).not.toHaveProperty('ended');
    await expect(host.request('roots/list', undefined, { signal: stop.signal })).rejects.toMatchObject({
      code: 'CANCELLED',
    });
    const open = Array.from({ length: 64 }, () => host.request('unknown/method', undefined));
    await expect(host.request('roots/list', undefined)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      message: 'This caller already has 64 open questions; the next one was refused.',
    });
    expect(sent.at(-1)![1]).toMatchObject({ kind: 'unknown/method', params: {} });
    for (const [event, data] of sent.slice(2)) {
      if (event === 'ask') asks.answer((data as { id: string }).id, LOCAL, { answer: { ok: true } });
    }
    expect(await Promise.all(open)).toHaveLength(64);
    host.notify('notifications/message', undefined);
    host.notify('notifications/progress', {});
    expect(sent.at(-1)).toEqual(['log', {}]);
  });

  it('STUDIO-6 S12 are no business of another key of the same name that sees fewer servers or may do less', async () => {
    const asks = createAsks(createFakeClock());
    const whole = { ...LOCAL, name: 'alice' };
    const limited = { ...whole, servers: new Set(['git']) };
    const reader = { ...whole, scopes: new Set(['call'] as const) };
    const asked = asks.hostFor(whole, ABOUT, () => undefined).request('elicitation/create', { message: 'Allow?' });
    const { id } = asks.list(whole)[0]!;
    for (const other of [limited, reader]) {
      expect(asks.list(other)).toEqual([]);
      expect(() => asks.answer(id, other, { answer: {} })).toThrow('not open');
    }
    asks.answer(id, { ...whole, scopes: new Set([...whole.scopes].toReversed()) }, { answer: { action: 'accept' } });
    expect(await asked).toEqual({ action: 'accept' });
  });
});
