import { describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.js';
import { stdioServer } from '../../test/support/test-server.js';
import { testTool } from '../../test/support/test-tool.js';
import { Canceller } from '../kernel/async/cancel.js';
import { ToolscoutError } from '../kernel/errors.js';
import type { JsonObject } from '../kernel/json.js';
import { silentLog } from '../kernel/log.js';
import type { Call, Progress } from '../model/call.js';
import { ConfirmConfig } from '../model/confirm-config.js';
import type { Host } from '../model/host.js';
import type { ConfirmRule } from '../model/pending-call.js';
import { SCOPES } from '../model/principal.js';
import type { Store } from '../model/store.js';
import type { Tool } from '../model/tool.js';
import { createMemoryStore } from '../store/index.js';
import { createConfirmer, type Clearance, type ConfirmNote, type ConfirmerDeps } from './confirmer.js';
import type { ConfirmSubject } from './subject.js';

const RULE: ConfirmRule = { ask: true, reason: 'rule 1 (pattern "*")' };
const ALLOW: JsonObject = { action: 'accept', content: { decision: 'allow' } };

function toolOf(confirm: ConfirmRule | undefined, hash = 'h1'): Tool {
  return testTool('notes', 'drop', { hash, ...(confirm && { confirm }) });
}

const viewer = (principal: string): Call['viewer'] => ({
  principal,
  scopes: new Set(SCOPES),
  isLimited: false,
  sees: () => true,
});

function hostOf(era: Host['era'], request: Host['request'], capabilities: JsonObject = { elicitation: {} }): Host {
  return { id: 'h', era, capabilities, request, notify: () => undefined };
}

interface Bench {
  readonly clock: FakeClock;
  readonly store: Store;
  readonly notes: ConfirmNote[];
  readonly confirmer: ReturnType<typeof createConfirmer>;
  subject(call?: Partial<Call>, tool?: Tool): ConfirmSubject;
  /** The code that a call ends with, or what it may do. */
  outcome(subject: ConfirmSubject): Promise<string>;
}

function bench(deps: Partial<ConfirmerDeps> & { readonly written?: JsonObject } = {}): Bench {
  const clock = createFakeClock();
  const store = deps.store ?? createMemoryStore({ clock });
  const notes: ConfirmNote[] = [];
  const config = { ...ConfirmConfig.parse({}), ...deps.written };
  const confirmer = createConfirmer({
    store,
    clock,
    log: silentLog,
    config: () => config,
    redact: (value) => value,
    selects: () => true,
    note: async (note) => void notes.push(note),
    webhook: async () => undefined,
    ...deps,
  });
  return {
    clock,
    store,
    notes,
    confirmer,
    subject: (call = {}, tool = toolOf(RULE)) => ({
      call: {
        server: 'notes',
        tool: 'drop',
        arguments: { id: 7 },
        viewer: viewer('ann'),
        principal: 'ann',
        route: 'mcp',
        ...call,
      },
      server: stdioServer('notes', { command: 'x' }),
      tool,
    }),
    outcome: (subject) =>
      confirmer.clear(subject).then(
        (cleared) => ('question' in cleared ? 'asks' : 'sent'),
        (thrown: unknown) => (thrown instanceof ToolscoutError ? thrown.code : String(thrown)),
      ),
  };
}

/** The question that a modern host is handed. */
function questionIn(cleared: Clearance): { state: string; key: string; params: JsonObject } {
  if (!('question' in cleared)) throw new Error('Nothing was asked.');
  const [[key, request]] = Object.entries(cleared.question['inputRequests'] as JsonObject) as [[string, JsonObject]];
  return { key, state: String(cleared.question['requestState']), params: request['params'] as JsonObject };
}

describe('which calls need a confirmation', () => {
  it('SEC-11 true and once always ask; an expression asks where it selects, and where it cannot be judged', () => {
    const judged: unknown[] = [];
    const { confirmer, subject } = bench({
      selects(expression, args) {
        judged.push([expression, args]);
        if (expression === 'broken') throw new Error('no number');
        return expression === 'yes';
      },
    });
    const needs = (ask: ConfirmRule['ask'] | undefined): boolean =>
      confirmer.needed(subject({}, toolOf(ask && { ask, reason: 'r' })));
    expect([undefined, true as const, 'once' as const].map(needs)).toEqual([false, true, true]);
    expect(['yes', 'no', 'broken'].map((when) => needs({ when }))).toEqual([true, false, true]);
    expect(judged).toHaveLength(3);
    expect(judged[0]).toEqual(['yes', { id: 7 }]);
  });
});

describe('hosts of the 2025 era', () => {
  it('SEC-11 only an accepted form that says allow is a confirmation; anything else leaves the call pending', async () => {
    const cases: Array<[JsonObject, string]> = [
      [ALLOW, 'sent'],
      [{ action: 'accept', content: { decision: 'reject' } }, 'CONFIRMATION_REJECTED'],
      [{ action: 'accept', content: {} }, 'CONFIRMATION_REJECTED'],
      [{ action: 'accept' }, 'CONFIRMATION_REJECTED'],
      [{ action: 'accept', content: { decision: true } }, 'CONFIRMATION_REJECTED'],
      [{ action: 'decline', content: { decision: 'allow' } }, 'CONFIRMATION_REJECTED'],
      [{ action: 'cancel', content: { decision: 'allow' } }, 'CONFIRMATION_REQUIRED'],
      [{ decision: 'allow' }, 'CONFIRMATION_REQUIRED'],
    ];
    for (const [answer, outcome] of cases) {
      const here = bench();
      const host = hostOf('legacy', async () => answer);
      expect([answer, await here.outcome(here.subject({ host }))]).toEqual([answer, outcome]);
    }
  });

  it('SEC-11 the agent gets progress while the call waits; a host that fails or is silent leaves it pending, a cancelled call ends', async () => {
    const here = bench();
    const failing = hostOf('legacy', async () => Promise.reject(new Error('no window')));
    expect(await here.outcome(here.subject({ host: failing }))).toBe('CONFIRMATION_REQUIRED');
    const told: Progress[] = [];
    const silent = hostOf(
      'legacy',
      (_method, _params, options) =>
        new Promise((_resolve, reject) =>
          options!.signal!.addEventListener('abort', () => reject(options!.signal!.reason as Error)),
        ),
    );
    const waiting = here.outcome(
      here.subject({ host: silent, arguments: { id: 8 }, onProgress: (step) => told.push(step) }),
    );
    await here.clock.advance(901_000);
    expect(await waiting).toBe('CONFIRMATION_REQUIRED');
    // Neither the limit nor the progress goes on once the question is over.
    expect(here.clock.waiting).toBe(0);
    expect(told.length).toBeGreaterThan(80);
    expect(told[0]).toEqual({ progress: 0, message: "Waits for the user's confirmation, at most 15 minutes." });
    const cancel = new Canceller();
    const ended = here.outcome(here.subject({ host: silent, signal: cancel }));
    await here.clock.advance(1);
    cancel.abort(new Error('gone'));
    expect(await ended).toBe('CANCELLED');
    const before = new Canceller();
    before.abort(new Error('gone before'));
    expect(await here.outcome(here.subject({ host: failing, signal: before }))).toBe('CANCELLED');
  });

  it('SEC-11 EXEC-5 tells when the host or the webhook is asked, and nothing where a call is only put among the pending ones', async () => {
    const told: string[] = [];
    const here = bench();
    const onAsking = (isOpen: boolean): void => void told.push(isOpen ? 'open' : 'over');
    const host = (answer: JsonObject): Host =>
      hostOf('legacy', async () => {
        told.push('asked');
        return answer;
      });
    await here.confirmer.clear(here.subject({ host: host(ALLOW) }), onAsking);
    const no = here.confirmer.clear(here.subject({ host: host({ action: 'decline' }) }), onAsking);
    await expect(no).rejects.toMatchObject({ code: 'CONFIRMATION_REJECTED' });
    expect(told.splice(0)).toEqual(['open', 'asked', 'over', 'open', 'asked', 'over']);
    await expect(here.confirmer.clear(here.subject(), onAsking)).rejects.toMatchObject({
      code: 'CONFIRMATION_REQUIRED',
    });
    expect(told.splice(0)).toEqual([]);
    const hooked = bench({
      written: { webhook: { url: 'https://hook.test' } },
      async webhook() {
        told.push('asked');
        return { verdict: 'approved', by: 'bo' };
      },
    });
    await hooked.confirmer.clear(hooked.subject(), onAsking);
    expect(told).toEqual(['open', 'asked', 'over']);
  });

  it('SEC-11 does not ask hosts that cannot ask their user, nor where the config disables it', async () => {
    const host = (capabilities: JsonObject): Host =>
      hostOf('legacy', async () => Promise.reject(new Error('asked')), capabilities);
    for (const capabilities of [{}, { elicitation: { url: {} } }, { sampling: {} }]) {
      const here = bench();
      expect(await here.outcome(here.subject({ host: host(capabilities) }))).toBe('CONFIRMATION_REQUIRED');
      expect(here.notes.map(({ decision }) => decision)).toEqual(['asked']);
    }
    const here = bench({ written: { elicit: false } });
    expect(await here.outcome(here.subject({ host: host({ elicitation: {} }) }))).toBe('CONFIRMATION_REQUIRED');
    expect(here.notes.map(({ via }) => via)).toEqual(['operator']);
  });

  it('SEC-11 the question shows the arguments without what hides text, bounded, and what is not shown', async () => {
    const here = bench();
    const asked: JsonObject[] = [];
    const host = hostOf('legacy', async (_method, params) => {
      asked.push(params!);
      return ALLOW;
    });
    const hidden = '\u202egnp.exe\u200b\u001b[2J';
    await here.outcome(here.subject({ host, arguments: { name: hidden, text: 'x'.repeat(10_000) } }));
    const message = String(asked[0]!['message']);
    expect(message).not.toContain('\u202e');
    expect(message).toContain('\\u202egnp.exe\\u200b');
    expect(message).toMatch(/more characters are not shown\)$/);
    expect(message.length).toBeLessThan(4500);
    expect(asked[0]!['requestedSchema']).toMatchObject({ required: ['decision'] });
  });
});

describe('hosts of the 2026 era', () => {
  const modern = hostOf('modern', async () => Promise.reject(new Error('never asked directly')));

  it('SEC-11 are handed the question, and answer it once by calling again; the server sees nothing of it', async () => {
    const here = bench();
    const { state, key, params } = questionIn(await here.confirmer.clear(here.subject({ host: modern })));
    expect(params['message']).toContain('Arguments: {"id":7}');
    const resumed = { requestState: state, inputResponses: { [key]: ALLOW } };
    const cleared = await here.confirmer.clear(here.subject({ host: modern, resumed }));
    expect('call' in cleared && cleared.call.resumed).toBeUndefined();
    // Replayed, it opens nothing.
    expect(await here.outcome(here.subject({ host: modern, resumed }))).toBe('CONFIRMATION_REQUIRED');
    expect(here.notes.map(({ decision, via }) => [decision, via])).toEqual([['approved', 'host']]);
  });

  it('SEC-11 an answer holds for no other arguments, caller, definition, key or time', async () => {
    const ask = async (): Promise<Bench & { resumed: NonNullable<Call['resumed']>; key: string }> => {
      const here = bench();
      const { state, key } = questionIn(await here.confirmer.clear(here.subject({ host: modern })));
      return { ...here, key, resumed: { requestState: state, inputResponses: { [key]: ALLOW } } };
    };
    const others: Array<(here: Awaited<ReturnType<typeof ask>>) => ConfirmSubject | Promise<ConfirmSubject>> = [
      ({ subject, resumed }) => subject({ host: modern, resumed, arguments: { id: 8 } }),
      ({ subject, resumed }) => subject({ host: modern, resumed, viewer: viewer('eve') }),
      ({ subject, resumed }) =>
        subject({
          host: modern,
          resumed,
          viewer: { ...viewer('ann'), skill: { id: 'watch', caller: viewer('ann') } },
        }),
      ({ subject, resumed }) => subject({ host: modern, resumed }, toolOf(RULE, 'h2')),
      ({ subject, resumed }) =>
        subject({ host: modern, resumed: { ...resumed, requestState: `${resumed.requestState}.x` } }),
      ({ subject, resumed }) =>
        subject({ host: modern, resumed: { ...resumed, requestState: `${resumed.requestState}x` } }),
      ({ subject, resumed }) =>
        subject({ host: modern, resumed: { ...resumed, requestState: `confirm.${'0'.repeat(32)}` } }),
      ({ subject, resumed }) => subject({ host: modern, resumed: { requestState: resumed.requestState! } }),
      ({ subject, resumed }) => subject({ host: modern, resumed: { ...resumed, inputResponses: { other: ALLOW } } }),
      async ({ subject, resumed, clock }) => {
        await clock.advance(900_000);
        return subject({ host: modern, resumed });
      },
    ];
    for (const [index, other] of others.entries()) {
      const here = await ask();
      expect([index, await here.outcome(await other(here))]).toEqual([index, 'CONFIRMATION_REQUIRED']);
    }
  });

  it('SEC-11 an answer without a question asks; a foreign state leaves the call pending', async () => {
    const here = bench();
    const unasked = { inputResponses: { 'toolscout-confirm': ALLOW } };
    expect(await here.outcome(here.subject({ host: modern, resumed: unasked }))).toBe('asks');
    const foreign = { requestState: 'state of a server', inputResponses: { 'toolscout-confirm': ALLOW } };
    expect(await here.outcome(here.subject({ host: modern, resumed: foreign }))).toBe('CONFIRMATION_REQUIRED');
  });

  it('SEC-11 a server that asks in rounds is answered without another yes, and each pass is good once', async () => {
    const here = bench();
    const { state, key } = questionIn(await here.confirmer.clear(here.subject({ host: modern })));
    const yes = { requestState: state, inputResponses: { [key]: ALLOW } };
    const cleared = await here.confirmer.clear(here.subject({ host: modern, resumed: yes }));
    if (!('call' in cleared)) throw new Error('It was not cleared.');
    expect(await cleared.carry({ content: [] })).toEqual({ content: [] });
    for (const inner of ['the state of the server', undefined]) {
      const asks = { resultType: 'input_required', ...(inner !== undefined && { requestState: inner }) };
      const carried = await cleared.carry(asks);
      const requestState = String(carried['requestState']);
      const inputResponses = { name: { action: 'accept' } };
      const changed = inner === undefined ? `${requestState}.mine` : requestState.replace('server', 'attacker');
      expect(
        await here.outcome(here.subject({ host: modern, resumed: { requestState: changed, inputResponses } })),
      ).toBe('CONFIRMATION_REQUIRED');
      const again = here.subject({ host: modern, resumed: { requestState, inputResponses } });
      const next = await here.confirmer.clear(again);
      expect('call' in next && next.call.resumed).toEqual({
        inputResponses,
        ...(inner !== undefined && { requestState: inner }),
      });
      expect(await here.outcome(again)).toBe('CONFIRMATION_REQUIRED');
    }
    const bare = String((await cleared.carry({ resultType: 'input_required' }))['requestState']);
    const alone = await here.confirmer.clear(here.subject({ host: modern, resumed: { requestState: bare } }));
    expect('call' in alone && alone.call.resumed).toEqual({});
  });

  it('SEC-11 a rule that goes while its question is open lets the call pass, without the pass', async () => {
    const here = bench();
    const { state } = questionIn(await here.confirmer.clear(here.subject({ host: modern })));
    const later = here.subject({ host: modern, resumed: { requestState: state } }, toolOf(undefined));
    expect(here.confirmer.needed(later)).toBe(true);
    const cleared = await here.confirmer.clear(later);
    expect('call' in cleared && cleared.call.resumed).toBeUndefined();
  });

  it('SEC-11 a closed question leaves the call pending; the yes of an administrator then sends it without the pass', async () => {
    const here = bench();
    const { state, key } = questionIn(await here.confirmer.clear(here.subject({ host: modern })));
    const closed = { requestState: state, inputResponses: { [key]: { action: 'cancel' } } };
    expect(await here.outcome(here.subject({ host: modern, resumed: closed }))).toBe('CONFIRMATION_REQUIRED');
    const [waiting] = await here.confirmer.pending.list();
    await here.confirmer.pending.decide(waiting!.id, 'approved', { by: 'bob', at: 1, via: 'operator' });
    // What was decided meanwhile counts; the host is not asked again.
    expect(await here.outcome(here.subject({ host: modern }))).toBe('sent');
  });
});

describe('what changes while a host is asked', () => {
  const modern = hostOf('modern', async () => Promise.reject(new Error('never asked directly')));
  const yes = { action: 'accept', content: { decision: 'allow' } };
  const ruling = { by: 'bob', at: 1, via: 'operator' } as const;
  /** Has the call put among the pending ones by a host that cannot ask, and rejected. */
  const rejectElsewhere = async ({ confirmer, subject, outcome }: Bench): Promise<void> => {
    await outcome(subject());
    const [waiting] = await confirmer.pending.list();
    await confirmer.pending.decide(waiting!.id, 'rejected', ruling);
  };

  it.each([
    ['elicit is turned off', { elicit: false }],
    ['a webhook is to be asked', { webhook: 'https://hook.example' }],
  ])('SEC-11 the answer of a host does not count any more when %s', async (_, change) => {
    const config = { ...ConfirmConfig.parse({}) };
    const here = bench({ config: () => config });
    const { state, key } = questionIn(await here.confirmer.clear(here.subject({ host: modern })));
    const legacy = hostOf('legacy', async () => {
      Object.assign(config, change);
      return yes;
    });
    expect(await here.outcome(here.subject({ host: legacy }))).toBe('CONFIRMATION_REQUIRED');
    const resumed = { requestState: state, inputResponses: { [key]: yes } };
    expect(await here.outcome(here.subject({ host: modern, resumed }))).toBe('CONFIRMATION_REQUIRED');
  });

  it('SEC-11 a rejection by an administrator stands, whatever the host says to a question from before it', async () => {
    const here = bench();
    const { state, key } = questionIn(await here.confirmer.clear(here.subject({ host: modern })));
    await rejectElsewhere(here);
    const resumed = { requestState: state, inputResponses: { [key]: yes } };
    expect(await here.outcome(here.subject({ host: modern, resumed }))).toBe('CONFIRMATION_REJECTED');
    const other = bench();
    const legacy = hostOf('legacy', async () => {
      await rejectElsewhere(other);
      return yes;
    });
    expect(await other.outcome(other.subject({ host: legacy }))).toBe('CONFIRMATION_REJECTED');
  });

  it('SEC-11 a no of the host stands, also when an administrator has said yes meanwhile', async () => {
    const here = bench();
    const legacy = hostOf('legacy', async () => {
      await here.outcome(here.subject());
      const [waiting] = await here.confirmer.pending.list();
      await here.confirmer.pending.decide(waiting!.id, 'approved', ruling);
      return { action: 'decline' };
    });
    expect(await here.outcome(here.subject({ host: legacy }))).toBe('CONFIRMATION_REJECTED');
  });
});

describe('once', () => {
  const once = toolOf({ ask: 'once', reason: 'r' });

  it('SEC-11 a confirmation holds for further calls of the same caller and definition, for 30 days', async () => {
    const here = bench();
    const host = hostOf('legacy', async () => ALLOW);
    const nobody = (call: Partial<Call> = {}, tool = once): Promise<string> =>
      here.outcome(here.subject({ arguments: { other: true }, ...call }, tool));
    expect(await nobody()).toBe('CONFIRMATION_REQUIRED');
    expect(await here.outcome(here.subject({ host }, once))).toBe('sent');
    expect(await nobody()).toBe('sent');
    expect(await nobody({ viewer: viewer('eve') })).toBe('CONFIRMATION_REQUIRED');
    expect(await nobody({}, { ...once, hash: 'h2' })).toBe('CONFIRMATION_REQUIRED');
    await here.clock.advance(30 * 86_400_000);
    expect(await nobody({ arguments: { third: true } })).toBe('CONFIRMATION_REQUIRED');
  });

  it('SEC-11 the question and the pending call tell what a yes covers: this call, or the tool for 30 days', async () => {
    const here = bench();
    const asked: string[] = [];
    const host = hostOf('legacy', async (_method, params) => {
      asked.push(String(params!['message']));
      return ALLOW;
    });
    await here.outcome(here.subject({ host }));
    await here.outcome(here.subject({ host }, once));
    expect(asked[0]).toContain('Allow this one call?');
    expect(asked[0]).not.toContain('Caller:');
    expect(asked[1]).toContain('Allow this caller to call this tool for 30 days, with any arguments?');
    expect(asked[1]).toContain('\nCaller: ann\n');
    const waiting = bench();
    await waiting.outcome(waiting.subject());
    await waiting.outcome(waiting.subject({ arguments: { id: 8 } }, once));
    const scopes = (await waiting.confirmer.pending.list()).map(({ arguments: args, scope }) => [args, scope]);
    expect(scopes).toHaveLength(2);
    expect(scopes).toEqual(
      expect.arrayContaining([
        [{ id: 7 }, 'call'],
        [{ id: 8 }, 'tool'],
      ]),
    );
  });

  it('SEC-11 a yes to one call does not cover the tool when the rule becomes once meanwhile', async () => {
    const here = bench();
    await here.outcome(here.subject());
    const [waiting] = await here.confirmer.pending.list();
    await here.confirmer.pending.decide(waiting!.id, 'approved', { by: 'bob', at: 1, via: 'operator' });
    expect(await here.outcome(here.subject({}, once))).toBe('sent');
    expect(await here.outcome(here.subject({ arguments: { id: 8 } }, once))).toBe('CONFIRMATION_REQUIRED');
  });

  it('SEC-11 a yes to a pending call of the tool covers it with any arguments', async () => {
    const here = bench();
    await here.outcome(here.subject({}, once));
    const [waiting] = await here.confirmer.pending.list();
    await here.confirmer.pending.decide(waiting!.id, 'approved', { by: 'bob', at: 1, via: 'operator' });
    expect(await here.outcome(here.subject({}, once))).toBe('sent');
    expect(await here.outcome(here.subject({ arguments: { id: 8 } }, once))).toBe('sent');
  });
});

describe('the webhook', () => {
  const written = { webhook: 'https://x.example/', secret: 's' };

  it('SEC-11 its answer is written down and decides; without one the call is pending and it is not asked again', async () => {
    const asked: string[] = [];
    const answers = [
      { verdict: 'approved', by: 'bot' },
      { verdict: 'rejected', by: 'bot', reason: 'no' },
      undefined,
    ] as const;
    for (const [index, outcome] of ['sent', 'CONFIRMATION_REJECTED', 'CONFIRMATION_REQUIRED'].entries()) {
      const here = bench({
        written,
        webhook: async ({ id }) => {
          asked.push(id);
          return answers[index];
        },
      });
      // A host that could be asked is not.
      const host = hostOf('legacy', async () => Promise.reject(new Error('asked')));
      expect(await here.outcome(here.subject({ host }))).toBe(outcome);
      if (outcome !== 'sent') expect(await here.outcome(here.subject({ host }))).toBe(outcome);
      expect(asked).toHaveLength(index + 1);
      const answer = answers[index];
      const { verdict: decision, ...rest } = answer ?? { verdict: undefined };
      const byWebhook = here.notes.filter((note) => 'via' in note && note.via === 'webhook');
      expect(byWebhook).toMatchObject(answer ? [{ decision, ...rest, via: 'webhook', id: asked[index]! }] : []);
      if (index === 0) expect(byWebhook[0]).not.toHaveProperty('reason');
    }
  });

  it('SEC-11 the decision of a person who was faster than the webhook stands', async () => {
    const here = bench({
      written,
      webhook: async ({ id }) => {
        await here.confirmer.pending.decide(id, 'rejected', { by: 'bob', at: 1, via: 'operator' });
        return { verdict: 'approved', by: 'bot' };
      },
    });
    expect(await here.outcome(here.subject())).toBe('CONFIRMATION_REJECTED');
  });
});
