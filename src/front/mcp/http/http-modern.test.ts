import { describe, expect, it, onTestFinished } from 'vitest';
import { createFakeClock } from '../../../../test/support/fake-clock.js';
import { fixture, waitUntil } from '../../../../test/support/fixture.js';
import { modernPost } from '../../../../test/support/modern-request.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import { wrapGateway, type Gateway } from '../../../gateway/index.js';
import type { JsonObject } from '../../../kernel/json.js';
import { silentLog } from '../../../kernel/log.js';
import { createMcpEndpoint } from './http.js';

/** An endpoint over a server with resources, and how often it was asked to watch one and still does. */
async function openWatched() {
  const gateway = await openToolscout({ servers: { ask: fixture('asking') } });
  await gateway.servers.discover();
  const watches = { asked: 0, open: 0 };
  const subscribe: Gateway['hosts']['subscribe'] = async () => {
    watches.asked += 1;
    watches.open += 1;
    return () => void (watches.open -= 1);
  };
  const clock = createFakeClock();
  const info = { name: 'toolscout', version: '9.9.9' };
  const endpoint = createMcpEndpoint({
    gateway: wrapGateway(gateway, () => ({ 'hosts.subscribe': subscribe })),
    info,
    log: silentLog,
    clock,
  });
  onTestFinished(() => endpoint.close());
  const listen = (notifications: JsonObject, init: RequestInit = {}, until?: number): Promise<Response> =>
    endpoint.fetch(
      new Request('http://127.0.0.1:7077/servers/ask/mcp', {
        ...modernPost('subscriptions/listen', { notifications }),
        ...init,
      }),
      { server: 'ask', until },
    );
  return { endpoint, clock, watches, listen };
}

const URIS = { resourceSubscriptions: ['note://one'] };

describe('a modern host that listens', STARTS_PROCESSES, () => {
  it('A29 R13 has nothing watched when it is refused', async () => {
    const { watches, listen } = await openWatched();
    const refused = await listen({ ...URIS, toolsListChanged: 'perhaps' });
    expect(await refused.json()).toMatchObject({ error: { code: -32_602 } });
    expect(watches).toEqual({ asked: 0, open: 0 });
  });

  it.each<[string, (opened: Awaited<ReturnType<typeof openWatched>>, stream: Response) => unknown]>([
    ['hangs up', (_, { body }) => body!.cancel()],
    ['is shut out', ({ endpoint }) => endpoint.close()],
    ['has a token that expires', ({ clock }) => clock.advance(60_000)],
  ])('A29 R13 has nothing watched any more when it %s', async (_, end) => {
    const opened = await openWatched();
    const stream = await opened.listen(URIS, {}, opened.clock.now() + 60_000);
    await waitUntil(() => opened.watches.open === 1, { what: 'the resource to be watched' });
    expect(opened.endpoint.isBusy).toBe(true);
    await end(opened, stream);
    await waitUntil(() => opened.watches.open === 0, { what: 'the watching to end' });
    expect([opened.clock.waiting, opened.endpoint.isBusy]).toEqual([0, false]);
  });
});
