import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../../test/support/fake-clock.js';
import type { JsonObject } from '../../../kernel/json.js';
import type { Exchange } from '../exchange.js';
import { createHeldCalls, type HeldCalls, type Round, type RoundEnd } from './held-calls.js';

const told: JsonObject[] = [];
const round = (over: Partial<Round> = {}): Round => ({
  principal: 'ann',
  hostId: 'h',
  capabilities: { elicitation: {} },
  signal: new AbortController().signal,
  notify: (method, params) => void told.push({ method, ...params }),
  ...over,
});
const held = (end: RoundEnd): Extract<RoundEnd, { held: string }> => {
  if (!('held' in end)) throw new Error(`not held: ${JSON.stringify(end)}`);
  return end;
};
const ask = ({ host }: Exchange, message: string): Promise<JsonObject> =>
  host.request('elicitation/create', { message });

describe('calls that are held for their host', () => {
  it('META-6 a call that asks nothing is over at once', async () => {
    const calls = createHeldCalls(createFakeClock());
    expect(await calls.begin(round(), async () => ({ content: [] }))).toEqual({ result: { content: [] } });
    await expect(calls.begin(round(), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(calls.size).toBe(0);
  });

  it('META-6 several rounds, each with the progress token of its own', async () => {
    const calls = createHeldCalls(createFakeClock());
    told.length = 0;
    const first = held(
      await calls.begin(round({ progressToken: 1 }), async (exchange) => {
        exchange.host.notify('notifications/progress', { progress: 1, progressToken: 1 });
        const a = await ask(exchange, 'a');
        exchange.host.notify('notifications/progress', { progress: 2, progressToken: 1 });
        const b = await ask(exchange, 'b');
        return { a, b };
      }),
    );
    expect(first.inputRequests).toEqual({
      'question-1': { method: 'elicitation/create', params: { message: 'a' } },
    });
    const answer = { inputResponses: { 'question-1': { action: 'accept' } } };
    const second = held((await calls.resume(first.held, round({ ...answer, progressToken: 'two' })))!);
    expect(Object.keys(second.inputRequests)).toEqual(['question-2']);
    expect(calls.resume(first.held, round(answer))).toBeUndefined();
    const last = await calls.resume(second.held, round({ inputResponses: { 'question-2': { action: 'decline' } } }));
    expect(last).toEqual({ result: { a: { action: 'accept' }, b: { action: 'decline' } } });
    expect(told.map(({ progressToken }) => progressToken)).toEqual([1, 'two']);
    expect(calls.size).toBe(0);
  });

  it('META-6 what was not answered is asked again; answers of the wrong kind do not count', async () => {
    const calls = createHeldCalls(createFakeClock());
    const first = held(
      await calls.begin(round(), async (exchange) => ({
        both: await Promise.all([ask(exchange, 'a'), ask(exchange, 'b')]),
      })),
    );
    expect(Object.keys(first.inputRequests)).toEqual(['question-1', 'question-2']);
    const again = held(
      (await calls.resume(
        first.held,
        round({ inputResponses: { 'question-1': { ok: 1 }, 'question-2': 'text', other: {} } }),
      ))!,
    );
    expect(Object.keys(again.inputRequests)).toEqual(['question-2']);
    const end = await calls.resume(again.held, round({ inputResponses: { 'question-2': { ok: 2 } } }));
    expect(end).toEqual({ result: { both: [{ ok: 1 }, { ok: 2 }] } });
  });

  it('S4 a host that goes cancels the call; one that does not come back does so in the end', async () => {
    const clock = createFakeClock();
    const calls = createHeldCalls(clock);
    const reasons: unknown[] = [];
    const work = async (exchange: Exchange): Promise<JsonObject> => {
      exchange.signal.addEventListener('abort', () => reasons.push(exchange.signal.reason));
      await exchange.host.request('roots/list', undefined, { signal: exchange.signal });
      return {};
    };
    const stop = new AbortController();
    const first = held(await calls.begin(round(), work));
    const going = calls.resume(first.held, round({ signal: stop.signal, inputResponses: {} }));
    held((await going)!);
    await clock.advance(600_001);
    expect(reasons).toHaveLength(1);
    expect(calls.size).toBe(0);

    const running = calls.begin(round({ signal: stop.signal }), (exchange) => {
      exchange.signal.addEventListener('abort', () => reasons.push('gone'));
      return new Promise((_resolve, reject) => {
        exchange.signal.addEventListener('abort', () => reject(new Error('cancelled')));
      });
    });
    stop.abort();
    await expect(running).rejects.toThrow('cancelled');
    expect(reasons).toHaveLength(2);
  });

  it('S8 the number of held calls and of their questions is bounded', async () => {
    const calls: HeldCalls = createHeldCalls(createFakeClock());
    const flood = held(
      await calls.begin(round(), async (exchange) => {
        const asked = Array.from({ length: 100 }, (_, at) => ask(exchange, String(at)));
        await expect(asked[32]).rejects.toMatchObject({ code: 'RATE_LIMITED' });
        const settled = await Promise.allSettled(asked);
        return { refused: settled.filter(({ status }) => status === 'rejected').length };
      }),
    );
    expect(Object.keys(flood.inputRequests)).toHaveLength(32);
    const waiting = Array.from({ length: 300 }, () =>
      calls.begin(round(), async (exchange) => ask(exchange, 'q').catch(() => ({ refused: true }))),
    );
    const ends = await Promise.all(waiting);
    expect(calls.size).toBe(256);
    expect(ends.filter((end) => 'result' in end).length).toBeGreaterThan(40);
    calls.close();
    expect(calls.size).toBe(0);
  });
});
