import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Gateway } from '../../src/gateway/index.js';
import type { ConfigInput } from '../../src/model/config.js';
import { fixture } from '../support/fixture.js';
import { openOfflineGateway, readRecordedServers } from '../support/offline-gateway.js';
import { openToolscout, startCounter } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const RECORDED = readRecordedServers(fileURLToPath(new URL('../fixtures/catalog', import.meta.url)));

/** A gateway over recorded lists of real servers; it can start nothing. */
async function offline(config: ConfigInput = {}): Promise<Gateway> {
  const { gateway, starts } = await openOfflineGateway(RECORDED, config);
  onTestFinished(async () => {
    await gateway.close({ drainMs: 0 });
    expect(starts()).toBe(0);
  });
  await gateway.ready();
  return gateway;
}

const FILES = 'modelcontextprotocol__server-filesystem';

describe('what a search says', STARTS_PROCESSES, () => {
  it('FIND-1 hits have all their fields, are sorted, in [0,1] and no more than asked for', async () => {
    const gateway = await offline();
    const { hits, nearest, learning, unavailable } = await gateway.search('read a text file', { limit: 5 });
    expect(hits).toHaveLength(5);
    expect(hits[0]).toMatchObject({ server: FILES, tool: 'read_text_file' });
    for (const [index, hit] of hits.entries()) {
      expect(Object.keys(hit).toSorted()).toEqual(['relevance', 'server', 'summary', 'tags', 'tool']);
      expect(hit.relevance).toBeGreaterThan(0);
      expect(hit.relevance).toBeLessThanOrEqual(hits[index - 1]?.relevance ?? 1);
      expect(hit.summary).not.toMatch(/\n/);
    }
    expect({ nearest, learning, unavailable }).toEqual({ nearest: [], learning: [], unavailable: [] });
    expect((await gateway.search('read a text file')).hits.length).toBeLessThanOrEqual(10);
  });

  it('FIND-1 an empty query lists by name without a score; a signature comes only when asked for', async () => {
    const gateway = await offline();
    const { hits } = await gateway.search('', { server: FILES, limit: 50, includeSchema: true });
    expect(hits.every((hit) => hit.relevance === 0 && hit.server === FILES)).toBe(true);
    expect(hits.map((hit) => hit.tool)).toEqual(hits.map((hit) => hit.tool).toSorted());
    expect(hits.find((hit) => hit.tool === 'read_text_file')?.signature).toContain('path');
  });

  it('FIND-5 nothing found: up to three nearest names, and no server is missing', async () => {
    const gateway = await offline();
    const answer = await gateway.search('raed_txt_flie');
    expect(answer.hits).toEqual([]);
    expect(answer.nearest.length).toBeGreaterThan(0);
    expect(answer.nearest.length).toBeLessThanOrEqual(3);
    expect(answer.nearest.join(' ')).toContain(`${FILES}:read_text_file`);
    expect((await gateway.search('zzzzqqqqxxxx')).nearest.length).toBeLessThanOrEqual(3);
  });

  it('META-4 a search in a server that does not exist names the nearest', async () => {
    const gateway = await offline();
    await expect(gateway.search('x', { server: 'linear-mcp-sever' })).rejects.toMatchObject({
      code: 'SERVER_NOT_FOUND',
      message: expect.stringContaining('"linear-mcp-server"') as string,
    });
  });

  it('META-4 misspelt servers and tools: the refusal names the closest, here or elsewhere', async () => {
    const gateway = await offline();
    await expect(gateway.details(FILES, 'raed_text_file')).rejects.toMatchObject({
      code: 'TOOL_NOT_FOUND',
      message: expect.stringContaining('"read_text_file"') as string,
    });
    const elsewhere = await gateway.call(FILES, 'create_issue', {});
    expect(elsewhere).toMatchObject({ success: false, error: { code: 'TOOL_NOT_FOUND', server: FILES } });
    expect(elsewhere.error?.message).toContain('modelcontextprotocol__server-github:create_issue');
    const nowhere = await gateway.call('linear-mcp-sever', 'x', {});
    expect(nowhere).toMatchObject({ error: { code: 'SERVER_NOT_FOUND', server: 'linear-mcp-sever', tool: 'x' } });
    expect(nowhere.error?.message).toContain('Did you mean "linear-mcp-server"?');
    const lost = await gateway.call('qqqqqqqqqqqqqq', 'x', {});
    expect(lost.error?.message).not.toMatch(/Did you mean/);
  });

  it('A27 names of every object are no names of servers or tools', async () => {
    const gateway = await offline();
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect(await gateway.call(name, 'x', {})).toMatchObject({ error: { code: 'SERVER_NOT_FOUND' } });
      expect(await gateway.call(FILES, name, {})).toMatchObject({ error: { code: 'TOOL_NOT_FOUND' } });
      expect(await gateway.why(FILES, name)).toMatchObject({ because: 'unknown-tool' });
    }
  });

  it('META-8 the coverage line is derived from the servers alone and stays the same', async () => {
    const gateway = await offline();
    const before = gateway.internal.coverage();
    expect(before).toMatch(/github/);
    expect(before.length).toBeLessThan(160);
    await gateway.search('anything');
    await gateway.reload();
    expect(gateway.internal.coverage()).toBe(before);
  });
});

describe('a disabled tool', STARTS_PROCESSES, () => {
  const toolRules = [
    { pattern: ['*file*', '!*info*'], server: FILES, enabled: false },
    { pattern: 'create_*', tags: ['writes'] },
  ];

  it('PAT-5 is absent from search and lists unless it is asked for, and the reason is the rule', async () => {
    const gateway = await offline({ toolRules });
    const search = await gateway.search('read a text file', { limit: 50 });
    expect(search.hits.map((hit) => `${hit.server}:${hit.tool}`)).not.toContain(`${FILES}:read_text_file`);
    const all = await gateway.search('read a text file', { limit: 50, includeDisabled: true });
    expect(all.hits.map((hit) => `${hit.server}:${hit.tool}`)).toContain(`${FILES}:read_text_file`);

    const offered = await gateway.tools.list(FILES);
    const listed = await gateway.tools.list(FILES, { includeDisabled: true });
    expect(offered.map((tool) => tool.name)).not.toContain('read_text_file');
    expect(offered.map((tool) => tool.name)).toContain('get_file_info');
    const disabled = listed.find((tool) => tool.name === 'read_text_file');
    expect(disabled).toMatchObject({ status: 'disabled', decision: { enabled: false, rule: 0 } });
    expect(disabled?.decision.reason).toContain('rule 1 (pattern');
    const view = (await gateway.servers.list()).find(({ id }) => id === FILES);
    expect(view).toMatchObject({ tools: offered.length, disabledTools: listed.length - offered.length });
  });

  it('PAT-5 A37 is refused by every route, with the rule that decided', async () => {
    const gateway = await offline({ toolRules });
    await expect(gateway.details(FILES, 'read_text_file')).rejects.toMatchObject({
      code: 'TOOL_DISABLED',
      message: expect.stringContaining('rule 1 (pattern') as string,
    });
    const refusal = {
      success: false,
      error: { code: 'TOOL_DISABLED', server: FILES, tool: 'read_text_file', severity: 'WARNING' },
    };
    for (const route of ['library', 'mcp', 'cli', 'http'] as const) {
      const answer = await gateway.call(FILES, 'read_text_file', { path: 'x' }, { route });
      expect(answer).toMatchObject(refusal);
      expect(answer.error?.message).toContain('rule 1 (pattern');
    }
    const events = [];
    for await (const event of gateway.stream(FILES, 'read_text_file', { path: 'x' })) events.push(event);
    expect(events).toMatchObject([{ type: 'result', result: refusal }]);
    expect(await gateway.audit.list({ outcome: 'refused' })).toHaveLength(5);
  });

  it('PAT-5 FIND-5 is not among the nearest names either', async () => {
    const gateway = await offline({ toolRules });
    const { nearest } = await gateway.search('raed_txt_flie');
    expect(nearest).not.toContain(`${FILES}:read_text_file`);
    const { error } = await gateway.call('linear-mcp-server', 'read_text_file', {});
    expect(error?.message).not.toContain(`${FILES}:read_text_file`);
    const misspelt = await gateway.call(FILES, 'raed_text_file', {});
    expect(misspelt.error?.message).not.toContain('"read_text_file"');
  });

  it('PAT-4 in allow-list mode only what a rule enables is offered, and tags gather from all rules', async () => {
    const gateway = await offline({
      toolRules: [
        { pattern: 'create_*', tags: ['writes'] },
        { pattern: '*issue*', enabled: true, tags: ['tracker'] },
      ],
    });
    const { hits } = await gateway.search('', { limit: 50 });
    expect(hits.every((hit) => hit.tool.includes('issue'))).toBe(true);
    const tagged = await gateway.search('', { limit: 50, tags: ['writes', 'tracker'] });
    expect(tagged.hits.map((hit) => hit.tool)).toContain('create_issue');
    expect(tagged.hits.every((hit) => hit.tags.includes('writes') && hit.tags.includes('tracker'))).toBe(true);
    expect((await gateway.why(FILES, 'read_text_file')).reason).toContain('a rule with enabled: true');
  });
});

describe('why a tool is or is not offered', STARTS_PROCESSES, () => {
  it('FIND-5 each reason has its sentence', async () => {
    const gateway = await openToolscout({
      servers: {
        old: fixture('legacy'),
        fresh: fixture('legacy'),
        off: { ...fixture('legacy'), enabled: false },
        keyed: { ...fixture('legacy'), env: { KEY: '${NO_SUCH_VARIABLE}' } },
        absent: { command: '/no/such/program' },
      },
      toolRules: [{ pattern: 'crash', enabled: false }],
    });
    await gateway.servers.discover(['old', 'absent']);
    const why = async (server: string, tool: string): Promise<string> => {
      const answer = await gateway.why(server, tool);
      expect(answer.address).toBe(`${server}:${tool}`);
      expect(answer.reason.trim()).not.toBe('');
      return `${answer.offered} ${answer.because}: ${answer.reason}`;
    };
    expect(await why('old', 'echo')).toMatch(/^true none: "old:echo" is offered \(.*the server is connected/);
    expect(await why('odl', 'echo')).toMatch(/^false server: No server "odl".*nearest name is "old"/);
    expect(await why('qqqqqqq', 'echo')).toMatch(/^false server: No server "qqqqqqq" is configured\.$/);
    expect(await why('off', 'echo')).toMatch(/^false server: .*disabled in the configuration/);
    expect(await why('keyed', 'echo')).toMatch(/^false server: .*NO_SUCH_VARIABLE/);
    expect(await why('fresh', 'echo')).toMatch(/^false connection: .*not known yet\.$/);
    expect(await why('absent', 'echo')).toMatch(/^false connection: .*Cannot list the tools of .*no\/such\/program/);
    expect(await why('old', 'ecko')).toMatch(/^false unknown-tool: .*the nearest is "echo"/);
    expect(await why('old', 'zzzzqqqq')).toMatch(/^false unknown-tool: .*is not one of them\.$/);
    expect(await why('old', 'crash')).toMatch(/^false rule: "old:crash" is disabled by rule 1 \(pattern/);
  });

  it('CONN-2 asking why starts nothing', async () => {
    const starts = await startCounter();
    const gateway = await openToolscout({ servers: { old: fixture('legacy', starts.flag) } });
    await gateway.why('old', 'echo');
    await gateway.servers.list();
    expect(await starts.pids()).toEqual([]);
  });

  it('CFG-2 a server that is switched off is listed as off, never learned and never called', async () => {
    const starts = await startCounter();
    const gateway = await openToolscout({ servers: { off: { ...fixture('legacy', starts.flag), enabled: false } } });
    expect(await gateway.servers.list()).toMatchObject([{ id: 'off', enabled: false, knowledge: 'off' }]);
    expect(await gateway.servers.discover()).toEqual([]);
    expect(await gateway.search('echo')).toMatchObject({ hits: [], learning: [] });
    expect(await gateway.call('off', 'echo', { message: 'x' })).toMatchObject({
      success: false,
      error: { code: 'SERVER_CONNECTION_ERROR', message: expect.stringContaining('disabled') as string },
    });
    await expect(gateway.tools.list('off')).rejects.toMatchObject({ code: 'SERVER_CONNECTION_ERROR' });
    expect(gateway.internal.coverage()).toBe('');
    expect(await starts.pids()).toEqual([]);
  });

  it.each([
    ['is switched off', { enabled: false }],
    ['lacks a variable', { env: { KEY: '${NO_SUCH_VARIABLE}' } }],
  ])('CFG-4 DISC-3 learning a server that %s by name does not start it, and offers nothing of it', async (_, entry) => {
    const starts = await startCounter();
    const gateway = await openToolscout({ servers: { off: { ...fixture('legacy', starts.flag), ...entry } } });
    const outcomes = await gateway.servers.discover(['off']);
    expect(await starts.pids()).toEqual([]);
    expect(outcomes).toMatchObject([{ server: 'off', ok: false }]);
    expect((await gateway.search('echo')).hits).toEqual([]);
  });
});
