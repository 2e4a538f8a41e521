import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../../kernel/log.js';
import {
  runStrategies,
  DISCOVERY_ENVIRONMENT,
  isPlainAnswer,
  type StrategyDeps,
  type Printed,
} from './run-strategies.js';
import { predictTools } from './predict.js';

const ANSWER = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools: [{ name: 'greet', description: 'Hello' }] } });
const TOOLS = '{"tools":[{"name":"read_it"}]}';

function strategyDeps(printed: Partial<Printed>, rest: Partial<StrategyDeps> = {}): StrategyDeps & { starts: number } {
  const deps = {
    starts: 0,
    run: async (env: Readonly<Record<string, string>>, request: string) => {
      deps.starts++;
      expect(env).toBe(DISCOVERY_ENVIRONMENT);
      expect(JSON.parse(request)).toEqual({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
      return { stdout: '', stderr: '', ...printed };
    },
    autoApproved: [],
    predict: async () => [],
    ...rest,
  };
  return deps;
}

describe('the fallback strategies', () => {
  it('DISC-6 a plain answer is the protocol, and a schema that was left out is filled in', async () => {
    expect(await runStrategies(strategyDeps({ stdout: `banner\n${ANSWER}\n` }))).toMatchObject({
      strategy: 'plain-list',
      confidence: 1,
      items: [{ name: 'greet', description: 'Hello', inputSchema: { type: 'object' } }],
    });
    expect(isPlainAnswer(ANSWER)).toBe(true);
    expect(isPlainAnswer(TOOLS)).toBe(false);
  });

  it('DISC-1 of two tools with one name in a plain answer the first stays, and a further page is named', async () => {
    const tools = [{ name: 'greet', description: 'Hello' }, { name: 'greet', description: 'Other' }, { name: 'part' }];
    const stdout = `${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools, nextCursor: 'two' } })}\n`;
    expect(await runStrategies(strategyDeps({ stdout }))).toMatchObject({
      items: [{ name: 'greet', description: 'Hello' }, { name: 'part' }],
      bad: [{ index: 1, name: 'greet', reason: 'its name is a duplicate' }],
      truncated: expect.stringContaining('only the first page') as string,
    });
    expect(await runStrategies(strategyDeps({ stdout: ANSWER }))).not.toHaveProperty('truncated');
  });

  it('DISC-6 stdout counts before stderr, and stderr when stdout says nothing', async () => {
    const both = { stdout: 'You may call read_file.', stderr: TOOLS };
    expect(await runStrategies(strategyDeps(both))).toMatchObject({
      strategy: 'identifiers',
      items: [{ name: 'read_file' }],
    });
    expect(await runStrategies(strategyDeps({ stdout: 'starting', stderr: TOOLS }))).toMatchObject({
      strategy: 'tools',
    });
  });

  it('DISC-6 then what the client of the user approved, then a prediction, then nothing', async () => {
    const predict = async (): Promise<Array<{ name: string }>> => [{ name: 'guessed' }];
    expect(await runStrategies(strategyDeps({}, { autoApproved: ['a'], predict }))).toMatchObject({
      strategy: 'auto-approved',
    });
    expect(await runStrategies(strategyDeps({}, { predict }))).toMatchObject({
      strategy: 'predicted',
      confidence: 0.2,
    });
    expect(await runStrategies(strategyDeps({}))).toBeUndefined();
  });

  it('DISC-6 without a program the list of the client is used', async () => {
    const { autoApproved, predict } = strategyDeps({}, { autoApproved: ['a'] });
    expect(await runStrategies({ autoApproved, predict })).toMatchObject({
      strategy: 'auto-approved',
      items: [{ name: 'a' }],
    });
  });

  it('DISC-1 malformed entries are named, and a strategy without a valid entry finds nothing', async () => {
    const stdout = JSON.stringify({ tools: [{ name: 'ok' }, { name: 'bad', inputSchema: 5 }] });
    expect(await runStrategies(strategyDeps({ stdout }))).toMatchObject({
      items: [{ name: 'ok' }],
      bad: [{ index: 1, name: 'bad' }],
    });
    expect(await runStrategies(strategyDeps({ stdout: '{"tools":[{"name":"bad","inputSchema":5}]}' }))).toBeUndefined();
  });
});

describe('prediction', () => {
  /** A real endpoint in the OpenAI chat format. */
  async function endpoint(
    answer: (body: string, headers: Record<string, unknown>) => [number, string],
  ): Promise<string> {
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const [status, text] = answer(body, request.headers);
        response.writeHead(status, { 'content-type': 'application/json' }).end(text);
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`;
  }
  const completion = (content: string): string => JSON.stringify({ choices: [{ message: { content } }] });
  const deps = { fetch, log: silentLog };

  it('DISC-8 any OpenAI-compatible endpoint is asked for likely tools of a server id, and for nothing else', async () => {
    const seen: Array<{ body: string; key: unknown }> = [];
    const baseUrl = await endpoint((body, headers) => {
      seen.push({ body, key: headers['authorization'] });
      return [200, completion('```json\n{"tools":[{"name":"create_issue","description":"Makes an issue"}]}\n```')];
    });
    const server = { id: 'github', command: 'secret-command' };
    expect(await predictTools(server, { baseUrl, apiKey: 'k', model: 'm' }, deps)).toEqual([
      { name: 'create_issue', description: 'Makes an issue' },
    ]);
    expect(seen).toMatchObject([{ key: 'Bearer k', body: expect.stringContaining('"model":"m"') as string }]);
    expect(seen[0]!.body).not.toContain('secret-command');
  });

  it.each([
    ['an error', 500, '{}'],
    ['no JSON', 200, 'sorry'],
    ['another shape', 200, '{"choices":{}}'],
    ['prose', 200, completion('It may have read_file and write_file.')],
    ['nothing', 200, completion('{"tools":[]}')],
    ['too much', 200, completion('x'.repeat(2_000_000))],
  ])('DISC-8 %s yields nothing, never an error', async (_what, status, text) => {
    const baseUrl = await endpoint(() => [status, text]);
    expect(await predictTools({ id: 'x' }, { baseUrl, model: 'm' }, deps)).toEqual([]);
  });

  it('DISC-8 an endpoint that is not there yields nothing', async () => {
    expect(await predictTools({ id: 'x' }, { baseUrl: 'http://127.0.0.1:1', model: 'm' }, deps)).toEqual([]);
  });
});
