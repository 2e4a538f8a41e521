import { describe, expect, it, onTestFinished } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { createAudit } from '../../audit/index.js';
import { resolveConfig, type LoadedConfig } from '../../config/index.js';
import { createPool } from '../../connect/index.js';
import { createToolCache } from '../../discover/index.js';
import { systemClock, type Clock } from '../../kernel/clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { silentLog } from '../../kernel/log.js';
import { createSecretMask } from '../../kernel/secrets.js';
import type { ConfigInput } from '../../model/config.js';
import type { Server } from '../../model/server.js';
import { DOUBT_KEY, STORE_SPACE, type Store } from '../../model/store.js';
import type { Upstream } from '../../model/upstream.js';
import { createRedaction } from '../../redact/index.js';
import { createMemoryStore } from '../../store/index.js';
import { createGateway, type Gateway } from '../index.js';
import { hoursOf } from './overview.js';

const SECRET = 'canary-7f3d9a';

/** A gateway of real parts whose connections the test makes; every server has one tool in the store. */
async function open(parts: {
  readonly loaded: LoadedConfig;
  readonly connect?: (server: Server) => Promise<Upstream>;
  readonly store?: Store;
  readonly clock?: Clock;
  readonly isKnown?: boolean;
  readonly breakerFailures?: number;
}): Promise<Gateway> {
  const { loaded, clock = createFakeClock() } = parts;
  const log = silentLog;
  const store = parts.store ?? createMemoryStore({ clock });
  const mask = createSecretMask();
  const redaction = createRedaction({ hide: (text) => mask.hide(text) });
  const cache = createToolCache({ store, clock, log, ttlMs: 86_400_000 });
  const items = [{ name: 'echo', description: 'Says it again.', inputSchema: { type: 'object' } }];
  if (parts.isKnown) for (const server of loaded.servers) await cache.write(server, { items, bad: [] }, {});
  const pool = createPool({
    clock,
    log,
    hide: (text) => mask.hide(text),
    healthIntervalMs: 0,
    breaker: { failures: parts.breakerFailures ?? 1, resetMs: 60_000 },
    open:
      parts.connect ??
      (() => Promise.reject(new ToolscoutError('SERVER_CONNECTION_ERROR', 'gone', { delivered: false }))),
  });
  const gateway = createGateway({
    loaded,
    loadConfig: async () => loaded,
    store,
    clock,
    log,
    mask,
    redaction,
    random: () => 0.5,
    pool,
    cache,
    audit: createAudit({ store, clock, log, redact: redaction.stored }),
    learnAtStart: false,
  });
  onTestFinished(() => gateway.close({ drainMs: 0 }));
  return gateway;
}

const load = (servers: ConfigInput['servers']): LoadedConfig =>
  resolveConfig({ servers, approval: 'off' }, { source: 'library', env: { SECRET } });

const limitedTo = (gateway: Gateway, server: string): Gateway =>
  gateway.as({
    principal: 'ada',
    scopes: new Set(['read']),
    isLimited: true,
    sees: (id) => id === server,
  });

describe('what needs attention', () => {
  it('STUDIO-1 A48 a store in doubt must be accepted, and says what happened to it', async () => {
    const clock = createFakeClock();
    const store = createMemoryStore({ clock });
    await store.put(STORE_SPACE, DOUBT_KEY, { reason: 'rolled-back' });
    const loaded = resolveConfig({ servers: { one: { command: 'x' } } }, { source: 'library', env: {} });
    const gateway = await open({ loaded, store, clock });
    const { attention } = await gateway.studio.overview();
    expect(attention).toEqual([
      {
        kind: 'store',
        severity: 'severe',
        title: 'The store must be accepted',
        detail: expect.stringContaining('was replaced by an older copy') as string,
        remedy: { kind: 'accept-store' },
        action: { method: 'POST', path: '/v1/store/accept' },
      },
    ]);
    expect((await limitedTo(gateway, 'one').studio.overview()).attention).toEqual([]);
  });

  it('STORE-4 STUDIO-1 a store that fails is named, and the rest of the page goes on', async () => {
    const clock = createFakeClock();
    const store = createMemoryStore({ clock });
    let isAway = false;
    const away = { code: 'STORE_ERROR' } as const;
    const failing = new Proxy(store, {
      get: (target, name: keyof Store) =>
        isAway && typeof target[name] === 'function' && name !== 'onChange'
          ? () => Promise.reject(new ToolscoutError(away.code, 'The store does not answer.'))
          : target[name],
    });
    const loaded = resolveConfig({ servers: { one: { command: 'x' } } }, { source: 'library', env: {} });
    const gateway = await open({ loaded, store: failing, clock, isKnown: true });
    expect((await gateway.studio.overview()).attention).toEqual([]);
    isAway = true;
    await clock.advance(2000);
    const overview = await gateway.studio.overview();
    expect(overview).toMatchObject({ servers: { total: 1 }, tools: { total: 1 } });
    expect(overview.attention).toMatchObject([
      { kind: 'store-failing', severity: 'severe', detail: expect.stringContaining('does not answer') as string },
    ]);
    expect(await gateway.studio.server('one')).toMatchObject({ latency: [] });
    expect((await limitedTo(gateway, 'one').studio.overview()).attention).toEqual([]);
    isAway = false;
    await clock.advance(2000);
    expect((await gateway.studio.overview()).attention).toEqual([]);
  });

  it('STUDIO-1 a config that waits, a source that was kept and each warning once, without secrets; not for limited keys', async () => {
    const loaded: LoadedConfig = {
      ...load({ one: { command: 'x', env: { KEY: '${SECRET}' } }, unset: { command: 'x', env: { A: '${NOT_SET}' } } }),
      pending: { path: '/p/toolscout.json', state: 'changed', isCode: false, hash: 'abcdef0123456789', servers: ['b'] },
      keptSources: [{ path: '/home/mcp.json', message: `ends within ${SECRET}` }],
    };
    const gateway = await open({
      loaded: { ...loaded, warnings: [...loaded.warnings, { path: 'a.b', message: `${SECRET} is not used` }] },
    });
    const { attention } = await gateway.studio.overview();
    const of = (kind: string) => attention.filter((each) => each.kind === kind);
    expect(of('config-pending')).toMatchObject([
      {
        severity: 'warning',
        detail: expect.stringContaining('it changed since you approved it') as string,
        remedy: { kind: 'configure', what: expect.stringContaining('--hash abcdef012345') as string },
      },
    ]);
    expect(of('source-kept')).toMatchObject([
      { title: '/home/mcp.json cannot be read', remedy: { kind: 'check-config' } },
    ]);
    expect(of('config').map(({ title }) => title)).toEqual(['Config: a.b']);
    expect(of('server-unusable').map(({ server }) => server)).toEqual(['unset']);
    expect(JSON.stringify(attention)).not.toContain(SECRET);
    expect((await limitedTo(gateway, 'unset').studio.overview()).attention.map(({ kind }) => kind)).toEqual([
      'server-unusable',
    ]);
  });

  it('STUDIO-1 a server that asks for a sign-in differs from one that does not answer; the most severe is first', async () => {
    const gateway = await open({
      clock: systemClock,
      loaded: load({
        lost: { command: 'x', retry: { maxRetries: 0 } },
        signed: { command: 'y', env: { KEY: '${SECRET}' }, retry: { maxRetries: 0 } },
      }),
      connect: ({ id }) =>
        Promise.reject(
          id === 'signed'
            ? new ToolscoutError('AUTHENTICATION_FAILED', `${SECRET} is refused.`, {
                remedy: { kind: 'sign-in', server: id },
                delivered: false,
              })
            : new ToolscoutError('SERVER_CONNECTION_ERROR', 'It is gone.', { delivered: false }),
        ),
    });
    await gateway.servers.discover(['signed']);
    const { attention } = await gateway.studio.overview();
    expect(attention).toMatchObject([
      {
        kind: 'sign-in',
        severity: 'warning',
        server: 'signed',
        title: '"signed" asks you to sign in',
        remedy: { kind: 'sign-in', server: 'signed' },
        action: { method: 'POST', path: '/v1/servers/signed/sign-in' },
      },
    ]);
    expect(JSON.stringify(attention)).not.toContain(SECRET);
    await gateway.servers.discover();
    const both = (await gateway.studio.overview()).attention;
    expect(both.map(({ kind, severity }) => [kind, severity])).toEqual([
      ['server-failed', 'severe'],
      ['sign-in', 'warning'],
    ]);
    expect(await gateway.studio.server('signed')).toMatchObject({
      lastError: { code: 'AUTHENTICATION_FAILED', at: expect.any(Number) as number, remedy: { kind: 'sign-in' } },
    });
  });

  it('STUDIO-1 requests of one server are one line with the highest risk, for viewers of the server', async () => {
    const servers = { one: { command: 'x' }, two: { command: 'y' } };
    const loaded = resolveConfig({ servers, approval: 'manual' }, { source: 'library', env: {} });
    const gateway = await open({ loaded, isKnown: true });
    await gateway.ready();
    const waiting = (await gateway.studio.overview()).attention;
    expect(waiting.map(({ kind, server }) => `${kind} ${server}`)).toEqual(['approval one', 'approval two']);
    for (const { title, detail, remedy } of waiting) {
      expect(title).toMatch(/waits? for approval$/);
      expect(detail).toMatch(/^Highest risk: (low|medium|high|critical)( \([^()]+\))?\.$/);
      expect(remedy.kind).toBe('review');
    }
    expect((await limitedTo(gateway, 'two').studio.overview()).attention.map(({ server }) => server)).toEqual(['two']);
  });

  it('STUDIO-1 CONN-3 a known server whose calls failed is left alone for a moment, with its last error', async () => {
    const gateway = await open({ loaded: load({ one: { command: 'x', cwd: '/work-folder' } }), isKnown: true });
    expect((await gateway.studio.overview()).attention).toEqual([]);
    expect(await gateway.studio.server('one')).not.toHaveProperty('lastError');
    await gateway.servers.connect('one').catch(() => undefined);
    expect((await gateway.studio.overview()).attention).toMatchObject([
      {
        kind: 'server-resting',
        severity: 'warning',
        title: '"one" failed and is left alone for a moment',
        detail: expect.stringContaining('gone') as string,
        remedy: { kind: 'diagnose' },
        action: { method: 'POST', path: '/v1/servers/one/connect' },
      },
    ]);
    expect(await gateway.studio.server('one')).toMatchObject({
      cwd: '/work-folder',
      lastError: { code: 'SERVER_CONNECTION_ERROR', message: expect.stringContaining('gone') as string },
      tools: { total: 1, enabled: 1 },
    });
    expect(await limitedTo(gateway, 'one').studio.server('one')).not.toHaveProperty('signIn');
  });
});

describe('a server that was stopped', () => {
  it('STUDIO-1 CONN-3 starts again at the next call, and Home says so', async () => {
    const gateway = await open({
      loaded: load({ one: { command: 'x' } }),
      isKnown: true,
      breakerFailures: 3,
    });
    await gateway.servers.connect('one').catch(() => undefined);
    expect((await gateway.studio.overview()).attention).toMatchObject([
      {
        kind: 'server-resting',
        title: '"one" has stopped',
        detail: expect.stringMatching(/gone\. It starts again at the next call\.$/) as string,
      },
    ]);
  });
});

describe('the hours of an overview', () => {
  it('STUDIO-1 SEC-11 has calls of the last day alone, those that wait apart from those that failed; other records and older hours are left out', () => {
    const now = Date.UTC(2026, 0, 2, 10, 30);
    const sum = (kind: 'execution' | 'menu', hour: string, failed = 0, waiting = 0) => ({
      kind,
      hour,
      records: 2,
      failed,
      waiting,
      tokens: { arguments: 0, returned: 0, withheld: 0 },
    });
    const hours = hoursOf(
      [
        sum('execution', '2026-01-02T10', 1),
        sum('execution', '2026-01-02T10', 0, 1),
        sum('menu', '2026-01-02T10'),
        sum('execution', '2026-01-01T10'),
        sum('execution', '2026-01-01T11'),
      ],
      now,
    );
    expect(hours).toHaveLength(24);
    expect(hours.at(-1)).toEqual({ at: Date.UTC(2026, 0, 2, 10), calls: 4, failed: 1, waiting: 1 });
    expect(hours[0]).toEqual({ at: Date.UTC(2026, 0, 1, 11), calls: 2, failed: 0, waiting: 0 });
    expect(hours.reduce((all, { calls }) => all + calls, 0)).toBe(6);
  });
});
