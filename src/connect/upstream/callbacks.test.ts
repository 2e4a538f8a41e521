import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { JsonObject } from '../../kernel/json.js';
import { silentLog } from '../../kernel/log.js';
import type { Host } from '../../model/host.js';
import { createCallbacks } from './callbacks.js';

const elicit = (id: string | number, message = 'm'): JsonObject => ({
  jsonrpc: '2.0',
  id,
  method: 'elicitation/create',
  params: { message },
});

function fakeHost(era: 'legacy' | 'modern' = 'legacy', capabilities: JsonObject = { elicitation: {}, roots: {} }) {
  const asked: Array<{ resolve: (answer: JsonObject) => void; aborted: boolean }> = [];
  const host: Host = {
    id: 'h',
    era,
    capabilities,
    request: (_method, _params, options) =>
      new Promise((resolve, reject) => {
        const entry = { resolve, aborted: false };
        asked.push(entry);
        options?.signal?.addEventListener('abort', () => {
          entry.aborted = true;
          reject(new ToolscoutError('CANCELLED', 'withdrawn'));
        });
      }),
    notify: () => {},
  };
  return { host, asked };
}

function stage(calls: Map<number, Host | undefined>, owner?: Host) {
  const sent: JsonObject[] = [];
  const clock = createFakeClock();
  const paused: string[] = [];
  const callbacks = createCallbacks({
    server: 's',
    clock,
    log: silentLog,
    owner,
    send: (message) => void sent.push(message),
    callOf(stream, isFree) {
      const ids = [...calls].filter(([, host]) => host).map(([id]) => id);
      const id = stream !== undefined && calls.has(stream) ? stream : (ids.find(isFree) ?? ids[0]);
      return id === undefined ? undefined : { id, host: calls.get(id) };
    },
    pause: (call) => void paused.push(`pause ${call}`),
    resume: (call) => void paused.push(`resume ${call}`),
  });
  const end = (call: number): void => {
    calls.delete(call);
    callbacks.ended(call);
  };
  return { callbacks, sent, clock, paused, end };
}

/** Written by hand: `JSON.stringify` could not. */
const deep = JSON.parse(`{"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`) as JsonObject;

describe('what a server asks', () => {
  it('A26 a question or an answer that nests too deep to be written is an error of that question', async () => {
    const { host, asked } = fakeHost();
    const { callbacks, sent, clock } = stage(new Map([[1000, host]]));
    callbacks.take({ ...elicit('a'), params: { message: 'm', ...deep } }, undefined);
    expect(asked).toHaveLength(0);
    expect(sent).toMatchObject([{ id: 'a', error: { code: -32_602 } }]);
    callbacks.take(elicit('b'), undefined);
    asked[0]?.resolve({ action: 'accept', content: deep });
    await clock.advance(0);
    expect(sent[1]).toMatchObject({ id: 'b', error: { code: -32_603 } });
    expect(() => JSON.stringify(sent)).not.toThrow();
  });

  it('META-6 is asked of the host of its call, whose time limit is paused meanwhile', async () => {
    const { host, asked } = fakeHost();
    const { callbacks, sent, clock, paused } = stage(new Map([[1000, host]]));
    expect(callbacks.take(elicit('a'), undefined)).toBe(true);
    asked[0]?.resolve({ action: 'accept', content: { x: 1 } });
    await clock.advance(0);
    expect(sent).toEqual([{ jsonrpc: '2.0', id: 'a', result: { action: 'accept', content: { x: 1 } } }]);
    expect(paused).toEqual(['pause 1000', 'resume 1000']);
    expect(callbacks.take({ id: 1, method: 'log' }, undefined)).toBe(false);
  });

  it('S8 is refused where the host did not offer it, and declined without a host', () => {
    const { host, asked } = fakeHost('legacy', { roots: {} });
    const refused = stage(new Map([[1000, host]]));
    refused.callbacks.take(elicit(1), undefined);
    expect(refused.sent).toMatchObject([{ id: 1, error: { code: -32_601 } }]);
    expect(asked).toEqual([]);
    const nobody = stage(new Map());
    for (const method of ['elicitation/create', 'roots/list', 'sampling/createMessage']) {
      nobody.callbacks.take({ id: method, method }, undefined);
    }
    expect(nobody.sent).toMatchObject([
      { result: { action: 'decline' } },
      { result: { roots: [] } },
      { error: { code: -1 } },
    ]);
  });

  it('META-6 outside of a call only roots are asked for, of the session', async () => {
    const { host, asked } = fakeHost();
    const { callbacks, sent, clock } = stage(new Map(), host);
    callbacks.take({ id: 1, method: 'roots/list' }, undefined);
    callbacks.take(elicit(2), undefined);
    asked[0]?.resolve({ roots: [{ uri: 'file:///a' }] });
    await clock.advance(0);
    expect(asked).toHaveLength(1);
    expect(sent).toMatchObject([
      { id: 2, result: { action: 'decline' } },
      { id: 1, result: { roots: [{ uri: 'file:///a' }] } },
    ]);
  });

  it('META-6 a question whose call was only guessed survives the end of that call', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const first = fakeHost(era);
      const second = fakeHost(era);
      const { callbacks, sent, clock, paused, end } = stage(
        new Map([
          [1000, first.host],
          [1001, second.host],
        ]),
      );
      callbacks.take(elicit('q'), undefined);
      end(1000);
      await clock.advance(0);
      const open = era === 'legacy' ? first.asked[0] : second.asked[0];
      open?.resolve({ action: 'accept' });
      await clock.advance(0);
      expect(sent).toEqual([{ jsonrpc: '2.0', id: 'q', result: { action: 'accept' } }]);
      // The call that it turned out to be about is the one whose time limit is paused from then on.
      expect(paused).toEqual(['pause 1000', 'pause 1001', 'resume 1001']);
    }
  });

  it('META-6 a question that is known to be of an ended call is withdrawn, and answered with an error', async () => {
    const { host, asked } = fakeHost();
    const { callbacks, sent, clock, end } = stage(
      new Map([
        [1000, host],
        [1001, host],
      ]),
    );
    callbacks.take(elicit('q'), 1000);
    end(1000);
    await clock.advance(0);
    expect(asked[0]?.aborted).toBe(true);
    expect(sent).toMatchObject([{ id: 'q', error: { code: -32_603 } }]);
  });

  it('META-6 one that the server withdraws is withdrawn at the host and not answered', async () => {
    const { host, asked } = fakeHost();
    const { callbacks, sent, clock } = stage(new Map([[1000, host]]));
    callbacks.take(elicit(7), undefined);
    expect(callbacks.withdraw(8)).toBe(false);
    expect(callbacks.withdraw(7)).toBe(true);
    await clock.advance(0);
    expect(asked[0]?.aborted).toBe(true);
    expect(sent).toEqual([]);
  });

  it('EXEC-5 the wait ends as soon as the server withdraws its question: the answer of the call may follow at once', () => {
    const { host } = fakeHost();
    const { callbacks, paused } = stage(new Map([[1000, host]]));
    callbacks.take(elicit(7), undefined);
    callbacks.withdraw(7);
    expect(paused).toEqual(['pause 1000', 'resume 1000']);
  });

  it('EXEC-5 says whether a call waits for a person: not for roots, and not where another call may have asked', () => {
    const { host } = fakeHost();
    const alone = stage(new Map([[1000, host]])).callbacks;
    expect(alone.waitsFor(1000)).toBe(false);
    alone.take({ id: 1, method: 'roots/list' }, undefined);
    expect(alone.waitsFor(1000)).toBe(false);
    alone.take(elicit(2), 1000);
    expect(alone.waitsFor(1000)).toBe(true);
    expect(alone.waitsFor(1001)).toBe(false);
    const several = new Map([
      [1000, host],
      [1001, host],
    ]);
    const { callbacks } = stage(several);
    callbacks.take(elicit(1), undefined);
    expect(callbacks.waitsFor(1000)).toBe(false);
    callbacks.take(elicit(2), 1001);
    expect(callbacks.waitsFor(1001)).toBe(true);
  });

  it('S8 a flood, and an id that is in use, are refused', () => {
    const { host, asked } = fakeHost();
    const { callbacks, sent } = stage(new Map([[1000, host]]));
    for (let id = 0; id < 40; id++) callbacks.take(elicit(id), undefined);
    callbacks.take(elicit(3), undefined);
    expect(asked).toHaveLength(32);
    expect(sent).toHaveLength(9);
    expect(sent.every(({ error }) => error !== undefined)).toBe(true);
  });

  it('S8 answers the server with an error after ten minutes without an answer', async () => {
    const { host, asked } = fakeHost();
    const { callbacks, sent, clock } = stage(new Map([[1000, host]]));
    callbacks.take(elicit(1), undefined);
    await clock.advance(600_000);
    expect(asked[0]?.aborted).toBe(true);
    expect(sent).toMatchObject([{ id: 1, error: { code: -32_603 } }]);
  });
});
