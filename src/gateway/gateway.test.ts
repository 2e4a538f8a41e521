import { describe, expect, it, onTestFinished } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { waitUntil } from '../../test/support/fixture.js';
import { createAudit } from '../audit/index.js';
import { resolveConfig, type LoadedConfig } from '../config/index.js';
import { createPool } from '../connect/index.js';
import { createToolCache } from '../discover/index.js';
import { systemClock, type Clock } from '../kernel/clock.js';
import { ToolscoutError } from '../kernel/errors.js';
import type { JsonObject } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import { createSecretMask } from '../kernel/secrets.js';
import type { ConfigInput } from '../model/config.js';
import type { Server } from '../model/server.js';
import type { Store } from '../model/store.js';
import type { Upstream, UpstreamNotification } from '../model/upstream.js';
import { createRedaction } from '../redact/index.js';
import { createMemoryStore } from '../store/index.js';
import { createGateway, viewerOf, type Gateway } from './index.js';

const load = (config: ConfigInput): LoadedConfig =>
  resolveConfig(config, { source: 'library', env: { SECRET: 'canary-7f3d9a' } });

/** Connects to a server; by default no server can be reached. */
type Connect = (server: Server) => Promise<Upstream>;
const unreachable: Connect = () =>
  Promise.reject(new ToolscoutError('SERVER_CONNECTION_ERROR', 'It said canary-7f3d9a.', { delivered: false }));

/** A gateway of real parts over a config, a store, a clock and connections that the test holds. */
function open(parts: {
  readonly loaded: LoadedConfig;
  readonly loadConfig?: () => Promise<LoadedConfig>;
  readonly store?: Store;
  readonly clock?: Clock;
  readonly connect?: Connect;
  readonly learnAtStart?: boolean;
}): { gateway: Gateway; logged: string[] } {
  const { clock = systemClock, connect = unreachable } = parts;
  const logged: string[] = [];
  const note = (event: string, fields: object = {}): void => void logged.push(`${event} ${JSON.stringify(fields)}`);
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const store = parts.store ?? createMemoryStore({ clock });
  const mask = createSecretMask();
  const redaction = createRedaction({ hide: (text) => mask.hide(text) });
  const pool = createPool({
    clock,
    log,
    hide: (text) => mask.hide(text),
    healthIntervalMs: 0,
    breaker: { failures: 5, resetMs: 1000 },
    open: connect,
  });
  const gateway = createGateway({
    loaded: parts.loaded,
    loadConfig: parts.loadConfig ?? (async () => parts.loaded),
    store,
    clock,
    log,
    mask,
    redaction,
    random: () => 0.5,
    pool,
    cache: createToolCache({ store, clock, log, ttlMs: 86_400_000 }),
    audit: createAudit({ store, clock, log, redact: redaction.stored }),
    learnAtStart: parts.learnAtStart ?? false,
  });
  onTestFinished(() => gateway.close({ drainMs: 0 }));
  return { gateway, logged };
}

/** Ends one `tools/list`: with tools, or with the reason why there are none. */
type Answer = (answer: JsonObject[] | ToolscoutError) => void;

/** A server in this process that answers `tools/list` when the test says so. */
function fakeUpstream(
  server: string,
  era: Upstream['era'] = 'legacy',
): { upstream: Upstream; lists: Answer[]; announce(): void } {
  const lists: Answer[] = [];
  const listeners = new Set<(notification: UpstreamNotification) => void>();
  const upstream: Upstream = {
    server,
    era,
    protocolVersion: '2025-06-18',
    info: { name: server, version: '1' },
    capabilities: { tools: { listChanged: true } },
    closed: false,
    request: (method) =>
      method === 'tools/list'
        ? new Promise((resolve, reject) =>
            lists.push((answer) => (answer instanceof Error ? reject(answer) : resolve({ tools: answer }))),
          )
        : Promise.resolve({ content: [] }),
    tell: () => undefined,
    ping: () => Promise.resolve(),
    onNotification: (listener) => (listeners.add(listener), () => listeners.delete(listener)),
    onClose: () => () => undefined,
    close: () => Promise.resolve(),
  };
  const announce = (): void =>
    listeners.forEach((listener) => listener({ method: 'notifications/tools/list_changed' }));
  return { upstream, lists, announce };
}

const tool = (name: string): JsonObject => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } });

describe('the audit log of a gateway', () => {
  it('CFG-5 logs settings without effect at start, and after a reload only new ones', async () => {
    const warned = {
      ...resolveConfig({}, { source: 'test', env: {} }),
      warnings: [{ path: 'a.b', message: 'x is not used' }],
    };
    const more = { ...warned, hash: 'other', warnings: [...warned.warnings, { path: 'c', message: 'y is not used' }] };
    const { gateway, logged } = open({ loaded: warned, loadConfig: async () => more });
    const warnings = (): string[] => logged.filter((line) => line.startsWith('config.warning'));
    expect(warnings()).toEqual(['config.warning {"path":"a.b","message":"x is not used"}']);
    await gateway.reload();
    expect(warnings().slice(1)).toEqual(['config.warning {"path":"c","message":"y is not used"}']);
    await gateway.close();
  });

  it('EXEC-5 CFG-6 a reload that failed is recorded with its principal and the reason, without a secret', async () => {
    const loaded = load({ servers: { a: { command: 'x', env: { KEY: '${SECRET}' } } } });
    const problems = [{ path: 'servers.a', message: 'is canary-7f3d9a' }];
    const { gateway } = open({
      loaded,
      loadConfig: () =>
        Promise.reject(new ToolscoutError('CONFIGURATION_ERROR', 'No: canary-7f3d9a is no port.', { problems })),
    });
    await expect(gateway.reload({ by: 'root' })).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
    const records = await gateway.audit.list({ kind: 'reload' });
    expect(records).toMatchObject([
      {
        principal: 'root',
        outcome: 'failure',
        code: 'CONFIGURATION_ERROR',
        detail: { reason: expect.stringContaining('is no port') as string },
      },
    ]);
    expect(JSON.stringify(records)).not.toContain('canary');
  });

  it('EXEC-5 CFG-6 a log that cannot be written does not hide why a reload failed', async () => {
    const store = createMemoryStore({ clock: systemClock });
    const append = (): Promise<void> => Promise.reject(new Error('the disk is full'));
    const { gateway, logged } = open({
      loaded: load({}),
      store: { ...store, append },
      loadConfig: () => Promise.reject(new ToolscoutError('CONFIGURATION_ERROR', 'No.')),
    });
    await expect(gateway.reload()).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR', message: 'No.' });
    expect(logged.some((line) => line.startsWith('audit.unrecorded'))).toBe(true);
  });

  it('EXEC-5 forgets what is too old every day and after a reload, not only at the start', async () => {
    const clock = createFakeClock();
    const day = 86_400_000;
    let loaded = load({ limits: { auditRetentionMs: 864_000_000 } });
    const { gateway } = open({ loaded, loadConfig: async () => loaded, clock });
    await gateway.ready();
    await gateway.tools.clearCache();
    const kept = async (): Promise<number> => (await gateway.audit.list({ kind: 'cache-clear' })).length;
    await clock.advance(9.5 * day);
    expect(await kept()).toBe(1);
    await clock.advance(2 * day);
    expect(await kept()).toBe(0);
    await gateway.tools.clearCache();
    await clock.advance(3.2 * day);
    expect(await kept()).toBe(1);
    loaded = load({ limits: { auditRetentionMs: 259_200_000 } });
    await gateway.reload();
    await clock.advance(1);
    expect(await kept()).toBe(0);
    await gateway.close();
    expect(clock.waiting).toBe(0);
  });
});

describe('the gateway', () => {
  it('EXEC-3 what a gateway or caller cannot discover or register is refused with the advice that helps', async () => {
    const { gateway } = open({ loaded: load({}) });
    const target = { name: 'other', command: 'never-started' };
    await expect(gateway.servers.discoverTools(target)).rejects.toMatchObject({
      message: 'This gateway discovers configured servers only.',
      suggestion: 'Add the server to the config.',
    });
    await expect(gateway.servers.introspect({ url: 'https://tools.example/mcp' })).rejects.toMatchObject({
      message: 'This gateway does not accept server proposals.',
      suggestion: 'Add the server to the config.',
    });
    const limited = gateway.as(viewerOf({ name: 'ann', scopes: new Set(['call']), servers: new Set(['a']) }));
    await expect(limited.servers.discoverTools(target)).rejects.toMatchObject({
      message: 'This caller may discover configured servers only.',
      suggestion: 'Name the server by its id.',
    });
  });

  it('EXEC-3 without a config file or a way to open connections it says what to start or create it with', async () => {
    const { gateway } = open({ loaded: load({ servers: { h: { url: 'https://example.com/mcp' } } }) });
    await expect(gateway.servers.add('b', { command: 'x' })).rejects.toMatchObject({
      code: 'CONFIGURATION_ERROR',
      suggestion: 'Start it with --config FILE; toolscout init writes one.',
    });
    await expect(gateway.servers.discoverTools('h', { authHeaders: { a: 'b' } })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: 'This gateway was created without a way to open connections.',
      suggestion: 'Open toolscout with createToolscout(); with createGateway(), set deps.openSession.',
    });
  });

  it('CFG-6 of two reloads at once the last requested one wins, whichever reads faster', async () => {
    const releases: Array<() => void> = [];
    const configs = [load({ servers: { older: { command: 'x' } } }), load({ servers: { newer: { command: 'x' } } })];
    const { gateway } = open({
      loaded: load({ servers: {} }),
      loadConfig: () => {
        const config = configs.shift()!;
        return new Promise((resolve) => releases.push(() => resolve(config)));
      },
    });
    await gateway.ready();
    const both = Promise.all([gateway.reload(), gateway.reload()]);
    // The second file is read at once, the first one slowly.
    await new Promise((resolve) => setImmediate(resolve));
    releases[1]?.();
    await new Promise((resolve) => setImmediate(resolve));
    releases[0]?.();
    await waitUntil(() => releases.length === 2, { what: 'both readings' });
    releases[1]?.();
    await both;
    expect(gateway.internal.loaded().servers.map(({ id }) => id)).toEqual(['newer']);
    expect((await gateway.servers.list()).map(({ id }) => id)).toEqual(['newer']);
  });

  it('CFG-6 a failed reload reports why, without secrets, and the next one works', async () => {
    const answers = [
      Promise.reject(new Error('bad value canary-7f3d9a')),
      Promise.resolve(load({ servers: { b: { command: 'x' } } })),
    ];
    answers[0]!.catch(() => undefined);
    const { gateway, logged } = open({
      loaded: load({ servers: { a: { command: 'x', env: { KEY: '${SECRET}' } } } }),
      loadConfig: () => answers.shift()!,
    });
    const events: string[] = [];
    gateway.onEvent((event) => events.push(JSON.stringify(event)));
    await expect(gateway.reload()).rejects.toThrow('bad value');
    expect(events.join()).toContain('reload-failed');
    expect(events.join() + logged.join()).not.toContain('canary-7f3d9a');
    expect(await gateway.reload()).toMatchObject({ added: ['b'], removed: ['a'] });
  });

  it('R9 STORE-1 a store that cannot be read is logged; the gateway serves what it can learn', async () => {
    const store: Store = {
      ...createMemoryStore({ clock: systemClock }),
      list: () => Promise.reject(new Error('disk on fire')),
      pruneAudit: () => Promise.reject(new Error('disk on fire')),
    };
    const { gateway, logged } = open({ loaded: load({ servers: { a: { command: 'x' } } }), store });
    await gateway.ready();
    expect(await gateway.servers.list()).toMatchObject([{ id: 'a', knowledge: 'unknown' }]);
    expect(logged.join('\n')).toContain('disk on fire');
  });

  it('A33 CFG-4 what a server said when it failed is shown without secrets by every verb', async () => {
    const { gateway, logged } = open({
      loaded: load({ servers: { a: { command: 'x', env: { KEY: '${SECRET}' } } }, retryPolicy: { maxRetries: 0 } }),
    });
    const said: unknown[] = [];
    gateway.onEvent((event) => said.push(event));
    const message = (thrown: unknown): string => (thrown as Error).message;
    const [outcome] = await gateway.servers.discover();
    said.push(outcome && !outcome.ok && message(outcome.error));
    said.push(await gateway.tools.list('a').catch(message), await gateway.details('a', 'x').catch(message));
    said.push(await gateway.call('a', 'x', {}), await gateway.why('a', 'x'), await gateway.search('x'));
    said.push(await gateway.servers.list(), await gateway.reports.doctor(), await gateway.audit.list());
    for await (const event of gateway.stream('a', 'x', {})) said.push(event);
    expect(JSON.stringify(said)).toContain('It said ***');
    expect(JSON.stringify(said) + logged.join()).not.toContain('canary-7f3d9a');
  });

  it('EXEC-5 records older than the configuration allows are forgotten at the start', async () => {
    const store = createMemoryStore({ clock: systemClock });
    const day = 86_400_000;
    const record = (id: string, age: number): object => ({
      id,
      time: systemClock.now() - age,
      kind: 'execution',
      principal: 'x',
      outcome: 'success',
    });
    await store.append([record('old', 91 * day), record('young', 89 * day)] as never);
    const { gateway } = open({ loaded: load({}), store });
    await gateway.ready();
    await waitUntil(async () => (await gateway.audit.list()).length === 1, { what: 'the old record to go' });
    expect(await gateway.audit.list()).toMatchObject([{ id: 'young' }]);
  });

  it('CFG-6 R9 a reload either applies the new state or keeps the old one, and its report says which', async () => {
    const memory = createMemoryStore({ clock: systemClock });
    const store: Store = { ...memory, append: () => Promise.reject(new Error('the disk is full')) };
    const { gateway } = open({
      loaded: load({ servers: { old: { command: 'x' } } }),
      loadConfig: async () => load({ servers: { next: { command: 'x' } } }),
      store,
    });
    await gateway.ready();
    const taken = await gateway.reload().then(
      () => true,
      () => false,
    );
    expect(gateway.internal.loaded().servers.map(({ id }) => id)).toEqual([taken ? 'next' : 'old']);
  });

  it('CONN-3 FIND-5 a server that could not be reached is tried again later, without being named', async () => {
    const clock = createFakeClock();
    let attempts = 0;
    const connect: Connect = (server) => {
      attempts++;
      return unreachable(server);
    };
    const config = { servers: { late: { command: 'x' } }, retryPolicy: { maxRetries: 0, initialDelayMs: 10 } };
    const { gateway } = open({ loaded: load(config), clock, connect });
    const search = async (): Promise<void> => {
      const answer = gateway.search('anything');
      await clock.advance(2000);
      expect((await answer).hits).toEqual([]);
    };
    await search();
    expect(attempts).toBe(1);
    for (let hour = 0; hour < 3; hour++) {
      await clock.advance(3_600_000);
      await search();
    }
    expect(attempts).toBeGreaterThan(1);
  });

  it('DISC-4 a list that is announced as changed while it is being read is read once more', async () => {
    const clock = createFakeClock();
    const { upstream, lists, announce } = fakeUpstream('lively');
    const { gateway } = open({
      loaded: load({ servers: { lively: { command: 'x' } } }),
      clock,
      connect: async () => upstream,
    });
    const learning = gateway.servers.discover();
    await clock.advance(10);
    expect(lists).toHaveLength(1);
    announce();
    await clock.advance(1000);
    lists[0]!([tool('before')]);
    await learning;
    await clock.advance(1000);
    expect(lists).toHaveLength(2);
    lists[1]!([tool('after')]);
    await clock.advance(10);
    expect((await gateway.tools.list('lively')).map(({ name }) => name)).toEqual(['after']);
  });

  it('DISC-4 A28 a server that announces changes without end is asked now and then, not never and not always', async () => {
    const clock = createFakeClock();
    const { upstream, lists, announce } = fakeUpstream('chatty');
    const { gateway } = open({
      loaded: load({ servers: { chatty: { command: 'x' } } }),
      clock,
      connect: async () => upstream,
    });
    const learning = gateway.servers.discover();
    await clock.advance(10);
    lists[0]!([tool('one')]);
    await learning;
    for (let time = 0; time < 10_000; time += 100) {
      announce();
      await clock.advance(100);
      lists.at(-1)!([tool('one')]);
    }
    expect(lists.length).toBeGreaterThan(1);
    expect(lists.length).toBeLessThan(50);
  });

  describe('a list that is out of date', () => {
    const config: ConfigInput = { servers: { lively: { command: 'x' } }, retryPolicy: { maxRetries: 0 } };
    const refused = new ToolscoutError('TOOLS_LIST_FAILED', 'Not now.');

    /** A gateway with one learned list of a connected server that does what the test says. */
    async function known(settings: ConfigInput = {}, era?: Upstream['era']) {
      const clock = createFakeClock();
      // It outlives the gateway, as a file does.
      const store: Store = { ...createMemoryStore({ clock }), close: () => Promise.resolve() };
      const server = fakeUpstream('lively', era);
      const parts = { loaded: load({ ...config, ...settings }), clock, store, connect: async () => server.upstream };
      const { gateway } = open(parts);
      const learning = gateway.servers.discover();
      await clock.advance(10);
      server.lists[0]!([tool('before')]);
      await learning;
      const names = async (): Promise<string[]> => (await gateway.tools.list('lively')).map(({ name }) => name);
      const knowledge = async (): Promise<string | undefined> => (await gateway.servers.list())[0]?.knowledge;
      /** Answers whatever was asked last, when something new was asked. */
      const answerLast = async (asked: number, answer: JsonObject[] | ToolscoutError): Promise<void> => {
        expect(server.lists).toHaveLength(asked);
        server.lists[asked - 1]!(answer);
        await clock.advance(10);
      };
      return { ...server, clock, store, parts, gateway, names, knowledge, answerLast };
    }

    it('DISC-4 FIND-5 an announced change is not forgotten when the list is refused: it is stale, and asked for again', async () => {
      const { clock, gateway, announce, answerLast, knowledge, names } = await known();
      expect(await knowledge()).toBe('ready');
      announce();
      await clock.advance(300);
      await answerLast(2, refused);
      expect(await knowledge()).toBe('stale');
      expect((await gateway.why('lively', 'before')).reason).toContain('the next search reads it again');
      await clock.advance(60_000);
      await answerLast(3, [tool('after')]);
      expect(await knowledge()).toBe('ready');
      expect(await names()).toEqual(['after']);
    });

    it('DISC-4 A28 a server that keeps refusing is retried at growing intervals, then only on demand', async () => {
      const { clock, gateway, announce, lists } = await known();
      announce();
      const moments: number[] = [];
      for (let seen = 1, second = 0; second < 3600; second++) {
        await clock.advance(1000);
        if (lists.length === seen) continue;
        seen = lists.length;
        moments.push(second);
        lists.at(-1)!(refused);
      }
      const rests = moments.slice(1).map((moment, index) => moment - moments[index]!);
      expect(rests.length).toBeGreaterThan(2);
      expect(rests.length).toBeLessThan(10);
      expect(rests).toEqual(rests.toSorted((a, b) => a - b));
      const before = lists.length;
      await gateway.call('lively', 'before', {});
      await clock.advance(1000);
      expect(lists.length).toBe(before + 1);
      lists.at(-1)!([tool('after')]);
      await clock.advance(10);
    });

    it('DISC-4 a change announced while a list is read is not forgotten when the next list is refused', async () => {
      const { clock, gateway, announce, lists, answerLast, knowledge } = await known();
      const learning = gateway.servers.discover();
      await clock.advance(10);
      announce();
      lists[1]!([tool('between')]);
      await learning;
      await clock.advance(300);
      await answerLast(3, refused);
      expect(await knowledge()).toBe('stale');
    });

    it('DISC-4 what was announced and could not be read is learned at the next start', async () => {
      const { clock, gateway, announce, answerLast, parts } = await known();
      announce();
      await clock.advance(300);
      await answerLast(2, refused);
      await gateway.close({ drainMs: 0 });
      const next = fakeUpstream('lively');
      const second = open({ ...parts, connect: async () => next.upstream, learnAtStart: true });
      await second.gateway.ready();
      await clock.advance(10);
      expect(next.lists).toHaveLength(1);
      expect(await second.gateway.servers.list()).toMatchObject([{ knowledge: 'stale', tools: 1 }]);
      next.lists[0]!([tool('after')]);
      await clock.advance(10);
      expect(await second.gateway.servers.list()).toMatchObject([{ knowledge: 'ready', tools: 1 }]);
    });

    it('DISC-1 DISC-4 useCache takes a list that is fresh, and none that is old, cleared or not to be kept', async () => {
      const { clock, gateway, lists, answerLast } = await known();
      const ask = async (answer: JsonObject[]): Promise<string[]> => {
        const before = lists.length;
        const tools = gateway.servers.discoverTools('lively', { useCache: true });
        await clock.advance(10);
        if (lists.length > before) await answerLast(before + 1, answer);
        return (await tools).map(({ name }) => name);
      };
      expect(await ask([tool('unasked')])).toEqual(['before']);
      await gateway.tools.clearCache('lively');
      expect(await ask([tool('cleared')])).toEqual(['cleared']);
      expect(await ask([tool('unasked')])).toEqual(['cleared']);
      await gateway.tools.clearCache();
      expect(await ask([tool('all cleared')])).toEqual(['all cleared']);
      await clock.advance(86_400_000);
      expect(await ask([tool('aged')])).toEqual(['aged']);
      expect(await ask([tool('unasked')])).toEqual(['aged']);

      const uncached = await known({ cache: false });
      const tools = uncached.gateway.servers.discoverTools('lively', { useCache: true });
      await uncached.clock.advance(10);
      await uncached.answerLast(2, [tool('uncached')]);
      expect((await tools).map(({ name }) => name)).toEqual(['uncached']);
    });

    it('DISC-4 many servers are asked from the cache alike: those whose list is good enough are left out', async () => {
      const { clock, gateway, answerLast } = await known();
      expect(await gateway.servers.discover(undefined, { useCache: true })).toEqual([]);
      await gateway.tools.clearCache();
      const outcomes = gateway.servers.discover(undefined, { useCache: true });
      await clock.advance(10);
      await answerLast(2, [tool('after')]);
      expect(await outcomes).toMatchObject([{ server: 'lively', ok: true }]);
    });

    it('DISC-4 CONN-2 a search answers from an old list at once and has it read again behind its back', async () => {
      const { clock, gateway, lists, answerLast, names } = await known();
      const search = async (): Promise<string[]> =>
        (await gateway.search('does')).hits.map((hit) => `${hit.server}:${hit.tool}`);
      await search();
      await clock.advance(300);
      expect(lists).toHaveLength(1);

      await clock.advance(86_500_000);
      expect(await search()).toEqual(['lively:before']);
      await clock.advance(300);
      expect(await search()).toEqual(['lively:before']);
      await answerLast(2, [tool('after')]);
      expect(await names()).toEqual(['after']);
      await search();
      await gateway.tools.clearCache();
      await search();
      await clock.advance(300);
      // It was asked a moment ago; a minute later it may be again.
      expect(lists).toHaveLength(2);
      await clock.advance(60_000);
      await search();
      await clock.advance(300);
      await answerLast(3, refused);
      await clock.advance(30_000);
      await search();
      await clock.advance(300);
      expect(lists).toHaveLength(3);
    });

    it('DISC-4 CONN-2 a server that lets its list be kept for a moment only is not started for every search', async () => {
      const { clock, gateway, lists, answerLast } = await known({}, 'modern');
      for (let minute = 0; minute < 59; minute++) {
        await gateway.search('brief');
        await clock.advance(60_000);
      }
      expect(await gateway.servers.list()).toMatchObject([{ knowledge: 'stale' }]);
      expect(lists).toHaveLength(1);
      await clock.advance(120_000);
      await gateway.search('brief');
      await clock.advance(300);
      await answerLast(2, [tool('after')]);
    });

    it('DISC-4 CONN-2 a search right before close starts no server', async () => {
      const { clock, gateway, lists } = await known();
      await clock.advance(86_500_000);
      await gateway.search('does');
      await gateway.close({ drainMs: 0 });
      await clock.advance(1000);
      expect(lists).toHaveLength(1);
    });
  });
});
