import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../api/types.js';
import { createRun } from './run.js';

/** A call whose events and time are given by the test. */
function stage() {
  let time = 0;
  let tell: (name: string, data: JsonObject) => void = () => undefined;
  let end: () => void = () => undefined;
  const run = createRun(
    (_body, _signal, onEvent) =>
      new Promise((resolve) => {
        tell = onEvent;
        end = resolve;
      }),
    () => time,
  );
  const over = run.start('asking', 'elicit', {});
  return {
    run,
    pass: (ms: number) => (time += ms),
    tell: (name: string, data: JsonObject) => tell(name, data),
    finish: async (result: JsonObject) => {
      tell('result', result);
      end();
      await over;
    },
  };
}

const ask = (id: string): JsonObject => ({ id, kind: 'elicitation', params: {} });

describe('a call that asks', () => {
  it('STUDIO-1 the wait ends when the answer is sent, also where the call ends before that is confirmed', async () => {
    const { run, pass, tell, finish } = stage();
    pass(10);
    tell('ask', ask('q'));
    pass(3000);
    run.answering('q', true);
    pass(5);
    await finish({ success: true });
    expect(run.state.value).toMatchObject({ step: 'done', ms: 3015, askedMs: 3000 });
  });

  it('STUDIO-1 a tool that reports progress, or ends without the roots it asked for, did not wait for them', async () => {
    const { run, pass, tell, finish } = stage();
    tell('ask', { ...ask('roots'), kind: 'roots' });
    expect(run.state.value).toMatchObject({ isWorking: false });
    pass(2000);
    tell('progress', { progress: 1 });
    expect(run.state.value).toMatchObject({ step: 'running', isWorking: true });
    pass(2000);
    tell('withdrawn', { id: 'roots', ended: true });
    await finish({ success: true });
    expect(run.state.value).toMatchObject({ step: 'done', ms: 4000, askedMs: 0 });
  });

  it('STUDIO-1 a call that failed with an open question waited for its answer', async () => {
    const { run, pass, tell, finish } = stage();
    tell('ask', ask('q'));
    pass(900);
    tell('withdrawn', { id: 'q', ended: true });
    await finish({ success: false, error: { message: 'late', code: 'TOOL_EXECUTION_TIMEOUT' } });
    expect(run.state.value).toMatchObject({ step: 'failed', ms: 900, askedMs: 900 });
  });

  it('STUDIO-1 a call that ends without the answer to its question waited for it until then', async () => {
    const { run, pass, tell, finish } = stage();
    pass(20);
    tell('ask', ask('q'));
    pass(60_000);
    tell('withdrawn', { id: 'q', ended: true });
    await finish({ success: true });
    expect(run.state.value).toMatchObject({ step: 'done', ms: 60_020, askedMs: 60_000 });
  });

  it('STUDIO-1 while toolscout asks for a yes its progress is no work of the server', async () => {
    const { run, pass, tell, finish } = stage();
    const confirms = { rule: 'rule 1 (pattern "*")', scope: 'call', arguments: {} };
    tell('ask', { ...ask('q'), confirms });
    pass(10_000);
    tell('progress', { progress: 0, message: "Waits for the user's confirmation, at most 15 minutes." });
    expect(run.state.value).toMatchObject({ step: 'running', progress: [], isWorking: false });
    pass(10_000);
    tell('withdrawn', { id: 'q' });
    await finish({ success: false, error: { message: 'no', code: 'CONFIRMATION_REQUIRED' } });
    expect(run.state.value).toMatchObject({ step: 'failed', ms: 20_000, askedMs: 20_000 });
    void run.start('asking', 'elicit', {});
    run.cancel();
    expect(run.state.value).toEqual({ step: 'cancelled', wasSent: true });
    void run.start('asking', 'elicit', {});
    tell('ask', { ...ask('q'), confirms });
    run.cancel();
    expect(run.state.value).toEqual({ step: 'cancelled', wasSent: false });
  });

  it.each([
    ['a result that says so', { result: { isError: true, content: [] } }, {}],
    ['an error of the protocol', {}, { upstream: { code: -32603 } }],
  ])(
    'STUDIO-1 a tool that fails by itself beside an open question about roots did not wait: %s',
    async (_how, said, more) => {
      const { run, pass, tell, finish } = stage();
      tell('ask', { ...ask('q'), kind: 'roots' });
      pass(900);
      tell('withdrawn', { id: 'q', ended: true });
      await finish({ success: false, ...said, error: { message: 'no', code: 'TOOL_EXECUTION_ERROR', ...more } });
      expect(run.state.value).toMatchObject({ step: 'failed', ms: 900, askedMs: 0 });
    },
  );

  it('STUDIO-1 several questions at once are one wait, and an answer that fails goes on waiting', async () => {
    const { run, pass, tell, finish } = stage();
    tell('ask', ask('a'));
    pass(100);
    tell('ask', ask('b'));
    run.answering('a', true);
    run.answered('a');
    pass(100);
    run.answering('b', true);
    pass(7);
    run.answering('b', false);
    pass(100);
    tell('withdrawn', { id: 'b' });
    pass(2);
    await finish({ success: false, error: { message: 'no', code: 'TOOL_EXECUTION_ERROR' } });
    expect(run.state.value).toMatchObject({ step: 'failed', ms: 309, askedMs: 300 });
  });
});
