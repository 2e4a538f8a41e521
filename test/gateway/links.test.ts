import { describe, expect, it } from 'vitest';
import type { Gateway } from '../../src/gateway/index.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { temporaryDirectory } from '../support/fixture.js';
import { connectHost, type TestHost } from '../support/mcp-host.js';
import { openToolscout } from '../support/open-toolscout.js';
import { scriptedServer, scriptedTool } from '../support/scripted-server.js';

const URI = 'x://report';
const link = { type: 'resource_link', uri: URI, name: 'report' };

/** A server whose tool gives a link, or that lists what it links to. */
async function server(name: string, listed: readonly JsonObject[]): Promise<{ readonly url: string }> {
  const { url } = await scriptedServer({
    tools: [scriptedTool('give')],
    capabilities: { tools: {}, resources: {} },
    answer(method) {
      if (method === 'tools/call') return { result: { content: [link] } };
      if (method === 'resources/list') return { result: { resources: [...listed] } };
      if (method === 'resources/templates/list') return { result: { resourceTemplates: [] } };
      return method === 'resources/read' ? { result: { contents: [{ uri: URI, text: `from ${name}` }] } } : undefined;
    },
  });
  return { url };
}

async function servers(): Promise<Record<string, { readonly url: string }>> {
  return { giver: await server('giver', []), other: await server('other', [{ uri: URI, name: 'report' }]) };
}

async function hostOf(gateway: Gateway, name = 'test-host'): Promise<TestHost> {
  await gateway.servers.discover();
  return connectHost(gateway, { era: 'legacy', over: 'stdio', name });
}

async function read(host: TestHost): Promise<unknown> {
  const { contents } = await host.request('resources/read', { uri: URI });
  return (contents as JsonObject[])[0]?.['text'];
}

describe('a link in an answer', () => {
  it.each([
    ['its name', { name: 'giver__give', arguments: {} }, 'passthrough'],
    ['execute_tool', { name: 'execute_tool', arguments: { server: 'giver', tool: 'give', arguments: {} } }, 'hybrid'],
    ['one address', { name: 'execute_tool', arguments: { tool: 'giver:give', arguments: {} } }, 'hybrid'],
  ] as const)('A52 leads to the server whose tool was called by %s', async (_way, call, mode) => {
    const gateway = await openToolscout({ servers: await servers(), mode, approval: 'off' });
    const host = await hostOf(gateway);
    await host.request('tools/call', call);
    expect(await read(host)).toBe('from giver');
  });

  it('A52 leads there for another host, on another replica and after a restart', async () => {
    const stateDir = await temporaryDirectory();
    const config = { servers: await servers(), mode: 'passthrough', approval: 'off' } as const;
    const first = await openToolscout(config, { stateDir });
    const host = await hostOf(first);
    await host.request('tools/call', { name: 'giver__give', arguments: {} });
    expect(await read(await hostOf(first, 'another'))).toBe('from giver');
    const replica = await openToolscout(config, { stateDir });
    expect(await read(await hostOf(replica))).toBe('from giver');
    await replica.close({ drainMs: 0 });
    await first.close({ drainMs: 0 });
    const next = await hostOf(await openToolscout(config, { stateDir }));
    expect(await read(next)).toBe('from giver');
    await next.request('tools/call', { name: 'other__give', arguments: {} });
    // Several servers gave it by now, in whichever process.
    const last = await hostOf(await openToolscout(config, { stateDir }));
    await expect(read(last)).rejects.toThrow('Resource not found');
  });
});
