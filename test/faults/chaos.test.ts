import { describe, expect, it, onTestFinished } from 'vitest';
import type { Gateway } from '../../src/gateway/index.js';
import { ERROR_TABLE } from '../../src/kernel/errors.js';
import { startChaosProxy, type ChaosProxy, type Toxic } from '../support/chaos-proxy.js';
import { startHttpFixture, waitUntil } from '../support/fixture.js';
import { formOf, repetitions } from '../support/long-form.js';
import { openToolscout } from '../support/open-toolscout.js';

const FATAL: readonly Toxic[] = ['down', 'reset', 'cut', 'black-hole', 'half-open', 'trickle', 'garbled'];
const HARMLESS: readonly Toxic[] = ['late', 'sliced'];
const TRANSPORTS = ['http', 'sse'] as const;
/** What a server is given before it counts as lost; much less than the patience of a test. */
const DEADLINE_MS = 1500;

async function setUp(
  transport: 'http' | 'sse',
  deadlineMs = DEADLINE_MS,
): Promise<{ gateway: Gateway; proxy: ChaosProxy }> {
  const upstream = await startHttpFixture(transport);
  onTestFinished(() => upstream.stop());
  const proxy = await startChaosProxy(upstream.url);
  onTestFinished(() => proxy.stop());
  const entry = { url: proxy.url, type: transport, timeoutMs: deadlineMs, connectTimeoutMs: deadlineMs };
  const gateway = await openToolscout({
    servers: { far: { ...entry, rateLimit: { requestsPerSecond: 100_000, burstSize: 100_000 } } },
    limits: { callTimeoutMs: deadlineMs, breakerFailures: 100_000 },
  });
  return { gateway, proxy };
}

const isTyped = (code: string | undefined): boolean => code !== undefined && Object.hasOwn(ERROR_TABLE, code);

/** A server that was lost is left alone for a moment before it is tried again. */
const recovers = (attempt: () => Promise<boolean>): Promise<void> =>
  waitUntil(attempt, { what: 'the server to be back' });

// A test runs into several deadlines and waits for recoveries.
describe.each(TRANSPORTS)(
  'a network that misbehaves, over %s',
  { timeout: formOf(600_000, 3_600_000) },
  (transport) => {
    it.each(FATAL)(
      'R8 %s: discovery and call end with a typed error inside their deadline, and work when it is over',
      async (toxic) => {
        const { gateway, proxy } = await setUp(transport);
        proxy.toxic = toxic;
        const [lost] = await gateway.servers.discover();
        expect(lost).toMatchObject({ server: 'far', ok: false });
        expect(lost!.ok ? undefined : lost!.error.code).toSatisfy(isTyped);
        proxy.toxic = 'none';
        await recovers(async () => (await gateway.servers.discover())[0]!.ok);
        expect(await gateway.call('far', 'echo', { message: 'a' })).toMatchObject({ success: true });
        proxy.toxic = toxic;
        const failed = await gateway.call('far', 'echo', { message: 'b' });
        expect(failed.success).toBe(false);
        expect(failed.error?.code).toSatisfy(isTyped);
        expect(failed.error?.code).not.toBe('INTERNAL_ERROR');
        proxy.toxic = 'none';
        await recovers(async () => (await gateway.call('far', 'echo', { message: 'c' })).success);
      },
    );

    it.each(HARMLESS)('R8 %s: what arrives whole is whole', async (toxic) => {
      const { gateway, proxy } = await setUp(transport, 30_000);
      proxy.toxic = toxic;
      expect(await gateway.servers.discover()).toMatchObject([{ ok: true }]);
      expect(await gateway.call('far', 'echo', { message: 'a' })).toMatchObject({ success: true });
    });

    // A leak of every call shows after a few.
    it('R8 after many broken calls no connection is left', async () => {
      const { gateway, proxy } = await setUp(transport);
      await gateway.servers.discover();
      const rounds = repetitions(12, 5000);
      for (let round = 0; round < rounds; round++) {
        proxy.toxic = (['down', 'reset', 'cut'] as const)[round % 3]!;
        expect((await gateway.call('far', 'echo', { message: 'x' })).success).toBe(false);
        proxy.toxic = 'none';
        await recovers(async () => (await gateway.call('far', 'echo', { message: 'x' })).success);
        expect(proxy.open).toBeLessThan(20);
      }
      await gateway.close();
      await waitUntil(() => proxy.open === 0, { what: 'the last connection to end' });
    });
  },
);
