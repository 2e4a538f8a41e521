import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { stdioServer } from '../../test/support/test-server.js';
import { testTool } from '../../test/support/test-tool.js';
import type { ToolscoutError } from '../kernel/errors.js';
import { silentLog } from '../kernel/log.js';
import type { Call } from '../model/call.js';
import { ConfirmConfig } from '../model/confirm-config.js';
import type { ConfirmRule } from '../model/pending-call.js';
import { SCOPES } from '../model/principal.js';
import { createMemoryStore } from '../store/index.js';
import { createConfirmer, type Confirmer, type ConfirmerDeps } from './confirmer.js';
import type { ConfirmSubject } from './subject.js';

type Webhook = ConfirmerDeps['webhook'];

function bench(webhook?: Webhook, deps: Partial<ConfirmerDeps> = {}) {
  const clock = createFakeClock();
  const store = createMemoryStore({ clock });
  const config = { ...ConfirmConfig.parse({}), ...(webhook && { webhook: 'https://hook.test/' }) };
  const confirmer = createConfirmer({
    store,
    clock,
    log: silentLog,
    config: () => config,
    redact: (value) => value,
    selects: () => true,
    note: async () => {},
    webhook: webhook ?? (async () => undefined),
    ...deps,
  });
  return { clock, store, confirmer };
}

function subject(ask: ConfirmRule['ask'] = true, call: Partial<Call> = {}): ConfirmSubject {
  const viewer = { principal: 'ann', scopes: new Set(SCOPES), isLimited: false, sees: () => true };
  const plain = { server: 'notes', tool: 'drop', arguments: { id: 7 }, principal: 'ann', route: 'mcp' as const };
  return {
    call: { ...plain, viewer, ...call },
    server: stdioServer('notes', { command: 'x' }),
    tool: testTool('notes', 'drop', { hash: 'h1', confirm: { ask, reason: 'rule 1' } }),
  };
}

/** What a call is refused with. */
const refusalOf = (confirmer: Confirmer, asked: ConfirmSubject): Promise<ToolscoutError> =>
  confirmer.clear(asked).then(
    () => Promise.reject(new Error('It was not refused.')),
    (thrown: ToolscoutError) => thrown,
  );

describe('a call that is not confirmed', () => {
  it('SEC-11 waits with its request, how long that is good, and when to look again; nothing was sent', async () => {
    const { confirmer, clock } = bench();
    const first = await refusalOf(confirmer, subject());
    const [waiting] = await confirmer.pending.list();
    expect(first).toMatchObject({
      code: 'CONFIRMATION_REQUIRED',
      message: `"notes:drop" was not called yet: it needs a person's confirmation (rule 1). The pending call ${waiting!.id} expires in 15 minutes.`,
      remedy: { kind: 'confirm-call', id: waiting!.id },
      retryAfterMs: 10_000,
      delivered: false,
    });
    await clock.advance(15 * 60_000 - 4000);
    expect(await refusalOf(confirmer, subject())).toMatchObject({ retryAfterMs: 4000 });
  });

  it.each([
    ['notes were kept elsewhere', 'bo rejected it: notes were kept elsewhere'],
    [undefined, 'bo rejected it'],
  ])('SEC-11 EXEC-3 is refused by who rejected it, for their reason: %s', async (reason, why) => {
    const { confirmer } = bench(async () => ({ verdict: 'rejected', by: 'bo', ...(reason && { reason }) }));
    expect(await refusalOf(confirmer, subject())).toMatchObject({
      code: 'CONFIRMATION_REJECTED',
      message: `"notes:drop" was not called, because ${why}.`,
      delivered: false,
    });
  });

  it('SEC-11 is told that it was cancelled before anything was sent', async () => {
    const { confirmer } = bench();
    const host: Call['host'] = {
      id: 'h',
      era: 'legacy',
      capabilities: { elicitation: {} },
      request: async () => Promise.reject(new Error('gone')),
      notify: () => undefined,
    };
    const signal = AbortSignal.abort(new Error('gone'));
    expect(await refusalOf(confirmer, subject(true, { host, signal }))).toMatchObject({
      code: 'CANCELLED',
      delivered: false,
    });
  });

  it('SEC-11 a call with an unknown pass is refused and not sent', async () => {
    const { confirmer } = bench();
    const resumed = { requestState: `confirm.${'A'.repeat(43)}` };
    expect(await refusalOf(confirmer, subject(true, { resumed }))).toMatchObject({
      code: 'CONFIRMATION_REQUIRED',
      delivered: false,
    });
  });
});

describe('a confirmation for all calls of a tool', () => {
  const approved: Webhook = async () => ({ verdict: 'approved', by: 'bo' });

  it('SEC-11 does not hold where the rule asks every time now', async () => {
    let isAsked = 0;
    const { confirmer } = bench(async (...given) => ((isAsked += 1), approved(...given)));
    const other = { arguments: { id: 8 } };
    await confirmer.clear(subject('once'));
    await confirmer.clear(subject('once', other));
    expect(isAsked).toBe(1);
    await confirmer.clear(subject(true, other));
    expect(isAsked).toBe(2);
  });

  it('SEC-11 is not left behind by a rule that asks every time', async () => {
    let isAsked = 0;
    const { confirmer } = bench(async (...given) => ((isAsked += 1), approved(...given)));
    await confirmer.clear(subject(true));
    await confirmer.clear(subject('once', { arguments: { id: 8 } }));
    expect(isAsked).toBe(2);
  });

  it('SEC-11 R11 does not hold when it comes from a time that is still ahead', async () => {
    const { confirmer, store, clock } = bench(approved);
    await confirmer.clear(subject('once'));
    let isAsked = false;
    const before = { ...clock, now: () => clock.now() - 7 * 86_400_000 };
    const { confirmer: earlier } = bench(async (...given) => ((isAsked = true), approved(...given)), {
      store,
      clock: before,
    });
    await earlier.clear(subject('once', { arguments: { id: 8 } })).catch(() => undefined);
    expect(isAsked).toBe(true);
  });
});
