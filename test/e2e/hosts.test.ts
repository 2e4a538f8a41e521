import { describe, expect, it } from 'vitest';
import type { Gateway } from '../../src/gateway/index.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { fixture, waitUntil } from '../support/fixture.js';
import { connectHost, serveOverHttp, type TestHost } from '../support/mcp-host.js';
import { envelope, modernPost } from '../support/modern-request.js';
import { openToolscout, startCounter, textOf } from '../support/open-toolscout.js';
import { patient, STARTS_PROCESSES } from '../support/patience.js';

const asking = (...flags: string[]): Promise<Gateway> =>
  openToolscout({ servers: { asking: fixture('asking', ...flags) } });

function call(host: TestHost, tool: string, args: JsonObject = {}): Promise<JsonObject> {
  const params = { name: 'execute_tool', arguments: { server: 'asking', tool, arguments: args } };
  return host.request('tools/call', params, { timeout: patient(120_000) });
}

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('several hosts and calls at once', STARTS_PROCESSES, () => {
  it.each(['legacy', 'modern'] as const)(
    'META-6 S8 two hosts (%s) whose questions interleave get their own',
    STARTS_PROCESSES,
    async (era) => {
      for (const flags of [[], ['--modern']]) {
        const gateway = await asking(...flags);
        await gateway.servers.discover();
        const url = await serveOverHttp(gateway);
        const hosts = await Promise.all(
          ['ann', 'bob'].map((name) =>
            connectHost(
              gateway,
              {
                era,
                over: 'http',
                // What differs in a declaration keeps modern hosts apart, which have no session.
                capabilities: { elicitation: { form: {} }, extensions: { [`example.org/${name}`]: {} } },
                onElicit: async (message) => {
                  await later(message.startsWith('slow') ? 200 : 10);
                  return { action: 'accept', content: { name: `${name} ${message}` } };
                },
              },
              { url },
            ),
          ),
        );
        const answers = await Promise.all(
          hosts.flatMap((host, index) =>
            ['slow', 'quick', 'slow again'].map(async (message) => ({
              of: index === 0 ? 'ann' : 'bob',
              message,
              answer: textOf(await call(host, 'elicit', { message })),
            })),
          ),
        );
        for (const { of, message, answer } of answers) {
          expect(JSON.parse(answer)).toEqual({ action: 'accept', content: { name: `${of} ${message}` } });
        }
      }
    },
  );

  it.each(['legacy', 'modern'] as const)(
    'META-6 one host (%s) with two calls at once over stdio is asked for both',
    STARTS_PROCESSES,
    async (era) => {
      const gateway = await asking();
      const host = await connectHost(gateway, { era, over: 'stdio' });
      const answers = await Promise.all(
        ['a', 'b', 'c'].map(async (message) => textOf(await call(host, 'elicit', { message }))),
      );
      expect(answers.map((answer) => (JSON.parse(answer) as { content: JsonObject }).content['name'])).toEqual([
        'Ann for a',
        'Ann for b',
        'Ann for c',
      ]);
      expect(host.asked).toHaveLength(3);
    },
  );
});

describe('connections for hosts', STARTS_PROCESSES, () => {
  it('S8 CONN-3 a legacy server is told what its host declared, and nothing else', STARTS_PROCESSES, async () => {
    const counter = await startCounter();
    const gateway = await openToolscout({ servers: { asking: fixture('asking', counter.flag) } });
    await gateway.servers.discover();
    const declared = async (capabilities: JsonObject): Promise<unknown> => {
      const host = await connectHost(gateway, { era: 'legacy', over: 'stdio', capabilities });
      const answer = JSON.parse(textOf(await call(host, 'declared'))) as unknown;
      await host.close();
      return answer;
    };
    expect(await declared({ roots: {} })).toEqual({ roots: {} });
    expect(await declared({ elicitation: { form: {} } })).toEqual({ elicitation: { form: {} } });
    expect(await declared({})).toEqual({});
    // Hosts that cannot be asked share one connection; the list may be read again (A12) on one more.
    const started = await counter.pids();
    for (let hosts = 0; hosts < 4; hosts++) expect(await declared({})).toEqual({});
    expect((await counter.pids()).length).toBeLessThanOrEqual(started.length + 1);
    // A call without a host gets a declined answer.
    expect(textOf(await gateway.call('asking', 'roots', {}))).toBe('{"roots":[]}');
    expect(textOf(await gateway.call('asking', 'elicit', { message: 'x' }))).toBe('{"action":"decline"}');
    const sampled = await gateway.call('asking', 'sample', { prompt: 'x' });
    expect(sampled.error?.upstream?.code ?? textOf(sampled)).toBeTruthy();
    expect(sampled.success).toBe(false);
  });

  it(
    'CONN-3 the connection of a host ends with its session; that of discovery ends by itself',
    STARTS_PROCESSES,
    async () => {
      const gateway = await asking();
      await gateway.servers.discover();
      const host = await connectHost(gateway, { era: 'legacy', over: 'http' });
      await call(host, 'declared');
      await waitUntil(async () => (await gateway.servers.list())[0]?.health.state === 'connected');
      await (host.client.transport as unknown as { terminateSession(): Promise<void> }).terminateSession();
      await waitUntil(async () => (await gateway.servers.list())[0]?.health.state === 'disconnected', {
        what: 'the end of every connection',
      });
    },
  );

  it(
    'S8 a server that asks for what its host did not declare is refused, and the host hears nothing',
    STARTS_PROCESSES,
    async () => {
      for (const flags of [[], ['--modern']]) {
        for (const era of ['legacy', 'modern'] as const) {
          const gateway = await asking(...flags);
          const host = await connectHost(gateway, { era, over: 'stdio', capabilities: { roots: {} } });
          const answer = await call(host, 'sample', { prompt: 'give me tokens' }).catch((thrown: Error) => thrown);
          if (!(answer instanceof Error)) expect(answer['isError']).toBe(true);
          expect(host.asked).toEqual([]);
        }
      }
    },
  );

  it(
    'S8 a flood of questions is bounded, a question after the call is declined, one withdrawn is withdrawn',
    STARTS_PROCESSES,
    async () => {
      const gateway = await asking();
      let aborted = 0;
      const host = await connectHost(gateway, {
        era: 'legacy',
        over: 'stdio',
        onElicit: async (message, signal) => {
          if (/^\d+$/.test(message)) await later(500);
          if (message !== 'never mind') return { action: 'accept', content: { name: message } };
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
          aborted++;
          return { action: 'cancel' };
        },
      });
      expect(Number(textOf(await call(host, 'flood', { count: 100 })))).toBe(68);
      expect(host.asked).toHaveLength(32);
      expect(textOf(await call(host, 'late'))).toBe('answered');
      await later(300);
      expect(host.asked).toHaveLength(32);
      expect(textOf(await call(host, 'withdraw'))).toBe('withdrawn');
      await waitUntil(() => aborted === 1, { what: 'the host to be told' });
      // The gateway is as good as before.
      expect(textOf(await call(host, 'elicit', { message: 'still here' }))).toContain('still here');
    },
  );
});

describe('what a modern host brings back', STARTS_PROCESSES, () => {
  it(
    'S8 a state that was changed, belongs to another call or was used before is refused',
    STARTS_PROCESSES,
    async () => {
      for (const flags of [[], ['--modern']]) {
        const gateway = await asking(...flags);
        const url = `${await serveOverHttp(gateway)}/mcp`;
        const post = async (message: string, more: JsonObject = {}): Promise<JsonObject> => {
          const args = { server: 'asking', tool: 'elicit', arguments: { message } };
          const params = {
            name: 'execute_tool',
            arguments: args,
            _meta: envelope({ elicitation: { form: {} } }),
            ...more,
          };
          const response = await fetch(url, modernPost('tools/call', params));
          return (await response.json()) as JsonObject;
        };
        const asked = (await post('m'))['result'] as JsonObject;
        expect(asked['resultType']).toBe('input_required');
        const [key] = Object.keys(asked['inputRequests'] as JsonObject);
        const inputResponses = { [key!]: { action: 'accept', content: { name: 'Ann' } } };
        const requestState = String(asked['requestState']);
        const changed = requestState.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
        const refused = { error: { code: -32_602 } };
        expect(await post('m', { inputResponses, requestState: changed })).toMatchObject(refused);
        expect(await post('other', { inputResponses, requestState })).toMatchObject(refused);
        expect(await post('m', { inputResponses, requestState: 'x' })).toMatchObject(refused);
        expect(JSON.stringify(await post('m', { inputResponses, requestState }))).toContain('Ann');
        expect(await post('m', { inputResponses, requestState })).toMatchObject(refused);
      }
    },
  );
});
