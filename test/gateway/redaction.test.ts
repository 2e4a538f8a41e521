import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Gateway } from '../../src/gateway/index.js';
import type { ConfigInput } from '../../src/model/config.js';
import { commandLine } from '../support/command-line.js';
import { fixture, startHttpFixture, temporaryDirectory } from '../support/fixture.js';
import { openToolscout, textOf } from '../support/open-toolscout.js';
import { createMetrics } from '../../src/front/http/metrics/metrics.js';
import { systemClock } from '../../src/kernel/clock.js';
import { openHttpApp } from '../support/http-app.js';
import type { ToolscoutError } from '../../src/kernel/errors.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { connectHost as connectAnyHost } from '../support/mcp-host.js';
import { scriptedServer } from '../support/scripted-server.js';
import { connectHost } from '../support/stdio-host.js';
import { patient, STARTS_PROCESSES } from '../support/patience.js';

/** Every byte of every file below a folder. */
async function bytesBelow(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return (await Promise.all(files.map((file) => readFile(file, 'latin1')))).join('\n');
}

describe('redaction', STARTS_PROCESSES, () => {
  it('EXEC-2 NEG-6 outgoing arguments are redacted after they were checked and before they are sent; the log has neither', async () => {
    const folder = await temporaryDirectory();
    const file = join(folder, 'received.jsonl');
    const stateDir = await temporaryDirectory();
    const gateway = await openToolscout(
      {
        servers: {
          ext: fixture('recorder', `--file=${file}`),
          own: fixture('recorder', `--file=${join(folder, 'own')}`),
        },
        redaction: [
          { match: '/BUD-\\d{6}/', action: 'hash', where: 'arguments', servers: ['ext'] },
          { match: 'value', where: 'logs' },
        ],
      },
      { stateDir },
    );
    expect(await gateway.call('ext', 'write', { value: 5 })).toMatchObject({
      error: { code: 'TOOL_VALIDATION_ERROR' },
    });
    const answer = await gateway.call('ext', 'write', { value: 'for BUD-123456' });
    expect(textOf(answer)).toMatch(/^wrote for sha256:[0-9a-f]{16}$/);
    expect(textOf(await gateway.call('own', 'write', { value: 'for BUD-123456' }))).toBe('wrote for BUD-123456');
    expect(await readFile(file, 'utf8')).not.toContain('BUD-123456');
    const [record] = await gateway.audit.list({ kind: 'execution', outcome: 'success' });
    expect(record?.arguments).toEqual({ value: '***' });
    await gateway.close();
    expect(await bytesBelow(stateDir)).not.toContain('BUD-123456');
  });

  it('EXEC-2 NEG-6 results are redacted before a caller sees them: structured, as text, as an error, as progress', async () => {
    const gateway = await openToolscout({
      servers: { s: fixture('capable') },
      redaction: [{ match: ['user.ssn', '/CANARY\\w+/'], where: 'results' }],
    });
    const args = { user: { ssn: '123-45', name: 'ada' }, note: 'see CANARYx' };
    const shown = { user: { ssn: '***', name: 'ada' }, note: 'see ***' };
    expect(await gateway.call('s', 'get_incident', args)).toMatchObject({
      result: { structuredContent: shown, content: [{ text: JSON.stringify(shown) }] },
    });
    const failed = await gateway.call('s', 'fail_aloud', { note: 'CANARYy' });
    expect(failed.success).toBe(false);
    expect(JSON.stringify(failed)).not.toContain('CANARY');
  });

  it('NEG-6 CFG-6 a reload brings new rules; config validate names a rule that cannot work', async () => {
    const redaction: NonNullable<ConfigInput['redaction']> = [];
    const gateway = await openToolscout({ servers: { s: fixture('capable') }, redaction });
    expect(textOf(await gateway.call('s', 'get_incident', { id: 'B-1' }))).toBe('{"id":"B-1"}');
    redaction.push({ match: 'id', where: 'results' });
    await gateway.reload();
    expect(textOf(await gateway.call('s', 'get_incident', { id: 'B-1' }))).toBe('{"id":"***"}');
    const { validateConfig } = await import('../../src/config/index.js');
    const { problems, warnings } = validateConfig({
      redaction: [
        { match: 'a..b' },
        { match: ['ok', '/(/', '/a*/'] },
        { match: 'x', where: 'everywhere' },
        { match: 'x', servers: ['nobody', '['] },
        { match: 'x', action: 'burn' },
      ],
    });
    expect(problems.map(({ path }) => path).toSorted()).toEqual([
      'redaction[0].match',
      'redaction[1].match[1]',
      'redaction[1].match[2]',
      'redaction[2].where',
      'redaction[3].servers[1]',
      'redaction[4].action',
    ]);
    expect(warnings.map(({ path }) => path)).toContain('redaction[3].servers[0]');
  });

  it.each([
    ['legacy', []],
    ['legacy', ['--modern']],
    ['modern', []],
    ['modern', ['--modern']],
  ] as const)(
    'NEG-6 META-6 what a server asks and tells its host (%s) in the middle of a call, and the answers, pass the rules %j',
    STARTS_PROCESSES,
    async (era, flags) => {
      const rules: NonNullable<ConfigInput['redaction']> = [
        { match: '/CANARY-\\w+/', where: 'results' },
        { match: ['/Ann for/', '/SAMPLED/', '/ann$/'], where: 'arguments' },
      ];
      const redaction: typeof rules = [];
      const gateway = await openToolscout({ servers: { asking: fixture('asking', ...flags) }, redaction });
      const host = await connectAnyHost(gateway, { era, over: 'stdio' });
      const call = async (tool: string, args: JsonObject = {}): Promise<string> => {
        const params = { name: 'execute_tool', arguments: { server: 'asking', tool, arguments: args } };
        return textOf(await host.request('tools/call', params, { timeout: patient(120_000) }));
      };
      // Without rules everything passes as it is; the connection is open when they come.
      expect(await call('elicit', { message: 'CANARY-0' })).toContain('Ann for CANARY-0');
      expect(JSON.stringify(host.asked)).toContain('CANARY-0');
      redaction.push(...rules);
      await gateway.reload();
      host.asked.length = 0;
      if (era === 'legacy') await host.request('logging/setLevel', { level: 'debug' });
      const elicited = await call('elicit', { message: 'of CANARY-1' });
      expect(JSON.parse(elicited)).toEqual({ action: 'accept', content: { name: '*** of ***' } });
      expect(await call('elicit_twice', { message: 'CANARY-2' })).toBe('*** *** 1 and *** *** 2');
      expect(await call('sample', { prompt: 'CANARY-3' })).toMatch(/^sampled: \*\*\* /);
      expect(JSON.parse(await call('roots'))).toEqual({ roots: [{ uri: 'file:///home/***', name: 'home' }] });
      await call('log', { line: 'CANARY-4' });
      expect(host.asked.map(({ method }) => method)).toEqual([
        'elicitation/create',
        'elicitation/create',
        'elicitation/create',
        'sampling/createMessage',
        'roots/list',
      ]);
      expect(host.asked[3]?.params).toMatchObject({ maxTokens: 10, messages: [{ content: { text: '***' } }] });
      if (era === 'legacy') expect(JSON.stringify(host.told)).toContain('loud ***');
      expect(JSON.stringify([host.asked, host.told])).not.toContain('CANARY');
    },
  );

  it.each([[], ['--modern']])(
    'NEG-6 A33 the error with which a server refuses to read a resource passes the rules, and shows no secret %j',
    async (...flags: string[]) => {
      const gateway = await openToolscout({
        servers: { asking: { ...fixture('asking', ...flags), env: { API_KEY: 'c4n4ry-env-0123' } } },
        redaction: [{ match: '/CANARY-\\d+/', where: 'results' }],
      });
      const failed = await gateway.hosts
        .relay('asking', 'resources/read', { uri: 'x://c4n4ry-env-0123/CANARY-1' })
        .catch((thrown: unknown) => thrown);
      const { message, upstream } = failed as ToolscoutError;
      expect(message).toContain('x://***/***');
      expect(upstream?.message).toContain('x://***/***');
      expect(JSON.stringify([message, upstream])).not.toMatch(/c4n4ry|CANARY/);
    },
  );

  it('NEG-6 EXEC-5 every outgoing parameter passes the rules and stands redacted in the audit log', async () => {
    const received: Array<{ method: string; params: JsonObject }> = [];
    const server = await scriptedServer({
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
      answer(method, params) {
        received.push({ method, params });
        if (method === 'completion/complete') return { result: { completion: { values: [] } } };
        if (method === 'prompts/get') return { result: { messages: [] } };
        if (method === 'resources/read') return { result: { contents: [] } };
        if (method === 'tools/call') return { result: { content: [] } };
        return undefined;
      },
    });
    const gateway = await openToolscout({
      servers: { h: { url: server.url } },
      redaction: [
        { match: 'customer', where: 'arguments' },
        { match: '/CANARY-\\d+/', where: 'arguments' },
      ],
    });
    const meta = { vendor: { customer: 'CANARY-0' }, note: 'of CANARY-1', traceparent: 'none' };
    await gateway.call('h', 'look', {}, { meta });
    await gateway.hosts.relay('h', 'prompts/get', { name: 'p', arguments: { customer: 'CANARY-2' }, _meta: meta });
    await gateway.hosts.relay('h', 'resources/read', { uri: 'note:CANARY-3', _meta: meta });
    await gateway.hosts.relay('h', 'completion/complete', {
      ref: { type: 'ref/prompt', name: 'p' },
      argument: { name: 'customer', value: 'Can' },
      context: { arguments: { customer: 'CANARY-4', other: 'CANARY-5' } },
      _meta: meta,
    });
    const asked = received.filter(({ method }) => /call|get|read|complete/.test(method));
    expect(asked.map(({ method }) => method)).toEqual([
      'tools/call',
      'prompts/get',
      'resources/read',
      'completion/complete',
    ]);
    expect(JSON.stringify(asked)).not.toContain('CANARY');
    expect(asked[3]?.params).toMatchObject({
      ref: { type: 'ref/prompt', name: 'p' },
      argument: { name: 'customer', value: '***' },
      context: { arguments: { customer: '***', other: '***' } },
    });
    for (const { params } of asked) expect(params['_meta']).toMatchObject({ vendor: { customer: '***' } });

    const records = (await gateway.audit.list({ server: 'h' })).filter(({ kind }) => kind !== 'discovered');
    expect(records.map(({ kind }) => kind).toReversed()).toEqual([
      'execution',
      'prompt-get',
      'resource-read',
      'completion',
    ]);
    expect(JSON.stringify(records)).not.toContain('CANARY');
    const [completion, read, prompt, execution] = records;
    expect(completion?.arguments).toMatchObject({ ref: { name: 'p' }, argument: { name: 'customer' } });
    expect(read).toMatchObject({ arguments: { _meta: { note: 'of ***' } }, detail: { uri: 'note:***' } });
    expect(prompt).toMatchObject({ arguments: { customer: '***' }, detail: { name: 'p' } });
    expect(execution).toMatchObject({ detail: { _meta: { vendor: { customer: '***' }, note: 'of ***' } } });
  });

  it('A33 A34 a secret in env, header, URL, argv, arguments and result is nowhere: logs, audit, answers of every front, metrics, files, exports', async () => {
    const canary = (place: string): string => `c4n4ry-${place}-0123456789`;
    const places = ['env', 'header', 'user', 'query', 'argv', 'argument', 'result'].map(canary);
    const remote = await startHttpFixture('http');
    const stateDir = await temporaryDirectory();
    const exported = await temporaryDirectory();
    const url = new URL(remote.url);
    url.username = 'me';
    url.password = canary('user');
    url.searchParams.set('key', canary('query'));
    const config: ConfigInput = {
      servers: {
        local: {
          ...fixture('capable', '--tools=get_incident', `--token=${canary('argv')}`),
          env: { API_KEY: canary('env') },
        },
        remote: { url: url.href, headers: { 'X-Api-Key': canary('header') } },
        dead: {
          url: `http://me:${canary('user')}@127.0.0.1:9/mcp?key=${canary('query')}`,
          headers: { Authorization: canary('header') },
        },
        broken: { command: '/nonexistent/server', args: ['--api-key', canary('argv')], env: { TOKEN: canary('env') } },
      },
      redaction: [
        { match: ['hidden', `/${canary('result')}/`], where: ['arguments', 'results', 'logs'] },
        { match: '/c4n4ry-argument-\\d+/', where: 'logs' },
      ],
      limits: { connectTimeoutMs: 3000 },
    };
    let seen = '';
    const see = (...things: unknown[]): void =>
      void (seen += `${things.map((thing) => JSON.stringify(thing)).join('\n')}\n`);
    const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((seen += String(text)), true));
    try {
      const open = (): Promise<Gateway> => openToolscout(config, { stateDir, logLevel: 'debug' });
      const gateway = await open();
      gateway.onEvent((event) => see(event));
      await gateway.servers.discover();
      const args = { password: canary('argument'), hidden: canary('result'), text: `token=${canary('argument')}` };
      const found = await gateway.call('local', 'get_incident', args);
      // The caller gave this one itself, and no rule takes it out of results.
      expect(JSON.stringify(found)).toContain(canary('argument'));
      expect(JSON.stringify(found)).not.toContain(canary('result'));
      for (const [server, tool] of [
        ['local', 'fail_aloud'],
        ['local', 'fail_rpc'],
        ['local', 'no_such_tool'],
        ['remote', 'echo'],
        ['dead', 'x'],
        ['broken', 'x'],
        ['nobody', 'x'],
      ] as const) {
        see(await gateway.call(server, tool, { hidden: canary('result') }));
      }
      see(await gateway.servers.list(), await gateway.reports.doctor(), await gateway.audit.list({ limit: 100 }));
      for (const server of ['local', 'remote', 'dead', 'broken']) see(await gateway.why(server, 'echo'));
      for (const format of ['markdown', 'json', 'typescript'] as const) {
        see(await gateway.exports.write({ format, file: join(exported, `all.${format}`) }));
      }
      const host = await connectHost(gateway);
      await host.call('list_mcp_servers', {});
      await host.call('execute_tool', { server: 'broken', tool: 'x', arguments: {} });
      await host.call('execute_tool', { server: 'local', tool: 'fail_aloud', arguments: {} });
      see(host.received);
      const metrics = createMetrics(gateway, systemClock);
      const http = await openHttpApp(metrics.gateway, { metrics });
      const registry = (await gateway.registry.get())!;
      metrics.watch(registry);
      await registry.refresh();
      for (const path of [
        '/v1/tools',
        '/v1/servers',
        '/v1/servers/local/tools',
        '/v1/servers/broken/tools',
        '/v1/servers/dead/tools',
        '/v1/search?q=incident&explain=true',
        '/v1/tools/local/get_incident',
        '/v1/audit?limit=100',
        '/v1/config',
        '/v1/approvals',
        '/v1/skills',
        '/ready',
        '/metrics',
        '/openapi.json',
        '/v0.1/servers',
        '/.well-known/mcp',
      ]) {
        see(await (await http.send(path)).text());
      }
      for (const [server, tool] of [
        ['local', 'fail_aloud'],
        ['remote', 'echo'],
        ['dead', 'x'],
        ['broken', 'x'],
      ] as const) {
        see(await (await http.post('/v1/call', { server, tool, arguments: { hidden: canary('result') } })).text());
      }
      await gateway.close();
      for (const line of [['servers'], ['doctor'], ['audit'], ['call', 'local', 'fail_aloud'], ['why', 'broken:x']]) {
        see(await commandLine([...line, '--json'], { gateway: open }), await commandLine(line, { gateway: open }));
      }
    } finally {
      stderr.mockRestore();
      await remote.stop();
    }
    seen += await bytesBelow(stateDir);
    seen += await bytesBelow(exported);
    expect(seen.length).toBeGreaterThan(10_000);
    for (const place of places) {
      const at = seen.indexOf(place);
      expect(at === -1 ? 'nowhere' : seen.slice(Math.max(0, at - 200), at + 60), place).toBe('nowhere');
    }
    for (const line of seen.split('\n').filter((each) => each.startsWith('{"time"')))
      expect(() => JSON.parse(line)).not.toThrow();
  });
});

describe('errors that say what to do', STARTS_PROCESSES, () => {
  const body = {
    error_code: 'INCIDENT_NOT_FOUND',
    suggestion: 'Verify the Fire ID against the IRWIN registry',
    severity: 'SEVERE',
  };

  it('EXEC-3 an error body reaches the library, the command line, the HTTP API and a host, wherever the server put it', async () => {
    const open = (): Promise<Gateway> => openToolscout({ servers: { s: fixture('capable') } });
    const gateway = await open();
    const host = await connectHost(gateway);
    const http = await openHttpApp(gateway);
    for (const tool of ['fail_text', 'fail_structured', 'fail_rpc']) {
      expect((await gateway.call('s', tool, {})).error, tool).toMatchObject({
        code: 'TOOL_EXECUTION_ERROR',
        ...body,
      });
      const { code, stdout } = await commandLine(['call', 's', tool, '--json'], { gateway: open });
      expect([code, JSON.parse(stdout).error]).toEqual([3, expect.objectContaining(body)]);
      expect((await commandLine(['call', 's', tool], { gateway: open })).stderr, tool).toContain(body.suggestion);
      const answer = await host.call('execute_tool', { server: 's', tool, arguments: {} });
      expect(answer['isError'], tool).toBe(true);
      const said = answer['structuredContent'] ?? JSON.parse(textOf(answer));
      expect(said, tool).toMatchObject(body);
      const problem = await http.post('/v1/call', { server: 's', tool, arguments: {} });
      expect(await problem.json(), tool).toMatchObject(body);
    }
  });
});
