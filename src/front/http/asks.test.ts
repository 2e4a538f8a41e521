import { describe, expect, it } from 'vitest';
import { CallEnded } from '../../model/host.js';
import { LOCAL } from '../../model/principal.js';
import { createAsks } from './asks.js';

describe('questions over HTTP', () => {
  it('STUDIO-1 say when they are withdrawn because the call has ended', async () => {
    const sent: Array<[string, unknown]> = [];
    const host = createAsks().hostFor(LOCAL, (event, data) => sent.push([event, data]));
    const stop = new AbortController();
    const asked = host.request('roots/list', undefined, { signal: stop.signal });
    stop.abort(new CallEnded());
    await expect(asked).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(sent.at(-1)).toEqual(['withdrawn', { id: expect.any(String) as string, ended: true }]);
  });

  it('STUDIO-1 A43 are withdrawn with their call, and their number is bounded', async () => {
    const asks = createAsks();
    const sent: Array<[string, unknown]> = [];
    const host = asks.hostFor(LOCAL, (event, data) => sent.push([event, data]));
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
      message: '64 questions to this caller are open already; the next was not asked.',
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
});
