import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, startHttpFixture, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { openToolscout, startCounter, textOf } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

describe('learning servers', STARTS_PROCESSES, () => {
  it('DISC-1 malformed tools are dropped and named, the others are kept and can be called', async () => {
    const gateway = await openToolscout({ servers: { bad: fixture('malformed') } });
    const [outcome] = await gateway.servers.discover();
    expect(outcome).toMatchObject({ server: 'bad', ok: true });
    if (!outcome?.ok) throw new Error('unreachable');
    expect(outcome.dropped.length).toBeGreaterThanOrEqual(8);
    for (const { index, reason } of outcome.dropped) {
      expect(Number.isInteger(index)).toBe(true);
      expect(reason).not.toBe('');
    }
    expect(outcome.dropped.map(({ name }) => name)).toEqual(expect.arrayContaining(['big', 'deep', 'schema_is_text']));
    const names = (await gateway.tools.list('bad')).map((tool) => tool.name);
    expect(names).toEqual(expect.arrayContaining(['echo', 'first_good', 'second_good', 'last_good', '__proto__']));
    expect(outcome.tools).toBe(names.length);
    expect(await gateway.servers.list()).toMatchObject([{ tools: names.length, droppedTools: outcome.dropped.length }]);
    expect(textOf(await gateway.call('bad', 'last_good', {}))).toBe('last_good was called');
    expect(await gateway.why('bad', 'deep')).toMatchObject({
      because: 'malformed',
      reason: expect.stringContaining('is left out: it nests deeper than 64 levels') as string,
    });
    expect((await gateway.why('bad', 'nothing')).reason).toMatch(/malformed entries of its list were dropped/);
    expect(await gateway.why('bad', 'description_is_object')).toMatchObject({
      offered: true,
      repairs: ['description removed: expected a string, found an object'],
      reason: expect.stringContaining('shown it repaired: description removed') as string,
    });
    expect(({} as Record<string, unknown>)['description']).toBeUndefined();
  });

  it.each([['--error'], ['--garbage']])('DISC-1 DISC-3 a server whose list is %s fails by itself', async (flag) => {
    const gateway = await openToolscout({ servers: { bad: fixture('malformed', flag), old: fixture('legacy') } });
    const [bad, old] = await gateway.servers.discover();
    expect(bad).toMatchObject({ server: 'bad', ok: false, error: { name: 'ToolscoutError' } });
    expect(old).toMatchObject({ server: 'old', ok: true, tools: 9 });
    const failure = await gateway.call('bad', 'echo', { message: 'x' });
    expect(failure).toMatchObject({ success: false, error: { server: 'bad', tool: 'echo' } });
    expect(failure.error?.message).toContain('Cannot list the tools of');
    await expect(gateway.tools.list('bad')).rejects.toMatchObject({ name: 'ToolscoutError' });
  });

  it('DISC-1 an empty list is a list', async () => {
    const gateway = await openToolscout({ servers: { none: fixture('malformed', '--empty') } });
    expect(await gateway.servers.discover()).toMatchObject([{ ok: true, tools: 0, dropped: [] }]);
    expect(await gateway.tools.list('none')).toEqual([]);
    expect(await gateway.servers.list()).toMatchObject([{ knowledge: 'ready', tools: 0 }]);
  });

  it.each([[[]], [['--repeat']]])('A28 DISC-1 a list without end is cut, and the outcome says so %j', async (flags) => {
    const gateway = await openToolscout({ servers: { endless: fixture('endless', ...flags) } });
    const [outcome] = await gateway.servers.discover();
    expect(outcome).toMatchObject({ ok: true, truncated: expect.any(String) as string });
    const tools = await gateway.tools.list('endless');
    expect(tools.length).toBeGreaterThan(0);
    expect(tools.length).toBeLessThanOrEqual(100);
  });

  it('DISC-3 servers that cannot be reached, crash or hang neither fail nor delay the others', async () => {
    const gateway = await openToolscout({
      servers: {
        absent: { command: '/no/such/program' },
        crash: { command: process.execPath, args: ['-e', 'process.stderr.write("no licence"); process.exit(3)'] },
        hung: { ...fixture('slow', '--hang'), connectTimeoutMs: 1500 },
        nowhere: { url: 'http://127.0.0.1:9/mcp' },
        old: fixture('legacy'),
        modern: fixture('modern'),
      },
      maxParallelDiscoveries: 2,
    });
    const seen: string[] = [];
    const outcomes = await gateway.servers.discover(undefined, {
      onProgress: ({ done, total, server, ok }) => {
        expect(total).toBe(6);
        expect(done).toBe(seen.length + 1);
        seen.push(`${server} ${ok ? 'ok' : 'failed'}`);
      },
    });
    expect(outcomes.map(({ server, ok }) => `${server} ${ok ? 'ok' : 'failed'}`)).toEqual([
      'absent failed',
      'crash failed',
      'hung failed',
      'nowhere failed',
      'old ok',
      'modern ok',
    ]);
    expect(seen.toSorted()).toEqual(outcomes.map(({ server, ok }) => `${server} ${ok ? 'ok' : 'failed'}`).toSorted());
    for (const outcome of outcomes) if (!outcome.ok) expect(outcome.error.code).not.toBe('INTERNAL_ERROR');

    const views = new Map((await gateway.servers.list()).map((view) => [view.id, view]));
    for (const id of ['absent', 'crash', 'hung', 'nowhere']) {
      expect(views.get(id)).toMatchObject({ knowledge: 'failed', problem: expect.any(String) as string });
    }
    const answer = await gateway.search('add two numbers');
    expect(answer.hits.map((hit) => hit.server)).toEqual(expect.arrayContaining(['old', 'modern']));
    expect(answer.unavailable.map(({ server }) => server).toSorted()).toEqual(['absent', 'crash', 'hung', 'nowhere']);
    for (const { reason } of answer.unavailable) expect(reason).not.toBe('not learned yet');
  });

  it('DISC-3 META-4 learning an unknown server names the nearest; only the unknown ones are learned when asked', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy'), modern: fixture('modern') } });
    await expect(gateway.servers.discover(['odl'])).rejects.toMatchObject({
      code: 'SERVER_NOT_FOUND',
      message: expect.stringContaining('"old"') as string,
    });
    await gateway.servers.discover(['old']);
    expect((await gateway.servers.discover(undefined, { onlyUnknown: true })).map(({ server }) => server)).toEqual([
      'modern',
    ]);
  });

  it('CONN-1 DISC-1 remote servers of both kinds are learned and called', async () => {
    const [http, sse] = await Promise.all([startHttpFixture('http'), startHttpFixture('sse')]);
    onTestFinished(async () => void (await Promise.all([http.stop(), sse.stop()])));
    const gateway = await openToolscout({ servers: { web: { url: http.url }, past: { type: 'sse', url: sse.url } } });
    expect((await gateway.servers.discover()).every(({ ok }) => ok)).toBe(true);
    for (const server of ['web', 'past']) {
      expect(await gateway.call(server, 'add', { a: 1, b: 1 })).toMatchObject({
        success: true,
        result: { structuredContent: { sum: 2 } },
      });
    }
  });

  it('DISC-4 FIND-3 a tool that a server announces becomes searchable by itself', async () => {
    const gateway = await openToolscout({ servers: { lively: fixture('modern') } });
    await gateway.servers.discover();
    expect((await gateway.search('extra_4')).hits.map((hit) => hit.tool)).not.toContain('extra_4');
    await gateway.call('lively', 'announce', {});
    await waitUntil(async () => (await gateway.tools.list('lively')).some((tool) => tool.name === 'extra_4'), {
      what: 'the announced tool',
    });
    expect((await gateway.search('extra_4')).hits[0]).toMatchObject({ server: 'lively', tool: 'extra_4' });
    expect(textOf(await gateway.call('lively', 'extra_4', { message: 'new' }))).toBe('new');
  });

  it('DISC-4 EXEC-1 a list that was stored too long ago is served, and asked for anew once the server is connected', async () => {
    const stateDir = await temporaryDirectory();
    const config = { servers: { brief: fixture('modern', '--ttl=1') } };
    const first = await openToolscout(config, { stateDir });
    await first.servers.discover();
    await first.close();

    const gateway = await openToolscout(config, { stateDir });
    const learned: string[] = [];
    gateway.onEvent((event) => {
      if (event.type === 'learned') learned.push(event.server);
    });
    expect(await gateway.servers.list()).toMatchObject([{ knowledge: 'stale' }]);
    expect((await gateway.search('echo')).hits[0]).toMatchObject({ server: 'brief', tool: 'echo' });
    expect((await gateway.why('brief', 'echo')).reason).toContain('the next search reads it again');
    expect(learned).toEqual([]);
    await gateway.call('brief', 'echo', { message: 'x' });
    await waitUntil(() => learned.length > 0, { what: 'a new list' });
  });

  it('DISC-4 a list goes stale while the gateway runs, not only at its next start', async () => {
    const gateway = await openToolscout({ servers: { brief: fixture('modern', '--ttl=1') } });
    await gateway.servers.discover();
    await waitUntil(async () => (await gateway.servers.list())[0]?.knowledge === 'stale', {
      timeoutMs: 1000,
      what: 'a list that may be kept for 1 ms to go stale',
    });
  });

  it('CONN-5 what happens is told to those who listen, and no longer once they have left', async () => {
    const gateway = await openToolscout({
      servers: { old: fixture('legacy'), absent: { command: '/no/such/program' } },
    });
    const events: string[] = [];
    const stop = gateway.onEvent((event) => events.push(`${event.type} ${'server' in event ? event.server : ''}`));
    gateway.onEvent(() => {
      throw new Error('a bad listener');
    });
    await gateway.servers.discover();
    expect(events).toEqual(expect.arrayContaining(['state old', 'learned old', 'learn-failed absent']));
    stop();
    const heard = events.length;
    await gateway.servers.discover(['old']);
    expect(events).toHaveLength(heard);
  });

  it('DISC-1 one server is learned anew, or from the cache when that is wanted', async () => {
    const starts = await startCounter();
    const gateway = await openToolscout({
      servers: { old: fixture('legacy', starts.flag), off: { command: 'x', enabled: false } },
    });
    const learned: string[] = [];
    gateway.onEvent((event) => {
      if (event.type === 'learned') learned.push(event.server);
    });
    expect(await gateway.servers.discoverTools('old', { useCache: true })).toHaveLength(9);
    expect(await gateway.servers.discoverTools('old', { useCache: true })).toHaveLength(9);
    expect(learned).toEqual(['old']);
    await gateway.servers.discoverTools('old');
    expect(learned).toEqual(['old', 'old']);
    await expect(gateway.servers.discoverTools('off')).rejects.toMatchObject({ code: 'SERVER_CONNECTION_ERROR' });
    await expect(gateway.servers.discoverTools('odl')).rejects.toMatchObject({ code: 'SERVER_NOT_FOUND' });
  });

  it('DISC-1 resources, templates and prompts of a real server are listed; a server without any has none', async () => {
    const everything = fileURLToPath(
      new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
    );
    const gateway = await openToolscout({
      servers: {
        all: { command: process.execPath, args: [everything, 'stdio'] },
        old: fixture('legacy'),
        absent: { command: '/no/such/program' },
      },
    });
    const { resources, templates } = await gateway.servers.discoverResources('all');
    expect(resources.length).toBeGreaterThan(0);
    expect(templates.length).toBeGreaterThan(0);
    expect((await gateway.servers.discoverPrompts('all')).length).toBeGreaterThan(0);
    expect(await gateway.servers.discoverResources('old')).toEqual({ resources: [], templates: [] });
    expect(await gateway.servers.discoverPrompts('old')).toEqual([]);
    await expect(gateway.servers.discoverPrompts('absent')).rejects.toMatchObject({ code: 'SERVER_CONNECTION_ERROR' });
  });
});
