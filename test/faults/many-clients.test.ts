import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { runCrowd } from '../../bench/many-clients/clients.js';
import { fixture } from '../support/fixture.js';
import { countTrials, formOf } from '../support/long-form.js';
import { lineMatching, workplace } from '../support/toolscout.js';
import { patient } from '../support/patience.js';

const CALLS = formOf(1000, 20_000);

it(
  'A9 two hundred clients with equal request ids at once each get their own answers',
  // Two hundred clients on as many connections.
  { timeout: patient(600_000) },
  async () => {
    const rateLimit = { requestsPerSecond: 1_000_000, burstSize: 1_000_000 };
    const place = await workplace({ servers: { old: { ...fixture('legacy'), rateLimit } } });
    const toolscout = place.start('serve', '--port', '0');
    toolscout.stderr?.resume();
    const [, url] = await lineMatching(toolscout, /MCP endpoint\s+(http:\S+)/);
    const crowd = { url: url!, clients: 200, modern: 50, calls: countTrials(CALLS), server: 'old', tool: 'echo' };
    const { matched, wrong, sessions } = await runCrowd(crowd);
    expect(wrong).toEqual([]);
    expect(matched).toBe(CALLS);
    expect(sessions).toBe(150);
  },
);

it('A9 an answer that belongs to another client is noticed', async () => {
  let first: { readonly message: string; answer(text: string): void } | undefined;
  // Takes two calls and gives each the answer of the other.
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { params } = JSON.parse(Buffer.concat(chunks).toString()) as {
      params: { arguments: { arguments: { message: string } } };
    };
    const { message } = params.arguments.arguments;
    const answer = (text: string): void => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 0, result: { content: [{ type: 'text', text }] } }));
    };
    if (!first) {
      first = { message, answer };
      return;
    }
    first.answer(message);
    answer(first.message);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const { matched, wrong } = await runCrowd({ url, clients: 2, modern: 2, calls: 2, server: 'x', tool: 'echo' });
  expect(matched).toBe(0);
  expect(wrong).toHaveLength(2);
});
