import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openGateway } from '../../src/app/open-gateway.js';
import type { Gateway } from '../../src/gateway/index.js';
import type { JsonObject } from '../../src/kernel/json.js';
import type { ConfigInput } from '../../src/model/config.js';
import { temporaryDirectory, waitUntil } from '../support/fixture.js';
import { connectHost, type TestHost } from '../support/mcp-host.js';
import { openToolscout, textOf } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { scriptedServer, scriptedTool } from '../support/scripted-server.js';

const reads = (name: string, more: JsonObject = {}): JsonObject =>
  scriptedTool(name, { annotations: { readOnlyHint: true }, ...more });
const TOOLS = [reads('get_note'), scriptedTool('write_note'), reads('delete_note'), scriptedTool('get_raw')];

/** A remote server whose list can be changed, and how often a tool of it was called. */
async function notesServer(tools: JsonObject[] = TOOLS) {
  let list = tools;
  const called: string[] = [];
  const server = await scriptedServer({
    answer(method, params) {
      if (method === 'tools/call') called.push(String(params['name']));
      return method === 'tools/list' ? { result: { tools: list } } : undefined;
    },
  });
  return { url: server.url, called, show: (next: JsonObject[]) => void (list = next) };
}

const SPLIT: ConfigInput = { splitReads: true };
const query = (host: TestHost, tool: string, rest: JsonObject = { server: 'notes' }): Promise<JsonObject> =>
  host.request('tools/call', { name: 'query_tool', arguments: { tool, arguments: {}, ...rest } });
const errorIn = (answer: JsonObject): JsonObject => {
  expect(answer['isError']).toBe(true);
  return JSON.parse(textOf(answer)) as JsonObject;
};

describe('reads apart from writes', STARTS_PROCESSES, () => {
  it('META-10 ANS-1 a large result is read on with query_tool, whichever tool it came from', async () => {
    const long = { content: [{ type: 'text', text: 'some words\n'.repeat(20_000) }] };
    const results: Record<string, JsonObject> = { 'tools/list': { tools: TOOLS }, 'tools/call': long };
    const { url } = await scriptedServer({
      answer: (method) => (Object.hasOwn(results, method) ? { result: results[method]! } : undefined),
    });
    const gateway = await openToolscout({ ...SPLIT, scripts: true, servers: { notes: { url } } });
    await gateway.servers.discover();
    const host = await connectHost(gateway, { era: 'modern', over: 'stdio' });
    const shown = textOf(await query(host, 'get_note'));
    expect(shown).toContain('Read on: query_tool, server "toolscout"');
    const handle = /res_\w+/.exec(shown)![0];
    const next = { server: 'toolscout', arguments: { handle, limit: 1 } };
    expect(textOf(await query(host, 'read_result', next))).toContain('some words');
    const direct = await host.request('tools/call', { name: 'toolscout__search_result', arguments: {} });
    expect(textOf(direct)).toContain('Call it with query_tool: server \\"toolscout\\", tool \\"search_result\\".');
    const script = { name: 'run_script', arguments: { script: 'return "x\\n".repeat(50_000)' } };
    expect(textOf(await host.request('tools/call', script))).toContain('Read on: query_tool');
  });

  it('META-10 details say which tools only read and which destroy, so that an agent can choose', async () => {
    const wipe = scriptedTool('wipe_note', { annotations: { destructiveHint: true } });
    const notes = await notesServer([reads('get_note'), wipe]);
    const gateway = await openToolscout({ ...SPLIT, servers: { notes: { url: notes.url } } });
    await gateway.servers.discover();
    const host = await connectHost(gateway, { era: 'modern', over: 'http' });
    const hintsOf = async (server: string, tool: string): Promise<unknown> => {
      const asked = { name: 'get_tool_details', arguments: { server, tool } };
      return (JSON.parse(textOf(await host.request('tools/call', asked))) as JsonObject)['annotations'];
    };
    expect(await hintsOf('notes', 'get_note')).toEqual({ readOnlyHint: true });
    expect(await hintsOf('notes', 'wipe_note')).toEqual({ destructiveHint: true });
    expect(await hintsOf('toolscout', 'search_result')).toMatchObject({ readOnlyHint: true });
  });

  it.each([
    ['legacy', 'stdio'],
    ['modern', 'stdio'],
    ['legacy', 'http'],
    ['modern', 'http'],
  ] as const)('META-10 a host of the %s era over %s may be given query_tool for good', async (era, over) => {
    const notes = await notesServer();
    const gateway = await openToolscout({ ...SPLIT, servers: { notes: { url: notes.url } } });
    await gateway.servers.discover();
    const host = await connectHost(gateway, { era, over });
    const { tools } = (await host.request('tools/list')) as { tools: JsonObject[] };
    expect(tools.map(({ name }) => name)).toEqual([
      'search_tools',
      'get_tool_details',
      'query_tool',
      'execute_tool',
      'list_mcp_servers',
      'list_tools',
    ]);
    expect(tools[2]).toMatchObject({
      annotations: { readOnlyHint: true, destructiveHint: false },
      inputSchema: { required: ['server', 'tool', 'arguments'] },
    });
    expect(textOf(await query(host, 'get_note'))).toBe('did get_note');
    expect(textOf(await query(host, 'notes:get_note', {}))).toBe('did get_note');
    for (const tool of ['write_note', 'delete_note', 'get_raw']) {
      expect(errorIn(await query(host, tool))).toMatchObject({
        code: 'FORBIDDEN',
        server: 'notes',
        tool,
        suggestion: 'Use execute_tool for it.',
      });
    }
    const executed = { name: 'execute_tool', arguments: { server: 'notes', tool: 'write_note', arguments: {} } };
    expect(textOf(await host.request('tools/call', executed))).toBe('did write_note');
    expect(notes.called).toEqual(['get_note', 'get_note', 'write_note']);
    expect((await gateway.audit.list({ outcome: 'refused' })).map(({ tool }) => tool)).toEqual([
      'get_raw',
      'delete_note',
      'write_note',
    ]);
  });

  it('META-10 it is off by default: the five stay five, and query_tool is no tool', async () => {
    const notes = await notesServer();
    const gateway = await openToolscout({ servers: { notes: { url: notes.url } } });
    await gateway.servers.discover();
    const host = await connectHost(gateway, { era: 'legacy', over: 'stdio' });
    const { tools } = (await host.request('tools/list')) as { tools: JsonObject[] };
    expect(tools).toHaveLength(5);
    expect(errorIn(await query(host, 'get_note'))).toMatchObject({ code: 'TOOL_NOT_FOUND' });
    expect(notes.called).toEqual([]);
  });

  it('META-10 in hybrid it stands beside the pinned tools; in passthrough hosts see the hints themselves', async () => {
    const notes = await notesServer();
    const names = async (mode: 'hybrid' | 'passthrough'): Promise<unknown[]> => {
      const config = { ...SPLIT, mode, pinned: ['notes:get_raw'], servers: { notes: { url: notes.url } } };
      const gateway = await openToolscout(config);
      await gateway.servers.discover();
      const host = await connectHost(gateway, { era: 'legacy', over: 'stdio' });
      if (mode === 'hybrid') expect(textOf(await query(host, 'get_note'))).toBe('did get_note');
      return ((await host.request('tools/list')) as { tools: JsonObject[] }).tools.map(({ name }) => name);
    };
    expect(await names('hybrid')).toEqual(expect.arrayContaining(['query_tool', 'notes__get_raw']));
    expect(await names('passthrough')).not.toContain('query_tool');
  });

  it('META-10 SEC-9 A40 a hint that is added or taken away after the approval counts only once it is approved', async () => {
    const notes = await notesServer([reads('get_note'), scriptedTool('get_raw')]);
    const stateDir = await temporaryDirectory();
    const config = { ...SPLIT, servers: { notes: { url: notes.url } } };
    const gateway = await openToolscout(config, { stateDir });
    const codeOf = async (tool: string): Promise<string | undefined> =>
      (await gateway.call('notes', tool, {}, { readOnly: true })).error?.code;
    await gateway.servers.discover();
    expect([await codeOf('get_note'), await codeOf('get_raw')]).toEqual([undefined, 'FORBIDDEN']);
    notes.show([scriptedTool('get_note'), reads('get_raw')]);
    // Another process over the same store learns of it.
    const other = await openToolscout(config, { stateDir });
    await other.servers.discover();
    await waitUntil(async () => (await codeOf('get_note')) === 'TOOL_CHANGED');
    expect(await codeOf('get_raw')).toBe('TOOL_CHANGED');
    await other.approvals.approve('notes:get_note');
    await other.approvals.approve('notes:get_raw');
    await waitUntil(async () => (await codeOf('get_raw')) === undefined);
    await waitUntil(async () => (await codeOf('get_note')) === 'FORBIDDEN');
  });

  it('META-10 CONN-7 a hint that is gone when a call had its turn counts: the call is not sent', async () => {
    const notes = await notesServer([reads('get_note')]);
    const folder = await temporaryDirectory();
    const file = join(folder, 'toolscout.config.json');
    const write = (rateLimit: ConfigInput['rateLimit']): Promise<void> =>
      writeFile(file, JSON.stringify({ ...SPLIT, approval: 'off', servers: { notes: { url: notes.url } }, rateLimit }));
    await write({ requestsPerSecond: 0.05, burstSize: 3 });
    const options = { config: file, stateDir: join(folder, 'state'), env: {}, learnAtStart: false };
    const gateway = await openGateway(options);
    onTestFinished(() => gateway.close({ drainMs: 0 }));
    await gateway.servers.discover();
    const call = (): ReturnType<Gateway['call']> => gateway.call('notes', 'get_note', {}, { readOnly: true });
    expect(await call()).toMatchObject({ success: true });
    expect(await call()).toMatchObject({ success: true });
    const waits = call();
    notes.show([scriptedTool('get_note')]);
    // It waits behind the call for the list, so both have their turn at once when the limit is gone.
    const other = await openToolscout({ ...SPLIT, approval: 'off', servers: { notes: { url: notes.url } } }, options);
    await other.servers.discover();
    await waitUntil(() => gateway.tools.definition('notes', 'get_note')?.['annotations'] === undefined);
    await write(false);
    await gateway.reload();
    expect((await waits).error).toMatchObject({ code: 'FORBIDDEN' });
    expect(notes.called).toHaveLength(2);
  });

  it('META-10 NEG-5 a skill may query what its bindings cover, and nothing else that reads', async () => {
    const [notes, weather] = [await notesServer([reads('get_note')]), await notesServer([reads('get_weather')])];
    const folder = await temporaryDirectory();
    await mkdir(join(folder, 'reader'), { recursive: true });
    await writeFile(join(folder, 'reader', 'skill.md'), '# Reader\n\n## Capabilities\n\n- note:read\n');
    const gateway = await openToolscout({
      ...SPLIT,
      skills: { directories: [folder] },
      servers: { notes: { url: notes.url, capabilities: ['note:read'] }, weather: { url: weather.url } },
    });
    await gateway.servers.discover();
    const scoped = gateway.as(await gateway.skills.viewer('reader'));
    const host = await connectHost(scoped, { era: 'modern', over: 'stdio' });
    expect(textOf(await query(host, 'get_note'))).toBe('did get_note');
    expect(errorIn(await query(host, 'get_weather', { server: 'weather' }))).toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringContaining('none of the capabilities in its skill.md') as string,
    });
  });

  it('META-10 S21 a hostile server that marks everything as read-only gets none of its writing tools past it', async () => {
    const names = [
      'drop_and_recreate',
      'dеlete_all',
      'get_note\u200b_pu\u200bt',
      'send_money',
      'POSTmessage',
      'x.upｄａｔｅ',
    ];
    const notes = await notesServer(names.map((name) => reads(name)));
    const gateway = await openToolscout({ ...SPLIT, servers: { notes: { url: notes.url } } });
    await gateway.servers.discover();
    const host = await connectHost(gateway, { era: 'legacy', over: 'http' });
    for (const tool of names) expect((await query(host, tool))['isError'], tool).toBe(true);
    expect(notes.called).toEqual([]);
  });
});
