import type { Cancel } from '../kernel/async/cancel.js';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { stdioServer } from '../../test/support/test-server.js';
import { testTool } from '../../test/support/test-tool.js';
import type { Clock } from '../kernel/clock.js';
import { estimateTokens } from '../kernel/tokens.js';
import { ERROR_TABLE, ToolscoutError, type ErrorDetails, type Problem } from '../kernel/errors.js';
import type { JsonObject } from '../kernel/json.js';
import { ownMs } from '../model/audit-record.js';
import type { Call, CallResult } from '../model/call.js';
import { RetryConfig } from '../model/config.js';
import type { Tool } from '../model/tool.js';
import type { Upstream, UpstreamRequest } from '../model/upstream.js';
import type { Check } from './checks.js';
import { createExecutor } from './execute.js';
import type { ExecutionEntry, ExecutorDeps } from './executor.js';
import { streamCall } from './stream.js';
import { createCaller, type UseConnection } from '../connect/pool/call.js';

const server = stdioServer(
  'fs',
  { command: 'true' },
  { timeoutMs: 30_000, toolTimeoutsMs: { slow: 90_000 }, retry: RetryConfig.parse({}) },
);

const tool = (definition: JsonObject = {}): Tool =>
  testTool('fs', 'read', { definition: { name: 'read', ...definition } });

const call = (overrides: Partial<Call> = {}): Call => ({
  server: 'fs',
  tool: 'read',
  arguments: { path: '/a' },
  viewer: { principal: 'local', scopes: new Set(), isLimited: false, sees: () => true },
  principal: 'local',
  route: 'mcp',
  ...overrides,
});

interface Sent {
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly options: UpstreamRequest | undefined;
}

interface StageOptions extends Partial<ExecutorDeps> {
  readonly tool?: Tool;
  readonly problems?: Problem[];
  readonly answers?: ReadonlyArray<JsonObject | Error>;
  readonly limit?: () => Promise<number> | undefined;
  readonly use?: UseConnection;
}

/** An executor and the way to a server over fakes at their ports; `steps` says in which order they were met. */
function setUp(options: StageOptions = {}) {
  const { tool: known = tool(), problems = [], answers = [], limit, use, ...overrides } = options;
  const steps: string[] = [];
  const sent: Sent[] = [];
  const records: ExecutionEntry[] = [];
  const clock = options.clock ?? createFakeClock();
  const step =
    (name: string): Check =>
    () =>
      void steps.push(name);
  const upstream = {
    era: 'modern',
    request: async (method: string, params: JsonObject | undefined, request: UpstreamRequest | undefined) => {
      steps.push('call');
      sent.push({ method, params, options: request });
      const answer = answers[sent.length - 1] ?? { content: [] };
      if (answer instanceof Error) throw answer;
      return answer;
    },
  } as unknown as Upstream;
  const waitsEndAtOnce: Clock['after'] = (_ms, task) => {
    steps.push('retry');
    queueMicrotask(task);
    return { cancel() {} };
  };
  const caller = createCaller({
    clock: { ...clock, after: waitsEndAtOnce },
    random: () => 0.5,
    limiter: {
      take: () => {
        if (limit) return limit();
        steps.push('limit');
        return undefined;
      },
      wait: () => Promise.resolve(),
      retain() {},
      close() {},
    },
    use:
      use ??
      (async (_server, task) => {
        steps.push('breaker');
        return task(upstream);
      }),
    isOpen: () => false,
    requireOpen() {},
    hold: () => () => {},
    tellLogLevel: () => undefined,
    changeEra: () => false,
  });
  const executor = createExecutor({
    clock,
    resolve: () => {
      steps.push('identity');
      return { server, tool: known };
    },
    signature: ({ name }) => `${name}()`,
    checks: [step('rule'), step('approval'), step('binding')],
    validate: {
      validate: () => {
        steps.push('arguments');
        return problems;
      },
    },
    send: caller.call,
    record: (entry) => {
      steps.push('audit');
      records.push(entry);
    },
    hide: (text) => text.replaceAll('hunter2', '***'),
    ...overrides,
  });
  return { executor, steps, sent, records, clock };
}

const lost = (details?: ErrorDetails): ToolscoutError => new ToolscoutError('SERVER_CONNECTION_ERROR', 'lost', details);
const refusal = (): never => {
  throw new ToolscoutError('FORBIDDEN', 'no');
};

const timeoutOf = async (name: string, overrides: Partial<Call> = {}): Promise<number | undefined> => {
  const { executor, sent } = setUp({ tool: { ...tool(), name } });
  await executor.execute(call(overrides));
  return sent[0]?.options?.timeoutMs;
};

describe('executor', () => {
  it('META-6 an unanswered roots/list is not blamed for a failed call; an unanswered question to the user is', async () => {
    const result = { isError: true, content: [{ type: 'text', text: 'Access denied' }] };
    const failedAfter = async (...methods: string[]): Promise<CallResult['error']> => {
      const { executor } = setUp({
        send: async (_server, request) => {
          request.onAttempt?.(0);
          for (const method of methods) request.onUnasked?.(method);
          return result;
        },
      });
      return (await executor.execute(call())).error;
    };
    expect(await failedAfter('roots/list')).toMatchObject({
      message: 'Access denied',
      suggestion: ERROR_TABLE.TOOL_EXECUTION_ERROR.suggestion,
    });
    const asked = await failedAfter('elicitation/create', 'roots/list');
    expect(asked?.message).toBe(
      'Access denied (The server asked for elicitation/create, but there is no host to ask.)',
    );
  });

  it('EXEC-2 SEC-11 a confirmation is asked for after validation and before anything is sent; a question and a no send nothing', async () => {
    const cleared = call({ arguments: { path: '/b' } });
    const answers = [
      { question: { resultType: 'input_required' } },
      new ToolscoutError('CONFIRMATION_REJECTED', 'no'),
      new ToolscoutError('CONFIRMATION_REQUIRED', 'pending', { remedy: { kind: 'confirm-call', id: 'call_1' } }),
      new ToolscoutError('CONFIRMATION_REQUIRED', 'given for another call', { suggestion: 'Call again.' }),
      { call: cleared, carry: async (result: JsonObject) => ({ ...result, carried: true }) },
    ];
    const outcomes: unknown[] = [];
    for (const answer of answers) {
      const { executor, steps, sent, records } = setUp({
        confirmation: {
          needed: () => true,
          async clear() {
            steps.push('confirm');
            if (answer instanceof Error) throw answer;
            return answer;
          },
        },
      });
      const { result, error } = await executor.execute(call());
      expect(steps.slice(0, 6)).toEqual(['identity', 'rule', 'approval', 'binding', 'arguments', 'confirm']);
      const [{ outcome, code }] = records as [ExecutionEntry];
      outcomes.push([result, error?.code, sent[0]?.params?.['arguments'], outcome, code]);
    }
    expect(outcomes).toEqual([
      [{ resultType: 'input_required' }, undefined, undefined, 'waiting', 'CONFIRMATION_REQUIRED'],
      [undefined, 'CONFIRMATION_REJECTED', undefined, 'refused', 'CONFIRMATION_REJECTED'],
      [undefined, 'CONFIRMATION_REQUIRED', undefined, 'waiting', 'CONFIRMATION_REQUIRED'],
      [undefined, 'CONFIRMATION_REQUIRED', undefined, 'refused', 'CONFIRMATION_REQUIRED'],
      [{ content: [], carried: true }, undefined, { path: '/b' }, 'success', undefined],
    ]);
  });

  it('EXEC-2 SEC-11 a rule that comes while a call waits to be sent stops it; one that was confirmed goes on', async () => {
    for (const isAskedAtOnce of [false, true]) {
      let isAsking = isAskedAtOnce;
      const { executor, sent } = setUp({
        limit: async () => {
          isAsking = true;
          return 5;
        },
        confirmation: {
          needed: () => isAsking,
          clear: async ({ call: made }) => ({ call: made, carry: async (result) => result }),
        },
      });
      const { error } = await executor.execute(call());
      expect([error?.code, sent.length]).toEqual(isAskedAtOnce ? [undefined, 1] : ['CONFIRMATION_REQUIRED', 0]);
      if (!isAskedAtOnce) expect(error?.message).toMatch(/^The call was not sent: the config changed/);
    }
  });

  it('EXEC-2 SEC-11 A41 what changes while a person is asked is not called with their answer', async () => {
    const changes: ReadonlyArray<readonly [string, () => ReturnType<ExecutorDeps['resolve']>]> = [
      ['CONFIRMATION_REQUIRED', () => ({ server, tool: { ...tool(), hash: 'changed' } })],
      ['CONFIRMATION_REQUIRED', () => ({ server: { ...server, digest: 'changed' }, tool: tool() })],
      [
        'TOOL_NOT_FOUND',
        () => {
          throw new ToolscoutError('TOOL_NOT_FOUND', 'gone');
        },
      ],
    ];
    for (const when of ['asked', 'limited']) {
      for (const [code, changed] of changes) {
        let resolve = (): ReturnType<ExecutorDeps['resolve']> => ({ server, tool: tool() });
        const { executor, sent, records } = setUp({
          resolve: () => resolve(),
          confirmation: {
            needed: () => true,
            async clear({ call: made }) {
              if (when === 'asked') resolve = changed;
              return { call: made, carry: async (result) => result };
            },
          },
          limit: async () => {
            resolve = changed;
            return 5;
          },
        });
        const { error } = await executor.execute(call());
        expect([error?.code, sent.length, records[0]?.outcome]).toEqual([code, 0, 'refused']);
      }
    }
  });

  it('EXEC-2 SEC-11 a tool that is disabled while a person is asked is not called', async () => {
    let isDisabled = false;
    const { executor, sent } = setUp({
      checks: [
        () => {
          if (isDisabled) throw new ToolscoutError('TOOL_DISABLED', 'disabled');
        },
      ],
      confirmation: {
        needed: () => true,
        async clear({ call: made }) {
          isDisabled = true;
          return { call: made, carry: async (result) => result };
        },
      },
    });
    const { error } = await executor.execute(call());
    expect([error?.code, sent.length]).toEqual(['TOOL_DISABLED', 0]);
  });

  it('EXEC-2 NEG-6 arguments are redacted after they were checked, before the limit; results before any caller sees them', async () => {
    const { executor, steps, sent, records } = setUp({
      answers: [{ content: [{ type: 'text', text: 'secret' }], isError: true }],
      outgoing: () => ({
        arguments: (args) => {
          steps.push('outgoing');
          return { ...args, path: '***' };
        },
        meta: (meta) => ({ ...meta, note: '***' }),
        resumed: (resumed) => resumed,
      }),
      incoming: () => ({
        result: (result) => {
          steps.push('incoming');
          return { ...result, content: [{ type: 'text', text: '***' }] };
        },
        text: (text) => text.replaceAll('secret', '***'),
      }),
    });
    const outcome = await executor.execute(call());
    expect(steps).toEqual([
      'identity',
      'rule',
      'approval',
      'binding',
      'arguments',
      'outgoing',
      'limit',
      'breaker',
      'call',
      'incoming',
      'audit',
    ]);
    expect(sent[0]?.params).toMatchObject({ arguments: { path: '***' } });
    expect(JSON.stringify(outcome)).not.toContain('secret');
    // The log redacts by its own rules, and hashes what was given.
    expect(records[0]?.arguments).toEqual({ path: '/a' });
  });

  it('EXEC-2 NEG-6 messages and progress of a server are redacted too; a refusal of ours is not touched', async () => {
    const incoming = () => ({
      result: (result: JsonObject) => result,
      text: (text: string) => text.replaceAll('secret', '***'),
    });
    const failing = setUp({
      incoming,
      answers: [
        new ToolscoutError('TOOL_EXECUTION_ERROR', 'a secret', { upstream: { code: 1, data: { hint: 'secret' } } }),
      ],
    });
    expect(JSON.stringify(await failing.executor.execute(call()))).not.toContain('secret');
    const heard: unknown[] = [];
    const running = setUp({ incoming });
    await running.executor.execute(call({ onProgress: (step) => heard.push(step) }));
    running.sent[0]?.options?.onProgress?.({ progress: 1, message: 'the secret' });
    running.sent[0]?.options?.onProgress?.({ progress: 2 });
    expect(heard).toEqual([{ progress: 1, message: 'the ***' }, { progress: 2 }]);
  });

  it('EXEC-2 identity, rule, approval, binding, arguments, rate limit, breaker, call, audit', async () => {
    const { executor, steps } = setUp();
    await executor.execute(call());
    expect(steps).toEqual([
      'identity',
      'rule',
      'approval',
      'binding',
      'arguments',
      'limit',
      'breaker',
      'call',
      'audit',
    ]);
  });

  it('EXEC-2 nothing is sent when an earlier step refuses, and every refusal is audited', async () => {
    const refusals: Array<[StageOptions, string]> = [
      [{ resolve: refusal }, 'FORBIDDEN'],
      [{ checks: [refusal] }, 'FORBIDDEN'],
      [{ problems: [{ path: '/path', message: 'is required' }] }, 'TOOL_VALIDATION_ERROR'],
      [{ limit: refusal }, 'FORBIDDEN'],
      [{ use: () => Promise.reject(new ToolscoutError('CIRCUIT_OPEN', 'open', { delivered: false })) }, 'CIRCUIT_OPEN'],
    ];
    for (const [options, code] of refusals) {
      const { executor, sent, records } = setUp(options);
      const result = await executor.execute(call());
      expect(result).toMatchObject({ success: false, error: { code, server: 'fs', tool: 'read' } });
      expect(result.result).toBeUndefined();
      expect(sent).toEqual([]);
      expect(records).toMatchObject([{ outcome: 'refused', code }]);
    }
  });

  it('EXEC-2 a refused step ends the walk: later ones are not even asked', async () => {
    const { executor, steps } = setUp({ checks: [refusal] });
    await executor.execute(call());
    expect(steps).toEqual(['identity', 'audit']);
  });

  it('EXEC-1 the answer of the server is passed on untouched', async () => {
    const answer = { content: [{ type: 'text', text: 'x', vendor: 1 }], structuredContent: { a: 1 }, _meta: { m: 1 } };
    const { executor } = setUp({ answers: [answer] });
    const { success, result, error } = await executor.execute(call());
    expect(success).toBe(true);
    expect(result).toBe(answer);
    expect(error).toBeUndefined();
  });

  it.each([true, 'true'])('EXEC-1 isError %j gives both the untouched result and an error', async (isError) => {
    const answer = { isError, content: [{ type: 'text', text: 'no such file' }] };
    const { executor, records } = setUp({ answers: [answer] });
    const { success, result, error } = await executor.execute(call());
    expect(success).toBe(false);
    expect(result).toBe(answer);
    expect(error).toMatchObject({ code: 'TOOL_EXECUTION_ERROR', message: 'no such file' });
    expect(records).toMatchObject([{ outcome: 'failure', code: 'TOOL_EXECUTION_ERROR', message: 'no such file' }]);
  });

  it('EXEC-1 sends name, arguments and _meta, without the progress token of the host', async () => {
    const { executor, sent } = setUp();
    const args = { path: '/a' };
    await executor.execute(call({ arguments: args, meta: { traceparent: '00-1', progressToken: 7 } }));
    await executor.execute(call({ meta: { progressToken: 7 } }));
    expect(sent[0]).toMatchObject({ method: 'tools/call' });
    expect(sent[0]?.params).toEqual({ name: 'read', arguments: args, _meta: { traceparent: '00-1' } });
    expect(sent[0]?.params?.['arguments']).toBe(args);
    expect(sent[1]?.params).not.toHaveProperty('_meta');
  });

  it('EXEC-1 the timeout is that of the call, else of the tool, else of the server', async () => {
    expect(await timeoutOf('slow', { timeoutMs: 5 })).toBe(5);
    expect(await timeoutOf('slow')).toBe(90_000);
    expect(await timeoutOf('read')).toBe(30_000);
    expect(await timeoutOf('constructor')).toBe(30_000);
  });

  it('EXEC-1 progress is always asked for, so that it can extend the timeout', async () => {
    const { executor, sent } = setUp();
    await executor.execute(call());
    expect(sent[0]?.options?.onProgress).toBeTypeOf('function');
  });

  it('EXEC-3 a refusal of the arguments names each problem', async () => {
    const problems = ['a', 'b/0/c', 'd~1e', 'f'].map((name) => ({ path: `/${name}`, message: 'is required' }));
    const { executor } = setUp({ problems });
    const { error } = await executor.execute(call());
    expect(error).toMatchObject({ code: 'TOOL_VALIDATION_ERROR', problems });
    expect(error?.message).toBe(
      'The arguments of "fs:read" are not valid: a is required; b[0].c is required; d/e is required; and 1 more. Signature: read()',
    );
  });

  it('EXEC-3 whatever is thrown becomes a failure, and nothing throws', async () => {
    const { executor, records } = setUp({ answers: [new TypeError('oops')] });
    expect(await executor.execute(call())).toMatchObject({ success: false, error: { code: 'INTERNAL_ERROR' } });
    const preparing = await executor.execute(call(), () => Promise.reject(lost()));
    expect(preparing).toMatchObject({ success: false, error: { code: 'SERVER_CONNECTION_ERROR' } });
    expect(records.map(({ outcome }) => outcome)).toEqual(['failure', 'failure']);
  });

  it('EXEC-2 what must be fetched to know the tool comes before everything', async () => {
    const { executor, steps } = setUp();
    await executor.execute(call(), async () => void steps.push('prepare'));
    expect(steps.slice(0, 2)).toEqual(['prepare', 'identity']);
  });

  it('A33 messages never show a secret', async () => {
    const { executor } = setUp({ answers: [new ToolscoutError('TOOL_EXECUTION_ERROR', 'key hunter2 refused')] });
    const { error } = await executor.execute(call());
    expect(error?.message).toBe('key *** refused');
  });

  it('R5 a call that may have started is not sent twice', async () => {
    for (const details of [{}, { delivered: true }]) {
      const { executor, sent } = setUp({ answers: [lost(details)] });
      await executor.execute(call());
      expect(sent).toHaveLength(1);
    }
  });

  it('CONN-7 a call that surely did not start is tried again, and pays for every attempt', async () => {
    const { executor, sent, steps } = setUp({ answers: [lost({ delivered: false }), lost({ delivered: false })] });
    expect(await executor.execute(call())).toMatchObject({ success: true });
    expect(sent).toHaveLength(3);
    expect(steps.filter((step) => step === 'limit')).toHaveLength(3);
    expect(steps.filter((step) => step === 'arguments')).toHaveLength(1);
  });

  it('CONN-7 a tool marked read-only or idempotent is tried again after a passing trouble', async () => {
    const late = (): ToolscoutError => new ToolscoutError('RATE_LIMITED', 'the server is busy');
    for (const annotations of [{ readOnlyHint: true }, { idempotentHint: true }]) {
      const { executor, sent } = setUp({ tool: tool({ annotations }), answers: [late()] });
      expect(await executor.execute(call())).toMatchObject({ success: true });
      expect(sent).toHaveLength(2);
    }
    const { executor, sent } = setUp({ tool: tool({ annotations: { readOnlyHint: 'yes' } }), answers: [late()] });
    expect(await executor.execute(call())).toMatchObject({ success: false });
    expect(sent).toHaveLength(1);
  });

  it('EXEC-1 CONN-7 the time limit of a caller is not multiplied by retries', async () => {
    const late = (): ToolscoutError => new ToolscoutError('TOOL_EXECUTION_TIMEOUT', 'The server did not answer.');
    const readOnly = tool({ annotations: { readOnlyHint: true } });
    const chosen = setUp({ tool: readOnly, answers: [late(), late()] });
    expect(await chosen.executor.execute(call({ timeoutMs: 300 }))).toMatchObject({
      error: { code: 'TOOL_EXECUTION_TIMEOUT', message: 'The server did not answer.' },
    });
    expect(chosen.sent).toHaveLength(1);
    const refused = setUp({ tool: readOnly, answers: [lost({ delivered: false })] });
    expect(await refused.executor.execute(call({ timeoutMs: 300 }))).toMatchObject({ success: true });
    expect(refused.sent).toHaveLength(2);
  });

  it('EXEC-1 CONN-7 a call that failed again and again says how often it was tried, and for how long', async () => {
    const late = (): ToolscoutError => new ToolscoutError('TOOL_EXECUTION_TIMEOUT', 'The server did not answer.');
    const clock = createFakeClock();
    const { executor, sent } = setUp({
      clock,
      tool: tool({ annotations: { readOnlyHint: true } }),
      answers: [late(), late(), late(), late()],
      use: async (_server, task) => {
        await clock.advance(2350);
        return task({
          era: 'legacy',
          request: async () => {
            sent.push({ method: 'tools/call', params: undefined, options: undefined });
            throw late();
          },
        } as unknown as Upstream);
      },
    });
    expect((await executor.execute(call())).error?.message).toBe('The server did not answer. (tried 4 times in 9.4 s)');
    expect(sent).toHaveLength(4);
  });

  it.each([502, 503, 504])(
    'CONN-7 a tool that may be repeated is tried again when its server refuses with HTTP %i, another is not',
    async (status) => {
      const refusal = { status };
      const { executor, sent } = setUp({
        tool: tool({ annotations: { idempotentHint: true } }),
        answers: [lost({ refusal }), lost({ refusal })],
      });
      expect(await executor.execute(call())).toMatchObject({ success: true });
      expect(sent).toHaveLength(3);
      const once = setUp({ answers: [lost({ refusal })] });
      expect(await once.executor.execute(call())).toMatchObject({ error: { code: 'SERVER_CONNECTION_ERROR' } });
      expect(once.sent).toHaveLength(1);
    },
  );

  it('EXEC-4 a connection lost in the middle ends the call at once, even of a read-only tool', async () => {
    const { executor, sent } = setUp({ tool: tool({ annotations: { readOnlyHint: true } }), answers: [lost()] });
    expect(await executor.execute(call())).toMatchObject({ error: { code: 'SERVER_CONNECTION_ERROR' } });
    expect(sent).toHaveLength(1);
  });
  it('CONN-7 what time does not heal is not tried again, even when nothing was sent', async () => {
    const refused = new ToolscoutError('AUTHENTICATION_FAILED', 'no', { delivered: false });
    const { executor, sent } = setUp({ tool: tool({ annotations: { readOnlyHint: true } }), answers: [refused] });
    await executor.execute(call());
    expect(sent).toHaveLength(1);
  });

  it('CONN-7 a retry that meets the rate limit waits for its turn, and the wait is recorded', async () => {
    let tokens = 0;
    const { executor, sent, steps, records } = setUp({
      answers: [lost({ delivered: false })],
      limit: () => (++tokens === 2 ? Promise.resolve(250) : undefined),
    });
    expect(await executor.execute(call())).toMatchObject({ success: true });
    expect(sent).toHaveLength(2);
    expect(steps.filter((step) => step === 'retry')).toHaveLength(1);
    expect(records).toMatchObject([{ outcome: 'success', waitedMs: 250 }]);
  });

  it('CONN-7 EXEC-2 a retry whose turn would come too late is refused', async () => {
    let tokens = 0;
    const { executor, sent } = setUp({
      answers: [lost({ delivered: false })],
      limit: () => {
        if (++tokens === 2) throw new ToolscoutError('RATE_LIMITED', 'wait', { delivered: false, retryAfterMs: 9 });
        return undefined;
      },
    });
    expect(await executor.execute(call())).toMatchObject({ error: { code: 'RATE_LIMITED', retryAfterMs: 9 } });
    expect(sent).toHaveLength(1);
  });

  it('EXEC-2 SEC-9 what was forbidden while a call waited for the rate limit is refused and not sent', async () => {
    let isAllowed = true;
    const { executor, sent, records } = setUp({
      limit: async () => {
        isAllowed = false;
        return 100;
      },
      checks: [
        () => {
          if (!isAllowed) throw new ToolscoutError('TOOL_DISABLED', 'no longer', { delivered: false });
        },
      ],
    });
    expect(await executor.execute(call())).toMatchObject({ error: { code: 'TOOL_DISABLED' } });
    expect(sent).toEqual([]);
    expect(records).toMatchObject([{ outcome: 'refused', waitedMs: 100 }]);
  });

  it('EXEC-5 SEC-11 the time in which a person is asked is told apart from the rest of a call', async () => {
    const clock = createFakeClock();
    const { executor, records } = setUp({
      clock,
      confirmation: {
        needed: () => true,
        async clear({ call: made }, onAsking) {
          onAsking(true);
          await clock.advance(40_000);
          onAsking(false);
          return { call: made, carry: async (result) => result };
        },
      },
      async send(_server, request) {
        await clock.advance(100);
        request.onAsking?.(true);
        request.onAsking?.(true);
        await clock.advance(5000);
        request.onAsking?.(false);
        await clock.advance(20);
        return { content: [] };
      },
    });
    expect(await executor.execute(call())).toMatchObject({ success: true, askedMs: 45_000 });
    expect(records).toMatchObject([{ outcome: 'success', latencyMs: 45_120, askedMs: 45_000 }]);
    expect(ownMs(records[0]!)).toBe(120);
  });

  it('EXEC-5 time in which the tool works although a question is open is its own', async () => {
    const clock = createFakeClock();
    const run = async (isAnswered: boolean) => {
      const { executor, records } = setUp({
        clock,
        async send(_server, request) {
          request.onAsking?.(true);
          await clock.advance(9000);
          request.onAsking?.(true, true);
          await clock.advance(300);
          request.onAsking?.(false, !isAnswered);
          return { content: [] };
        },
      });
      await executor.execute(call());
      return records[0]!;
    };
    expect(await run(true)).toMatchObject({ latencyMs: 9300, askedMs: 300 });
    const unanswered = await run(false);
    expect(unanswered).toMatchObject({ latencyMs: 9300 });
    expect(unanswered.askedMs).toBeUndefined();
  });

  it('EXEC-5 the time until the server is reached is told, and nothing where the connection is there', async () => {
    const clock = createFakeClock();
    const upstream = { era: 'legacy', request: async () => ({ content: [] }) } as unknown as Upstream;
    const reach = async (waitMs: number): Promise<number | undefined> => {
      const { executor, records } = setUp({
        clock,
        async use(_server, task) {
          await clock.advance(waitMs);
          return task(upstream);
        },
      });
      await executor.execute(call());
      expect(records[0]!.latencyMs).toBe(waitMs);
      return records[0]!.connectMs;
    };
    expect([await reach(1200), await reach(0)]).toEqual([1200, undefined]);
    const failing = setUp({
      clock,
      async use() {
        await clock.advance(50);
        throw new ToolscoutError('CANCELLED', 'gone');
      },
    });
    await failing.executor.execute(call());
    expect(failing.records).toMatchObject([{ latencyMs: 50, connectMs: 50 }]);
  });

  it('EXEC-5 a call that ends while its question is open was asked until then; one without a question has no such time', async () => {
    const clock = createFakeClock();
    const { executor, records } = setUp({
      clock,
      async send(_server, request) {
        await clock.advance(10);
        request.onAsking?.(true);
        await clock.advance(700);
        throw new ToolscoutError('CANCELLED', 'gone');
      },
    });
    await executor.execute(call());
    expect(records).toMatchObject([{ code: 'CANCELLED', latencyMs: 710, askedMs: 700 }]);
    const plain = setUp();
    await plain.executor.execute(call());
    expect(plain.records[0]!.askedMs).toBeUndefined();
  });

  it('EXEC-1 a call that was cancelled before it was sent, is not sent', async () => {
    const { executor, sent, records } = setUp();
    const result = await executor.execute(call({ signal: AbortSignal.abort() }));
    expect(result).toMatchObject({ success: false, error: { code: 'CANCELLED' } });
    expect(sent).toEqual([]);
    expect(records).toMatchObject([{ outcome: 'failure', code: 'CANCELLED' }]);
  });

  it('EXEC-1 a call that was cancelled while its server was connected, is not sent', async () => {
    const controller = new AbortController();
    let handed: Cancel | undefined;
    const { executor, steps } = setUp({
      use: async (_server, task, signal) => {
        handed = signal;
        controller.abort();
        return task({ era: 'legacy', request: refusal } as unknown as Upstream);
      },
    });
    const result = await executor.execute(call({ signal: controller.signal }));
    expect(result).toMatchObject({ error: { code: 'CANCELLED' } });
    expect(handed).toBe(controller.signal);
    expect(steps).not.toContain('call');
  });

  it('EXEC-1 a call that is cancelled while its server is learned ends at once, whatever becomes of the learning', async () => {
    const controller = new AbortController();
    const { executor, steps, records } = setUp();
    let fail = (_error: Error): void => {};
    const learning = new Promise<void>((_resolve, reject) => (fail = reject));
    const running = executor.execute(call({ signal: controller.signal }), () => learning);
    controller.abort('left');
    expect(await running).toMatchObject({ success: false, error: { code: 'CANCELLED' } });
    fail(new Error('nobody hears this'));
    expect(steps).toEqual(['audit']);
    expect(records).toMatchObject([{ outcome: 'failure', code: 'CANCELLED' }]);
  });

  it('EXEC-1 a wait that ends with the reason of the signal is a cancelled call', async () => {
    const controller = new AbortController();
    const { executor } = setUp({
      send: () => {
        controller.abort('left');
        return Promise.reject(controller.signal.reason as Error);
      },
    });
    const result = await executor.execute(call({ signal: controller.signal }));
    expect(result).toMatchObject({ error: { code: 'CANCELLED' } });
  });

  it('EXEC-5 one record says who ran what, how it went and how long it took', async () => {
    const { viewer: caller } = call();
    const triage = { ...caller, skill: { id: 'triage', caller } };
    const clock = createFakeClock();
    const { executor, records } = setUp({
      clock,
      use: async (_server, task) => {
        await clock.advance(120);
        return task({
          era: 'modern',
          request: async () => ({ content: [{ type: 'text', text: 'x'.repeat(500) }] }),
        } as unknown as Upstream);
      },
    });
    await executor.execute(call({ principal: 'alice', viewer: triage, traceId: 't-1' }));
    expect(records).toEqual([
      {
        kind: 'execution',
        principal: 'alice',
        route: 'mcp',
        skill: 'triage',
        server: 'fs',
        tool: 'read',
        arguments: { path: '/a' },
        outcome: 'success',
        latencyMs: 120,
        connectMs: 120,
        resultBytes: expect.any(Number) as number,
        countTokens: expect.any(Function) as () => unknown,
        era: 'modern',
        traceId: 't-1',
      },
    ]);
    expect(records[0]?.countTokens?.()).toMatchObject({
      arguments: 5,
      returned: estimateTokens('x'.repeat(500)),
      withheld: 0,
    });
    expect(records[0]?.resultBytes).toBeGreaterThan(500);
  });

  it('EXEC-5 an unknown tool is recorded under the names that were asked for', async () => {
    const { executor, records } = setUp({
      resolve: () => {
        throw new ToolscoutError('TOOL_NOT_FOUND', 'no such tool');
      },
    });
    await executor.execute(call({ server: 'fx', tool: 'raed' }));
    expect(records).toMatchObject([{ server: 'fx', tool: 'raed', outcome: 'refused', code: 'TOOL_NOT_FOUND' }]);
  });

  it('EXEC-1 a streamed call runs the same walk', async () => {
    const { executor, steps } = setUp({ checks: [refusal] });
    const events = [];
    const run = (streamed: Call): Promise<CallResult> =>
      executor.execute(streamed, async () => void steps.push('prepare'));
    for await (const event of streamCall(call(), run)) events.push(event);
    expect(events).toMatchObject([{ type: 'result', result: { success: false, error: { code: 'FORBIDDEN' } } }]);
    expect(steps).toEqual(['prepare', 'identity', 'audit']);
  });
});
