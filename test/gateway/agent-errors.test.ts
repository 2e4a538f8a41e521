import { describe, expect, it } from 'vitest';
import { callMetaTool } from '../../src/front/mcp/menu/meta-tools.js';
import type { Gateway } from '../../src/gateway/index.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { commandLine } from '../support/command-line.js';
import { fixture } from '../support/fixture.js';
import { openHttpApp } from '../support/http-app.js';
import { connectHost } from '../support/mcp-host.js';
import { openOfflineGateway } from '../support/offline-gateway.js';
import { openToolscout, textOf } from '../support/open-toolscout.js';
import { scriptedServer, scriptedTool } from '../support/scripted-server.js';
import { STARTS_PROCESSES } from '../support/patience.js';

describe('an error body without isError', STARTS_PROCESSES, () => {
  const body = { error_code: 'INCIDENT_NOT_FOUND', suggestion: 'Verify the Fire ID.', severity: 'SEVERE' };
  const results: Record<string, JsonObject> = {
    as_text: { content: [{ type: 'text', text: JSON.stringify(body) }] },
    structured: { content: [{ type: 'text', text: 'see there' }], structuredContent: { error: body } },
  };

  it('EXEC-3 META-3 is a failure for the library, the command line, the HTTP API and the audit log; the host gets the result untouched', async () => {
    const { url } = await scriptedServer({
      tools: Object.keys(results).map((name) => scriptedTool(name)),
      answer: (method, { name }) => (method === 'tools/call' ? { result: results[String(name)] } : undefined),
    });
    const open = (): Promise<Gateway> => openToolscout({ servers: { s: { url } } });
    const gateway = await open();
    const http = await openHttpApp(gateway);
    for (const [tool, result] of Object.entries(results)) {
      const failure = { code: 'TOOL_EXECUTION_ERROR', ...body };
      expect(await gateway.call('s', tool, {}), tool).toMatchObject({ success: false, result, error: failure });
      const meant = { server: 's', tool, arguments: {} };
      expect(await callMetaTool(gateway, 'execute_tool', meant, {}), tool).toEqual(result);
      const problem = await http.post('/v1/call', meant);
      expect([problem.status, await problem.json()], tool).toEqual([
        502,
        expect.objectContaining({ ...failure, result }),
      ]);
      const { code, stdout } = await commandLine(['call', 's', tool, '--json'], { gateway: open });
      expect([code, JSON.parse(stdout)], tool).toMatchObject([3, { success: false, result, error: failure }]);
    }
    for (const record of await gateway.audit.list({ kind: 'execution' })) {
      expect(record).toMatchObject({ outcome: 'failure', code: 'TOOL_EXECUTION_ERROR' });
    }
  });
});

describe('arguments beside the field for them', STARTS_PROCESSES, () => {
  it('META-1 EXEC-3 the HTTP API names stray keys and runs nothing', async () => {
    const { gateway, starts } = await openOfflineGateway([{ id: 'fs', tools: [scriptedTool('look')] }]);
    const http = await openHttpApp(gateway);
    for (const stray of ['ms', 'args']) {
      const problem = await http.post('/v1/call', { server: 'fs', tool: 'look', [stray]: {} });
      expect([problem.status, await problem.json()]).toMatchObject([
        400,
        { code: 'INVALID_REQUEST', detail: expect.stringContaining(`"${stray}"`) as string },
      ]);
    }
    expect(starts()).toBe(0);
  });
});

describe('a tool that is not there', STARTS_PROCESSES, () => {
  it('META-4 the nearest names are of the same server first, by their words too', async () => {
    const tool = (name: string, description: string): JsonObject => ({
      name,
      description,
      inputSchema: { type: 'object' },
    });
    const { gateway } = await openOfflineGateway([
      { id: 'aaa', tools: [tool('open_file', 'Opens a file.'), tool('open_files', 'Opens files.')] },
      { id: 'fs', tools: [tool('read_text_file', 'Reads a file.'), tool('stat', 'Says how old it is.')] },
    ]);
    const { error } = await gateway.call('fs', 'open_file', {});
    expect(error?.message).toBe(
      'Server "fs" has no tool "open_file". Did you mean "read_text_file" or "aaa:open_file" or "aaa:open_files"?',
    );
  });
});

describe('a server that ends in the middle of a call', STARTS_PROCESSES, () => {
  it('EXEC-4 the agent is told that it is restarted and that the call may have taken effect; so it is', async () => {
    const gateway = await openToolscout({ servers: { old: { ...fixture('legacy'), timeoutMs: 20_000 } } });
    const call = { server: 'old', tool: 'crash', arguments: {} };
    const told = JSON.parse(textOf(await callMetaTool(gateway, 'execute_tool', call, {}))) as JsonObject;
    expect(told).toMatchObject({ code: 'SERVER_CONNECTION_ERROR', delivered: 'unknown' });
    expect(told['suggestion']).toMatch(/may have taken effect.*restarts the server with the next call/);
    expect(textOf(await gateway.call('old', 'echo', { message: 'back' }))).toBe('back');
    const problem = await (await openHttpApp(gateway)).post('/v1/call', call);
    expect(await problem.json()).toMatchObject({ delivered: 'unknown' });
  });

  it('EXEC-4 a server that cannot be started says that nothing was sent', async () => {
    const { gateway } = await openOfflineGateway([{ id: 'gone', tools: [scriptedTool('look')] }], {
      retryPolicy: { maxRetries: 0 },
    });
    const { error } = await gateway.call('gone', 'look', {});
    expect(error).toMatchObject({ code: 'SERVER_CONNECTION_ERROR', delivered: false });
  });
});

describe('a tool under a name of its own', STARTS_PROCESSES, () => {
  it.each([
    ['passthrough', 'legacy', 'stdio'],
    ['passthrough', 'modern', 'http'],
    ['hybrid', 'modern', 'stdio'],
    ['hybrid', 'legacy', 'http'],
    ['one server', 'legacy', 'stdio'],
    ['one server', 'modern', 'http'],
  ] as const)(
    'META-3 META-5 SEC-11 in %s, a %s host over %s reads advice for agents: a person approves, not the agent',
    async (mode, era, over) => {
      const { url } = await scriptedServer({ tools: [scriptedTool('drop'), scriptedTool('off')] });
      const isOne = mode === 'one server';
      const gateway = await openToolscout({
        servers: { notes: { url } },
        toolRules: [
          { pattern: 'off', enabled: false },
          { pattern: '*', confirm: true },
        ],
        ...(mode === 'hybrid' && { pinned: ['notes:*'] }),
        ...(!isOne && { mode }),
      });
      await gateway.servers.discover();
      const host = await connectHost(gateway, {
        era,
        over,
        capabilities: {},
        ...(isOne && (over === 'http' ? { path: '/servers/notes/mcp' } : { server: 'notes' })),
      });
      const name = isOne ? 'drop' : 'notes__drop';
      const refused = await host.request('tools/call', { name, arguments: {} });
      const { code, suggestion } = JSON.parse(textOf(refused)) as JsonObject;
      expect(code).toBe('CONFIRMATION_REQUIRED');
      expect(suggestion).toMatch(
        /^Ask the user to confirm it: toolscout approve call_[0-9a-f]{12}\. When they have confirmed, make the same call again with exactly the same arguments\.$/,
      );
    },
  );
});

describe('a tool that asks the user', STARTS_PROCESSES, () => {
  it.each(['legacy', 'modern'] as const)(
    'META-6 S8 without anybody to ask, a failed call to a %s server names that as the reason',
    async (era) => {
      const server = fixture('asking', ...(era === 'modern' ? ['--modern'] : []));
      const gateway = await openToolscout({ servers: { asking: server } });
      // Sampling that is declined fails in the server; the reason must not be lost in its words.
      const { error } = await gateway.call('asking', 'sample', { prompt: 'p' });
      expect(error?.message).toMatch(/there is no host to ask|no host is connected/);
      expect(error?.suggestion).toMatch(/a host that supports (sampling|elicitation)/);
      const { stderr } = await commandLine(['call', 'asking', 'sample', 'prompt=p'], {
        gateway: () => openToolscout({ servers: { asking: server } }),
      });
      expect(stderr).toMatch(/a host that supports/);
    },
  );

  it.each([
    ['legacy', 'legacy'],
    ['legacy', 'modern'],
    ['modern', 'legacy'],
    ['modern', 'modern'],
  ] as const)('META-6 S8 a %s host that cannot be asked by a %s server is named as the reason', async (host, era) => {
    const server = fixture('asking', ...(era === 'modern' ? ['--modern'] : []));
    const gateway = await openToolscout({ servers: { asking: server } });
    const { request } = await connectHost(gateway, { era: host, over: 'stdio', capabilities: {} });
    const call = { server: 'asking', tool: 'elicit', arguments: { message: 'm' } };
    const answer = await request('tools/call', { name: 'execute_tool', arguments: call });
    expect(answer['isError']).toBe(true);
    expect(textOf(answer)).toMatch(/(host|client) does not (offer|support)/i);
  });
});
