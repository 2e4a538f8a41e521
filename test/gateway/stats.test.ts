import { describe, expect, it } from 'vitest';
import { viewerOf, type Gateway } from '../../src/gateway/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { estimateTokens } from '../../src/kernel/tokens.js';
import type { AuditRecord } from '../../src/model/audit-record.js';
import type { Stats } from '../../src/model/stats.js';
import { createMetrics } from '../../src/front/http/metrics/metrics.js';
import { commandLine } from '../support/command-line.js';
import { temporaryDirectory } from '../support/fixture.js';
import { openHttpApp } from '../support/http-app.js';
import { connectHost } from '../support/mcp-host.js';
import { openToolscout, textOf } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { scriptedServer, scriptedTool } from '../support/scripted-server.js';

const TOOLS = Array.from({ length: 60 }, (_, at) =>
  scriptedTool(`read_note_${at}`, {
    description: `Reads the notes of shelf ${at}, with author, date and all comments.`,
  }),
);
const ANSWER = 'The note says that the meeting is on Tuesday. '.repeat(20);

async function notesServer(answer: JsonObject = { content: [{ type: 'text', text: ANSWER }] }) {
  return scriptedServer({
    tools: TOOLS,
    answer: (method) => (method === 'tools/call' ? { result: answer } : undefined),
  });
}

/** A gateway over `notes` and `files`, both learned. */
async function open(stateDir?: string): Promise<Gateway> {
  const [notes, files] = [await notesServer(), await notesServer()];
  const servers = { notes: { url: notes.url }, files: { url: files.url } };
  const gateway = await openToolscout({ servers }, stateDir === undefined ? {} : { stateDir });
  await gateway.servers.discover();
  return gateway;
}

const call = (gateway: Gateway, server = 'notes'): ReturnType<Gateway['call']> =>
  gateway.call(server, 'read_note_1', { id: 7 });
const tokensOf = ({ tokens }: Pick<AuditRecord, 'tokens'>): number =>
  (tokens?.arguments ?? 0) + (tokens?.returned ?? 0);

describe('the bill', STARTS_PROCESSES, () => {
  it('EXEC-5 records of menus, searches and calls name the host alike', async () => {
    const gateway = await open();
    const host = await connectHost(gateway, { era: 'legacy', over: 'stdio' });
    await host.request('tools/list');
    await host.request('tools/call', { name: 'search_tools', arguments: { query: 'read the notes of a shelf' } });
    await host.request('tools/call', {
      name: 'execute_tool',
      arguments: { server: 'notes', tool: 'x', arguments: {} },
    });
    const recorded = new Map((await gateway.audit.list()).map((record) => [record.kind, record.host]));
    const name = recorded.get('execution');
    expect(name).toMatch(/./);
    expect([recorded.get('menu'), recorded.get('search')]).toEqual([name, name]);
    await host.request('tools/call', { name: 'list_mcp_servers', arguments: {} });
    expect((await gateway.audit.list({ kind: 'answer' })).map((record) => record.host)).toEqual([name]);
  });

  it('EXEC-5 records of searches, calls and scripts over the HTTP API name the program', async () => {
    const gateway = await open();
    const http = await openHttpApp(gateway);
    const hosts = async (kind: string) => (await gateway.audit.list({ kind, limit: 1 })).map(({ host }) => host);
    const named = { 'x-toolscout-client': 'my-agent', 'user-agent': 'curl/8.5.0' };
    await http.send('/v1/search?q=notes', { headers: named });
    expect(await hosts('search')).toEqual(['my-agent']);
    await http.send('/v1/search?q=notes', { headers: { 'user-agent': 'curl/8.5.0' } });
    expect(await hosts('search')).toEqual(['curl']);
    await http.send('/v1/search?q=notes', { headers: { 'user-agent': 'Mozilla/5.0 (X11)' } });
    expect(await hosts('search')).toEqual(['HTTP API']);
    const call = { server: 'notes', tool: 'read_note_1', arguments: { id: 7 } };
    await http.post('/v1/call', call, { 'x-toolscout-client': 'Studio' });
    await http.post('/v1/call', call, named);
    await http.post('/v1/call', call, { ...named, 'x-toolscout-client': `\u00e9${'x'.repeat(3000)}` });
    const recorded = await gateway.audit.list({ kind: 'execution' });
    expect(recorded[1]?.host).toBe('my-agent');
    expect(recorded[0]?.host?.length).toBeLessThanOrEqual(100);
    // What a person tries in Studio leaves no search of an agent.
    await http.send('/v1/search?q=notes&preview=true', { headers: { 'x-toolscout-client': 'studio' } });
    expect((await gateway.audit.stats()).total.searches).toBe(3);
    const { rows } = await gateway.audit.stats({ by: 'host' });
    const of = (name: string) => rows.find(({ key }) => key === name);
    expect(of('Studio')).toMatchObject({ calls: 1, searches: 0 });
    expect(of('my-agent')).toMatchObject({ calls: 1, searches: 1 });
    expect(of('HTTP API')).toMatchObject({ calls: 0, searches: 1 });
  });

  it.each([
    ['legacy', 'stdio'],
    ['modern', 'http'],
  ] as const)('ANS-7 what a host of the %s era over %s loads, finds and runs is counted', async (era, over) => {
    const gateway = await open();
    const host = await connectHost(gateway, { era, over });
    const run = (name: string, args: JsonObject): Promise<JsonObject> =>
      host.request('tools/call', { name, arguments: args });
    const { tools } = (await host.request('tools/list')) as { tools: JsonObject[] };
    const found = await run('search_tools', { query: 'read the notes of a shelf', limit: 5 });
    await run('execute_tool', { server: 'notes', tool: 'read_note_1', arguments: { id: 7 } });
    const recorded = new Map((await gateway.audit.list()).map((record) => [record.kind, record]));
    expect(recorded.get('execution')?.tokens).toEqual({
      arguments: expect.any(Number) as number,
      returned: estimateTokens(ANSWER),
      withheld: 0,
    });
    const near = (record: AuditRecord | undefined, text: unknown): number =>
      record!.tokens!.returned / estimateTokens(typeof text === 'string' ? text : JSON.stringify(text));
    expect(near(recorded.get('menu'), tools)).toBeGreaterThan(0.8);
    expect(near(recorded.get('menu'), tools)).toBeLessThan(1.2);
    const [answer] = found['content'] as Array<{ text: string }>;
    expect(near(recorded.get('search'), answer!.text)).toBeGreaterThan(0.75);
    expect(near(recorded.get('search'), answer!.text)).toBeLessThan(1.25);
    expect(recorded.get('search')).not.toHaveProperty('arguments');

    const stats = await gateway.audit.stats({ by: 'server' });
    expect(stats.total).toMatchObject({ calls: 1, failed: 0, searches: 1, menus: 1 });
    expect(stats.menu.tools).toBe(120);
    expect(stats.menu.everyTool).toBeGreaterThan(5 * stats.menu.given);
    expect(stats.saved).toBe(stats.menu.everyTool - stats.menu.given);
    const sum = [...recorded.values()].reduce((all, record) => all + tokensOf(record), 0);
    expect(tokensOf(stats.total)).toBe(sum);
  });

  it('ANS-7 ANS-1 what a budget keeps back is counted as withheld, and the rest as returned', async () => {
    const long = await notesServer({ content: [{ type: 'text', text: 'One more line of the note.\n'.repeat(4000) }] });
    const gateway = await openToolscout({ servers: { notes: { url: long.url } }, answers: { maxTokens: 1000 } });
    await gateway.servers.discover();
    const host = await connectHost(gateway, { era: 'legacy', over: 'stdio' });
    const params = { name: 'execute_tool', arguments: { server: 'notes', tool: 'read_note_1', arguments: {} } };
    await host.request('tools/call', params);
    const { total, saved } = await gateway.audit.stats();
    expect(total.tokens.returned).toBeLessThanOrEqual(1000);
    expect(total.tokens.withheld).toBeGreaterThan(20_000);
    expect(saved).toBe(total.tokens.withheld);
  });

  it.each([
    ['legacy', 'stdio'],
    ['modern', 'http'],
  ] as const)(
    'ANS-7 what toolscout itself answers a %s host over %s is counted, and a script by itself',
    async (era, over) => {
      const notes = await notesServer();
      const gateway = await openToolscout({ scripts: true, servers: { notes: { url: notes.url } } });
      await gateway.servers.discover();
      const host = await connectHost(gateway, { era, over });
      const run = (name: string, args: JsonObject): Promise<JsonObject> =>
        host.request('tools/call', { name, arguments: args });
      const shown: number[] = [];
      const script = 'for (let n = 0; n < 3; n++) await tools.notes.read_note_1({ id: n }); return "done"';
      for (const [name, args] of [
        ['get_tool_details', { server: 'notes', tool: 'read_note_1' }],
        ['list_tools', { server: 'notes' }],
        ['list_mcp_servers', {}],
        ['run_script', { script }],
      ] as const) {
        shown.push(estimateTokens(textOf(await run(name, args))));
      }
      const records = await gateway.audit.list({ limit: 100 });
      const answers = records.filter(({ kind }) => kind === 'answer').toReversed();
      expect(answers.map(({ detail }) => (detail as JsonObject)['tool'])).toEqual([
        'get_tool_details',
        'list_tools',
        'list_mcp_servers',
        'run_script',
      ]);
      // Of a long answer only parts are read.
      const returned = answers.map(({ tokens }) => tokens!.returned);
      for (const [at, tokens] of returned.entries()) expect(Math.abs(tokens / shown[at]! - 1)).toBeLessThan(0.05);
      const inner = records.filter(({ kind, parent }) => kind === 'execution' && parent !== undefined);
      expect(inner).toHaveLength(3);
      for (const { tokens } of inner) {
        expect(tokens).toEqual({ arguments: 0, returned: 0, withheld: estimateTokens(ANSWER) });
      }
      const { total } = await gateway.audit.stats({ by: 'server' });
      expect(total.calls).toBe(3);
      expect(total.tokens.withheld).toBe(3 * estimateTokens(ANSWER));
      expect(total.tokens.returned).toBe(returned.reduce((sum, each) => sum + each, 0));
    },
  );

  it('ANS-7 another process over the same store adds up what all have done', async () => {
    const stateDir = await temporaryDirectory();
    const [one, other] = [await open(stateDir), await open(stateDir)];
    await call(one);
    await call(one, 'files');
    await call(other);
    await one.audit.list({ limit: 1 });
    const stats = await other.audit.stats({ by: 'tool' });
    expect(stats.rows.map(({ key, calls }) => [key, calls])).toEqual([
      ['notes:read_note_1', 2],
      ['files:read_note_1', 1],
    ]);
    expect(await other.audit.stats({ since: Date.now() + 60_000 })).toMatchObject({ rows: [], total: { calls: 0 } });
  });

  it('ANS-7 A45 results that are huge, odd or wrong are counted and never held', async () => {
    const hostile = await scriptedServer({
      tools: ['text', 'image', 'rows', 'lies'].map((name) => scriptedTool(name)),
      answer(method, { name }) {
        if (method !== 'tools/call') return undefined;
        const results: Record<string, JsonObject> = {
          text: { content: [{ type: 'text', text: 'word '.repeat(600_000) }] },
          image: { content: [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(2_000_000) }] },
          rows: { content: [], structuredContent: { rows: Array.from({ length: 20_000 }, (_, id) => ({ id })) } },
          lies: { content: [], tokens: { arguments: -1e9, returned: -1e9, withheld: 1e9 } },
        };
        return { result: results[String(name)] };
      },
    });
    const gateway = await openToolscout({ servers: { hostile: { url: hostile.url } } });
    await gateway.servers.discover();
    for (const tool of ['text', 'image', 'rows', 'lies']) await gateway.call('hostile', tool, {});
    const { rows } = await gateway.audit.stats({ by: 'tool' });
    const returned = Object.fromEntries(rows.map(({ key, tokens }) => [key.slice('hostile:'.length), tokens.returned]));
    expect(returned['text']! / 600_000).toBeGreaterThan(0.9);
    expect(returned['text']! / 600_000).toBeLessThan(1.1);
    expect(returned['image']).toBeLessThan(5000);
    expect(returned['rows']).toBeGreaterThan(40_000);
    expect(returned['lies']).toBeGreaterThanOrEqual(0);
    expect(rows.every(({ tokens }) => tokens.withheld === 0)).toBe(true);
  });

  it('ANS-7 S12 REG-8 over HTTP it needs the scope admin, and a key for some servers adds up only those', async () => {
    const gateway = await open();
    await call(gateway);
    await call(gateway, 'files');
    await gateway.search('notes');
    const limited = viewerOf({ name: 'ann', scopes: new Set(['admin']), servers: new Set(['notes']) });
    expect((await gateway.as(limited).audit.stats({ by: 'server' })).rows.map(({ key }) => key)).toEqual(['notes']);
    const http = await openHttpApp(gateway);
    const ask = async (query: string): Promise<Stats> => (await (await http.send(`/v1/stats${query}`)).json()) as Stats;
    expect((await ask('')).total).toMatchObject({ calls: 2, searches: 1 });
    expect((await ask('?by=principal&limit=1')).rows).toMatchObject([{ key: 'local', calls: 2 }]);
    expect((await http.send('/v1/stats?by=colour')).status).toBe(400);
    expect((await http.send('/v1/stats?since=yesterday')).status).toBe(400);
  });

  it('ANS-7 REG-7 the metrics count the same, by server', async () => {
    const gateway = await open();
    const metrics = createMetrics(gateway, systemClock);
    await metrics.gateway.call('notes', 'read_note_1', { id: 7 });
    await metrics.gateway.search('notes');
    await gateway.audit.list({ limit: 1 });
    const text = await metrics.text();
    expect(text).toContain(`toolscout_tokens_total{server="notes",part="returned"} ${estimateTokens(ANSWER)}`);
    expect(text).toMatch(/toolscout_tokens_total\{server="none",part="returned"\} [1-9]/);
    expect(text).toMatch(/^toolscout_every_tool_tokens [1-9]\d{3,}$/m);
    expect(text).toContain('# TYPE toolscout_tokens_total counter');
  });

  it('ANS-7 CLI-1 toolscout stats is a table with a total and a sentence, and JSON', async () => {
    const gateway = await open();
    await call(gateway);
    const run = (...args: string[]): ReturnType<typeof commandLine> =>
      commandLine(['stats', ...args], { gateway: { ...gateway, close: async () => {} } });
    const shown = await run('--by', 'server');
    expect(shown.code).toBe(0);
    expect(shown.stdout.split('\n')[0]).toMatch(
      /^SERVER +CALLS +FAILED +SEARCHES +MENUS +TOKENS SENT +RETURNED +WITHHELD$/,
    );
    expect(shown.stdout).toMatch(/^notes +1 +0 +0 +0 +\d+ +\d+ +0$/m);
    expect(shown.stdout).toMatch(/^total +1 /m);
    expect(shown.stderr).toMatch(/All 120 tools would cost [\d,]+ tokens each time a host loads them/);
    await connectHost(gateway, { era: 'legacy', over: 'stdio' }).then((host) => host.request('tools/list'));
    expect((await run()).stderr).toMatch(/the menu that was loaded cost [\d,]+\. Saved: about [\d,]+ tokens\./);
    const json = JSON.parse((await run('--by', 'tool', '--since', '7d', '--json')).stdout) as Stats;
    expect(json).toMatchObject({ by: 'tool', total: { calls: 1, menus: 1 } });
    expect((await run('--since', '1m', '--by', 'day')).code).toBe(0);
    for (const wrong of [
      ['--by', 'colour'],
      ['--since', 'soon'],
      ['--since', '9x'],
      ['--limit', '0'],
    ]) {
      expect((await run(...wrong)).code).toBe(64);
    }
  });
});
