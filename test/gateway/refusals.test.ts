import { describe, expect, it } from 'vitest';
import type { ConfigInput } from '../../src/model/config.js';
import { openToolscout } from '../support/open-toolscout.js';
import { scriptedServer, scriptedTool, type ScriptedAnswer } from '../support/scripted-server.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const TOOLS = [
  scriptedTool('look', { annotations: { readOnlyHint: true } }),
  scriptedTool('set', { annotations: { idempotentHint: true } }),
  scriptedTool('buy'),
];
const RETRY: ConfigInput = { retryPolicy: { maxRetries: 2, initialDelayMs: 1, maxDelayMs: 5000 } };

/** A server that refuses the first calls, and a gateway before it. */
async function setUp(refusal: ScriptedAnswer | 'silence', times = 1, more: object = {}) {
  const server = await scriptedServer({
    tools: TOOLS,
    answer: (method, _, attempt) => (method === 'tools/call' && attempt <= times ? refusal : undefined),
  });
  const gateway = await openToolscout({ ...RETRY, servers: { h: { url: server.url, ...more } } });
  return { gateway, server, calls: () => server.count('tools/call') };
}

describe('a remote server that refuses a call', STARTS_PROCESSES, () => {
  it.each([429, 502, 503, 504])(
    'CONN-7 with HTTP %i is asked again for a tool that may be repeated, and for no other',
    async (status) => {
      for (const tool of ['look', 'set']) {
        const { gateway, calls } = await setUp({ status });
        expect(await gateway.call('h', tool, {})).toMatchObject({ success: true });
        expect(calls()).toBe(2);
      }
      const { gateway, calls } = await setUp({ status });
      expect(await gateway.call('h', 'buy', {})).toMatchObject({ success: false });
      expect(calls()).toBe(1);
    },
  );

  it.each([400, 404, 500])('CONN-7 with HTTP %i is not asked again', async (status) => {
    const { gateway, calls } = await setUp({ status });
    expect(await gateway.call('h', 'look', {})).toMatchObject({ success: false });
    expect(calls()).toBe(1);
  });

  it('CONN-7 is retried after its Retry-After, and given up when that is too late', async () => {
    const soon = await setUp({ status: 503, headers: { 'retry-after': '1' } });
    expect(await soon.gateway.call('h', 'look', {})).toMatchObject({ success: true });
    expect(soon.calls()).toBe(2);
    const late = await setUp({ status: 503, headers: { 'retry-after': '60' } });
    expect(await late.gateway.call('h', 'look', {})).toMatchObject({
      error: { code: 'SERVER_CONNECTION_ERROR', retryAfterMs: 60_000 },
    });
    expect(late.calls()).toBe(1);
  });

  it('CONN-7 or says nothing in time, is asked again for a tool that may be repeated, and for no other', async () => {
    const look = await setUp('silence', 1, { timeout: 300 });
    expect(await look.gateway.call('h', 'look', {})).toMatchObject({ success: true });
    expect(look.calls()).toBe(2);
    const buy = await setUp('silence', 1, { timeout: 300 });
    expect(await buy.gateway.call('h', 'buy', {})).toMatchObject({ error: { code: 'TOOL_EXECUTION_TIMEOUT' } });
    expect(buy.calls()).toBe(1);
  });

  it.each([400, 403, 429, 500, 503])(
    'EXEC-3 A33 with HTTP %i is heard: error_code, suggestion and severity of its body reach the caller',
    async (status) => {
      const body = { error_code: 'E42', message: 'full', suggestion: 'Ask for T0ken-canary.', severity: 'WARNING' };
      const { gateway } = await setUp({ status, body: JSON.stringify(body) }, 9, {
        headers: { authorization: 'T0ken-canary' },
      });
      const { error } = await gateway.call('h', 'buy', {});
      expect(error).toMatchObject({
        error_code: 'E42',
        message: 'E42: full',
        suggestion: 'Ask for ***.',
        severity: 'WARNING',
      });
    },
  );
});

/** A server with a resource, a template and a prompt that refuses the first request of some methods. */
async function setUpBesides(refused: (method: string, attempt: number) => ScriptedAnswer | undefined) {
  const lists: Record<string, object> = {
    'resources/list': { resources: [{ uri: 'note:1', name: 'one' }, { name: 'no uri' }] },
    'resources/templates/list': { resourceTemplates: [{ uriTemplate: 'note:{id}', name: 'any' }] },
    'prompts/list': { prompts: [{ name: 'greet' }] },
    'resources/read': { contents: [{ uri: 'note:1', text: 'milk' }] },
    'prompts/get': { messages: [] },
  };
  const server = await scriptedServer({
    capabilities: { tools: {}, resources: {}, prompts: {} },
    answer(method, _, attempt) {
      const refusal = refused(method, attempt);
      const result = lists[method];
      return refusal ?? (result && { result: { ...result } });
    },
  });
  return { server, gateway: await openToolscout({ ...RETRY, servers: { h: { url: server.url } } }) };
}

describe('a remote server that refuses what is no call', STARTS_PROCESSES, () => {
  it.each([429, 503])('CONN-7 DISC-1 with HTTP %i is asked again for what it has besides tools', async (status) => {
    const once = await setUpBesides((method, attempt) =>
      /^(resources|prompts)\//.test(method) && attempt === 1 ? { status } : undefined,
    );
    const { gateway, server } = once;
    expect(await gateway.hosts.relay('h', 'resources/read', { uri: 'note:1' })).toMatchObject({
      contents: [{ text: 'milk' }],
    });
    expect(await gateway.hosts.relay('h', 'prompts/get', { name: 'greet' })).toMatchObject({ messages: [] });
    expect(await gateway.servers.discoverResources('h')).toMatchObject({
      resources: [{ uri: 'note:1' }],
      templates: [{ uriTemplate: 'note:{id}' }],
    });
    expect(await gateway.servers.discoverPrompts('h')).toMatchObject([{ name: 'greet' }]);
    expect(server.count('resources/read')).toBe(2);

    const other = await setUpBesides((method, attempt) =>
      /^(resources|prompts)\//.test(method) && attempt === 1 ? { status } : undefined,
    );
    expect(await other.gateway.servers.facts('h')).toMatchObject({
      resources: [{ uri: 'note:1' }],
      resourceTemplates: [{ uriTemplate: 'note:{id}' }],
      prompts: [{ name: 'greet' }],
    });
  });

  it('CONN-7 DISC-1 that goes on refusing costs neither its tools nor more patience than for one list', async () => {
    const { gateway, server } = await setUpBesides((method) =>
      /^(resources|prompts)\//.test(method) ? { status: 503 } : undefined,
    );
    expect(await gateway.servers.discoverTools('h')).toMatchObject([{ name: 'look' }]);
    expect(server.count('tools/list')).toBe(1);
    expect(server.count('resources/list')).toBe(3);
    expect(server.count('prompts/list')).toBe(1);
    await expect(gateway.servers.discoverPrompts('h')).rejects.toMatchObject({ code: 'SERVER_CONNECTION_ERROR' });
  });

  it.each(['vendor/buy', 'Resources/Read', 'resources/read ', 'tools/call', 'initialize', 'roots/list', '__proto__'])(
    'A46 is never sent the method %j by a relay',
    async (method) => {
      const { gateway, server } = await setUpBesides(() => undefined);
      await gateway.servers.facts('h');
      await expect(gateway.hosts.relay('h', method, { name: 'look' })).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
        message: `The method "${method.trim()}" is not passed on to servers.`,
      });
      if (method !== 'initialize') expect(server.count(method)).toBe(0);
    },
  );

  it('CONN-7 EXEC-1 is not waited for longer than the caller said', async () => {
    const { gateway, server } = await setUpBesides((method) =>
      method === 'resources/read' ? { status: 202 } : undefined,
    );
    const read = gateway.hosts.relay('h', 'resources/read', { uri: 'note:1' }, { timeoutMs: 200 });
    await expect(read).rejects.toMatchObject({ code: 'TOOL_EXECUTION_TIMEOUT' });
    expect(server.count('resources/read')).toBe(1);
  });

  it('CONN-7 is not asked again when it says no for good', async () => {
    const { gateway, server } = await setUpBesides((method) =>
      method === 'resources/read' ? { status: 400 } : undefined,
    );
    await expect(gateway.hosts.relay('h', 'resources/read', { uri: 'note:1' })).rejects.toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
    });
    expect(server.count('resources/read')).toBe(1);
  });
});
