import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { JsonObject } from '../../kernel/json.js';
import type { Host } from '../../model/host.js';
import { answerInRounds } from './rounds.js';

const question = { method: 'elicitation/create', params: { message: 'name?' } };
const asks = (inputRequests: JsonObject, requestState?: string): JsonObject => ({
  resultType: 'input_required',
  inputRequests,
  ...(requestState !== undefined && { requestState }),
});

function stage(answers: readonly JsonObject[], host: Partial<Host> | undefined) {
  const sent: Array<JsonObject | undefined> = [];
  const asked: string[] = [];
  const clock = createFakeClock();
  const full: Host | undefined = host && {
    id: 'h',
    era: 'legacy',
    capabilities: { elicitation: {} },
    request: async (method) => {
      asked.push(method);
      return { action: 'accept' };
    },
    notify: () => {},
    ...host,
  };
  const send = async (params: JsonObject | undefined): Promise<JsonObject> => {
    sent.push(params);
    return answers[Math.min(sent.length, answers.length) - 1]!;
  };
  const params = { name: 't' };
  const told: boolean[] = [];
  const onAsking = (isOpen: boolean): void => void told.push(isOpen);
  const options = { server: 's', clock, host: full, signal: undefined, onAsking };
  const result = send(params).then((first) => answerInRounds(first, send, params, options));
  return { sent, asked, clock, result, told };
}

describe('rounds with a modern server', () => {
  it('S8 EXEC-3 a request that no client supports is the fault of the server, whatever the arguments', async () => {
    await expect(stage([asks({ n: { method: 'tools/call' } })], {}).result).rejects.toMatchObject({
      message: 'During the call, the server "s" sent a request with an unsupported method.',
      suggestion: 'Report it to the authors of the server.',
    });
  });

  it('A26 a question or an answer that nests too deep to be written ends the call', async () => {
    const deep = JSON.parse(`{"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`) as JsonObject;
    const nested = asks({ n: { method: 'elicitation/create', params: deep } });
    for (const era of ['legacy', 'modern'] as const) {
      const { result, asked } = stage([nested], { era });
      await expect(result).rejects.toMatchObject({ code: 'TOOL_EXECUTION_ERROR' });
      expect(asked).toEqual([]);
    }
    const answered = stage([asks({ n: question })], { request: async () => deep });
    await expect(answered.result).rejects.toMatchObject({ code: 'TOOL_EXECUTION_ERROR' });
    expect(answered.sent).toHaveLength(1);
  });

  it('META-6 a host of the older era is asked, and the request sent again with its answers and the state', async () => {
    const { result, sent, asked } = stage([asks({ n: question }, 'state'), asks({ m: question }), { content: [] }], {});
    expect(await result).toEqual({ content: [] });
    expect(asked).toHaveLength(2);
    expect(sent).toEqual([
      { name: 't' },
      { name: 't', inputResponses: { n: { action: 'accept' } }, requestState: 'state' },
      { name: 't', inputResponses: { m: { action: 'accept' } } },
    ]);
  });

  it('EXEC-5 tells when the host is asked and when it has answered or refused', async () => {
    const twice = stage([asks({ n: question }), asks({ m: question, o: question }), { content: [] }], {});
    await twice.result;
    expect(twice.told).toEqual([true, false, true, false]);
    const refused = stage([asks({ n: question })], { request: async () => Promise.reject(new Error('no')) });
    await expect(refused.result).rejects.toThrow('no');
    expect(refused.told).toEqual([true, false]);
  });

  it('META-6 a modern host is handed the question', async () => {
    const asking = asks({ n: question }, 'state');
    const handed = stage([asking], { era: 'modern' });
    expect(await handed.result).toMatchObject({ ...asking, inputRequests: { n: { method: question.method } } });
    expect(handed.told).toEqual([]);
  });

  it('META-6 a server that only asks to be called again is, after a moment', async () => {
    const { result, clock, sent } = stage([asks({}, 'later'), { content: [] }], {});
    await clock.advance(250);
    expect(await result).toEqual({ content: [] });
    expect(sent[1]).toMatchObject({ requestState: 'later' });
  });

  it('S8 never asks a host for what it did not declare, in either era', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      for (const method of ['sampling/createMessage', 'roots/list', 'tools/call', '__proto__']) {
        const { result, asked } = stage([asks({ ok: question, bad: { method, params: {} } })], { era });
        await expect(result).rejects.toMatchObject({ code: 'TOOL_EXECUTION_ERROR' });
        expect(asked).toEqual([]);
      }
    }
    const url = { method: 'elicitation/create', params: { mode: 'url', url: 'https://x' } };
    await expect(stage([asks({ url })], {}).result).rejects.toThrow(/does not offer/);
  });

  it('S8 without a host, without end and with too many questions it is given up', async () => {
    await expect(stage([asks({ n: question })], undefined).result).rejects.toThrow(/no host is connected/);
    await expect(stage([asks({ n: question })], {}).result).rejects.toThrow(/more than 32 times/);
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`q${at}`, question]));
    await expect(stage([asks(many)], {}).result).rejects.toThrow(/more than 32 questions/);
  });

  it('META-6 a refusal of the host ends the call with its own error', async () => {
    const refusal = new ToolscoutError('TOOL_EXECUTION_ERROR', 'no', { upstream: { code: -1, message: 'no' } });
    const { result } = stage([asks({ n: question })], { request: () => Promise.reject(refusal) });
    await expect(result).rejects.toBe(refusal);
  });
});
