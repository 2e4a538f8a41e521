import { describe, expect, it } from 'vitest';
import { fixture, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { callMetaTool } from '../../src/front/mcp/menu/meta-tools.js';
import { commandLine } from '../support/command-line.js';
import { openToolscout, startCounter, textOf } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

describe('a gateway over a warm store', STARTS_PROCESSES, () => {
  it('CONN-2 DISC-4 a second instance over the same state starts nothing before the first execution', async () => {
    const stateDir = await temporaryDirectory();
    const starts = await startCounter();
    const config = { servers: { old: fixture('legacy', starts.flag) } };
    const first = await openToolscout(config, { stateDir });
    expect(await first.servers.discover()).toMatchObject([{ server: 'old', ok: true, tools: 9, dropped: [] }]);
    await first.close();
    expect(await starts.pids()).toHaveLength(1);

    const second = await openToolscout(config, { stateDir, learnAtStart: true });
    await second.ready();
    expect(second.tools.cacheStats()).toMatchObject({ hits: 1, misses: 0, entries: 1 });
    expect(await second.servers.list()).toMatchObject([
      { id: 'old', knowledge: 'ready', tools: 9, health: { state: 'disconnected' } },
    ]);
    const answer = await second.search('add two numbers');
    expect(answer.hits[0]).toMatchObject({ server: 'old', tool: 'add' });
    expect(answer).toMatchObject({ learning: [], unavailable: [], nearest: [] });
    expect((await second.tools.list('old')).map((tool) => tool.name)).toContain('echo');
    expect((await second.details('old', 'echo')).lean).toMatchObject({ name: 'echo' });
    expect(await second.why('old', 'echo')).toMatchObject({ offered: true });
    expect(second.internal.coverage()).toBe('old');
    await second.internal.settle(1000);
    expect(await starts.pids()).toHaveLength(1);

    expect(textOf(await second.call('old', 'echo', { message: 'hi' }))).toBe('hi');
    expect(await starts.pids()).toHaveLength(2);
  });

  it('DISC-4 two instances over one state at the same time share what either learns', async () => {
    const stateDir = await temporaryDirectory();
    const starts = await startCounter();
    const config = { servers: { old: fixture('legacy', starts.flag) } };
    const one = await openToolscout(config, { stateDir });
    await one.servers.discover();
    const other = await openToolscout(config, { stateDir });
    expect((await other.search('echo')).hits[0]).toMatchObject({ tool: 'echo' });
    expect(await starts.pids()).toHaveLength(1);
  });

  it('DISC-4 a cleared cache is asked for anew by the next instance, and clearing names its server', async () => {
    const stateDir = await temporaryDirectory();
    const starts = await startCounter();
    const config = { servers: { old: fixture('legacy', starts.flag), other: fixture('many') } };
    const first = await openToolscout(config, { stateDir });
    await first.servers.discover();
    await expect(first.tools.clearCache('odl')).rejects.toMatchObject({
      code: 'SERVER_NOT_FOUND',
      message: expect.stringContaining('"old"') as string,
    });
    expect(await first.tools.clearCache('old')).toBe(1);
    await first.close();

    const second = await openToolscout(config, { stateDir });
    expect(await second.servers.list()).toMatchObject([
      { id: 'old', knowledge: 'unknown', tools: 0 },
      { id: 'other', knowledge: 'ready', tools: 1 },
    ]);
    expect(await second.tools.list('old')).toHaveLength(9);
    expect(await starts.pids()).toHaveLength(2);
    expect(await second.tools.clearCache()).toBe(2);
    expect(await second.audit.list({ kind: 'cache-clear' })).toMatchObject([
      { kind: 'cache-clear', outcome: 'success', detail: { cleared: 2 } },
      { kind: 'cache-clear', server: 'old', outcome: 'success', detail: { cleared: 1 } },
    ]);
  });

  it('CONN-1 the era of a server is remembered: a second instance makes no probe', async () => {
    const stateDir = await temporaryDirectory();
    // It dies on any request before initialize, so a probe is seen as one more start.
    const starts = await startCounter();
    const config = { servers: { old: fixture('legacy', '--exit-on-probe', starts.flag) } };
    const first = await openToolscout(config, { stateDir });
    expect(textOf(await first.call('old', 'echo', { message: 'a' }))).toBe('a');
    await first.close();
    const before = (await starts.pids()).length;

    const second = await openToolscout(config, { stateDir });
    expect(textOf(await second.call('old', 'echo', { message: 'b' }))).toBe('b');
    expect(await starts.pids()).toHaveLength(before + 1);
  });

  it('DISC-4 a cache that is switched off is not read: every instance learns for itself', async () => {
    const stateDir = await temporaryDirectory();
    const starts = await startCounter();
    const config = { cache: false, servers: { old: fixture('legacy', starts.flag) } };
    const first = await openToolscout(config, { stateDir });
    await first.servers.discover();
    await first.close();
    const second = await openToolscout(config, { stateDir });
    expect(await second.servers.list()).toMatchObject([{ knowledge: 'unknown' }]);
    expect(await second.tools.list('old')).toHaveLength(9);
    expect(await starts.pids()).toHaveLength(2);
  });
});

describe('a gateway over a cold store', STARTS_PROCESSES, () => {
  it('CONN-2 what was never seen is learned in the background as soon as the gateway starts', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } }, { learnAtStart: true });
    await gateway.ready();
    await waitUntil(async () => (await gateway.servers.list())[0]?.knowledge === 'ready', { what: 'the server' });
  });

  it('CONN-2 a search waits a little for what is being learned', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') }, limits: { searchWaitMs: 20_000 } });
    const answer = await gateway.search('add two numbers');
    expect(answer.hits[0]).toMatchObject({ server: 'old', tool: 'add' });
    expect(answer.learning).toEqual([]);
  });

  it('CONN-2 FIND-5 a search does not wait longer than it may, and names who is still being learned', async () => {
    const gateway = await openToolscout({
      servers: { old: fixture('legacy'), hung: fixture('slow', '--hang') },
      limits: { searchWaitMs: 50 },
    });
    await gateway.servers.discover(['old']);
    const answer = await gateway.search('add two numbers');
    expect(answer.hits[0]).toMatchObject({ server: 'old', tool: 'add' });
    expect(answer.learning).toEqual(['hung']);
    expect(answer.unavailable).toEqual([]);
    expect(await gateway.servers.list()).toMatchObject([{ id: 'hung', knowledge: 'learning' }, { id: 'old' }]);

    // Its patience is used up: the next search does not wait for it again, and does not start it again.
    const again = await gateway.search('add two numbers', { server: 'old' });
    expect(again.learning).toEqual([]);
    expect((await gateway.search('anything at all', { server: 'hung' })).learning).toEqual(['hung']);
  });

  it('CONN-2 a search of one server waits for it even when its turn has not come yet', async () => {
    const gateway = await openToolscout({
      servers: { first: fixture('slow', '--slow-start=700'), second: fixture('legacy') },
      maxParallelDiscoveries: 1,
      limits: { searchWaitMs: 20_000 },
    });
    const all = gateway.servers.discover();
    const answer = await gateway.search('add two numbers', { server: 'second' });
    expect(answer.learning).toEqual([]);
    expect(answer.hits[0]).toMatchObject({ server: 'second', tool: 'add' });
    await all;
  });

  it('CONN-2 EXEC-1 a call to a server never seen before learns it first', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    expect(await gateway.call('old', 'add', { a: 2, b: 3 })).toMatchObject({
      success: true,
      result: { structuredContent: { sum: 5 } },
    });
    expect(await gateway.servers.list()).toMatchObject([{ health: { state: 'connected', era: 'legacy' } }]);
  });

  it('CFG-4 a server whose variable is missing is never started, and says why', async () => {
    const starts = await startCounter();
    const gateway = await openToolscout({
      servers: {
        keyed: { ...fixture('legacy', starts.flag), env: { KEY: '${NO_SUCH_VARIABLE}' } },
        old: fixture('legacy'),
      },
    });
    expect(await gateway.servers.discover()).toMatchObject([{ server: 'old', ok: true }]);
    expect(await gateway.servers.list()).toMatchObject([
      { id: 'keyed', knowledge: 'off', problem: expect.stringContaining('NO_SUCH_VARIABLE') as string },
      { id: 'old' },
    ]);
    expect(await gateway.call('keyed', 'echo', { message: 'x' })).toMatchObject({
      success: false,
      error: {
        code: 'CONFIGURATION_ERROR',
        message: expect.stringMatching(/NO_SUCH_VARIABLE, which is not set\.$/) as string,
        suggestion: 'Set it: toolscout secret set NO_SUCH_VARIABLE',
      },
    });
    expect(gateway.internal.coverage()).toBe('old');
    expect(await starts.pids()).toEqual([]);
  });

  it('CONN-2 META-3 a server that is off is no empty one: lists, details and signatures say what keeps it away', async () => {
    const config = {
      servers: {
        keyed: { ...fixture('legacy'), env: { KEY: '${NO_SUCH_VARIABLE}' } },
        off: { ...fixture('legacy'), enabled: false },
        old: fixture('legacy'),
      },
    };
    const gateway = await openToolscout(config);
    for (const [server, reason, code, exitCode] of [
      ['keyed', 'NO_SUCH_VARIABLE', 'CONFIGURATION_ERROR', 2],
      ['off', 'disabled in the configuration', 'SERVER_CONNECTION_ERROR', 3],
    ] as const) {
      const call = await gateway.call(server, 'echo', { message: 'x' });
      expect(call.error?.message).toContain(reason);
      const refusal = { code, message: call.error?.message };
      await expect(gateway.tools.list(server)).rejects.toMatchObject(refusal);
      await expect(gateway.details(server, 'echo')).rejects.toMatchObject(refusal);
      await expect(gateway.tools.signature(server, 'echo')).rejects.toMatchObject(refusal);
      await expect(gateway.servers.facts(server)).rejects.toMatchObject(refusal);
      const answer = JSON.parse(textOf(await callMetaTool(gateway, 'list_tools', { server }, {})));
      expect(answer).toMatchObject({ ...refusal, server });
      const ran = await commandLine(['tools', server], { gateway: () => openToolscout(config) });
      expect(ran).toMatchObject({ code: exitCode, stdout: '', stderr: expect.stringContaining(reason) as string });
    }
    // Everything else goes on.
    expect((await gateway.search('add two numbers')).hits[0]).toMatchObject({ server: 'old' });
  });

  it('FIND-5 CFG-4 a search names the server that a missing variable keeps away', async () => {
    const gateway = await openToolscout({
      servers: { keyed: { ...fixture('legacy'), env: { KEY: '${NO_SUCH_VARIABLE}' } }, old: fixture('legacy') },
    });
    await gateway.servers.discover();
    const answer = await gateway.search('zzzzqqqq');
    expect(answer.unavailable).toEqual([
      { server: 'keyed', reason: expect.stringContaining('NO_SUCH_VARIABLE') as string },
    ]);
  });
});
