import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Canceller } from '../kernel/async/cancel.js';
import { systemClock } from '../kernel/clock.js';
import type { JsonObject } from '../kernel/json.js';
import { silentLog } from '../kernel/log.js';
import type { PendingCall } from '../model/pending-call.js';
import { createWebhook, signWebhook, type WebhookAnswer } from './webhook.js';

const SECRET = 'a-secret-of-the-test';
const CALL: PendingCall = {
  id: 'call_0123456789ab',
  server: 's',
  tool: 't',
  arguments: { a: 1 },
  argumentsHash: 'f'.repeat(64),
  principal: 'ann',
  route: 'mcp',
  rule: 'a rule',
  scope: 'tool',
  state: 'waiting',
  requestedAt: 1,
  expiresAt: 2,
};

interface Reply {
  readonly status?: number;
  readonly body?: string;
  readonly timestamp?: string;
  readonly signature?: string;
  readonly location?: string;
}

/** A webhook with scripted answers; `undefined` never answers. */
async function webhookThat(reply: (request: IncomingMessage, body: string) => Reply | undefined): Promise<string> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const said = reply(request, body);
      if (!said) return;
      response.writeHead(said.status ?? 200, {
        ...(said.timestamp !== undefined && { 'x-toolscout-timestamp': said.timestamp }),
        ...(said.signature !== undefined && { 'x-toolscout-signature': said.signature }),
        ...(said.location !== undefined && { location: said.location }),
      });
      response.end(said.body ?? '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function signed(said: unknown, { id = CALL.id, at = Date.now(), secret = SECRET } = {}): Reply {
  const body = JSON.stringify(said);
  const timestamp = String(at);
  return { body, timestamp, signature: signWebhook(secret, timestamp, id, body) };
}

const ask = (webhook: string, signal?: Canceller, timeoutMs = 5000): Promise<WebhookAnswer | undefined> =>
  createWebhook({ fetch, clock: systemClock, log: silentLog })(CALL, { webhook, secret: SECRET, timeoutMs }, signal);

describe('the webhook', () => {
  it('SEC-11 is asked with a signed request, and a signed answer decides', async () => {
    const asked: Array<{ headers: IncomingMessage['headers']; body: string }> = [];
    const url = await webhookThat(({ headers }, body) => {
      asked.push({ headers, body });
      return signed({ decision: 'approve', by: 'carol', reason: 'fine' });
    });
    expect(await ask(url)).toEqual({ verdict: 'approved', by: 'carol', reason: 'fine' });
    const [{ headers, body }] = asked as [(typeof asked)[number]];
    const timestamp = String(headers['x-toolscout-timestamp']);
    expect(headers['x-toolscout-signature']).toBe(signWebhook(SECRET, timestamp, CALL.id, body));
    expect(Math.abs(Date.now() - Number(timestamp))).toBeLessThan(300_000);
    expect(JSON.parse(body)).toEqual({ type: 'confirm', call: CALL as unknown as JsonObject });
    expect(await ask(await webhookThat(() => signed({ decision: 'reject' })))).toEqual({
      verdict: 'rejected',
      by: 'webhook',
    });
  });

  it.each<[string, () => Reply]>([
    ['without a signature', () => ({ body: '{"decision":"approve"}' })],
    ['signed with another secret', () => signed({ decision: 'approve' }, { secret: 'another-secret-of-16' })],
    ['signed for another call', () => signed({ decision: 'approve' }, { id: 'call_ffffffffffff' })],
    ['replayed after five minutes', () => signed({ decision: 'approve' }, { at: Date.now() - 301_000 })],
    ['from the future', () => signed({ decision: 'approve' }, { at: Date.now() + 400_000 })],
    ['with an invalid time', () => ({ ...signed({ decision: 'approve' }, { at: Number.NaN }) })],
    ['changed on the way', () => ({ ...signed({ decision: 'reject' }), body: '{"decision":"approve"}' })],
    ['that says something else', () => signed({ decision: 'perhaps' })],
    ['that is no object', () => signed(['approve'])],
    [
      'that is no JSON',
      () => {
        const timestamp = String(Date.now());
        return { body: 'yes', timestamp, signature: signWebhook(SECRET, timestamp, CALL.id, 'yes') };
      },
    ],
    ['with a status of 500', () => ({ ...signed({ decision: 'approve' }), status: 500 })],
    ['that leaves it to a person', () => ({ status: 202 })],
    ['that leads elsewhere', () => ({ status: 302, location: 'http://127.0.0.1:1/' })],
    ['that is too large', () => signed({ decision: 'approve', reason: 'x'.repeat(70_000) })],
  ])('SEC-11 an answer %s decides nothing', async (_case, reply) => {
    expect(await ask(await webhookThat(reply))).toBeUndefined();
  });

  it('SEC-11 one that is silent, gone, not configured or no longer wanted decides nothing', async () => {
    const silent = await webhookThat(() => undefined);
    expect(await ask(silent, undefined, 100)).toBeUndefined();
    const cancel = new Canceller();
    const waiting = ask(silent, cancel);
    cancel.abort(new Error('gone'));
    expect(await waiting).toBeUndefined();
    expect(await ask(silent, cancel)).toBeUndefined();
    expect(await ask('http://127.0.0.1:1/')).toBeUndefined();
    const bare = createWebhook({ fetch, clock: systemClock, log: silentLog });
    expect(await bare(CALL, { webhook: silent, secret: undefined, timeoutMs: 100 }, undefined)).toBeUndefined();
  });
});
