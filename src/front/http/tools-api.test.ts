import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { fixture, waitUntil } from '../../../test/support/fixture.js';
import { callMark, openToolscout } from '../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../test/support/patience.js';
import { publish, viewerOf } from '../../gateway/index.js';
import type { Principal } from '../../model/principal.js';
import { addToolsApi, createToolsApi } from './tools-api.js';

const reader: Principal = { name: 'reader', scopes: new Set(['read']) };

describe('mounted in another app', STARTS_PROCESSES, () => {
  it('REG-10 the registry stands beside the routes of a Hono app, with or without a prefix', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    await (await gateway.registry.get())!.sync();
    const app = new Hono();
    app.get('/before', (context) => context.text('mine'));
    addToolsApi(app, gateway, { prefix: '/scout' });
    app.get('/after', (context) => context.text('mine too'));
    expect(await (await app.request('/before')).text()).toBe('mine');
    expect(await (await app.request('/after')).text()).toBe('mine too');
    const answer = await app.request('/scout/v1/tools');
    expect(await answer.json()).toMatchObject({ items: [{ id: 'old' }] });
    expect((await app.request('/v1/tools')).status).toBe(404);
  });

  it('REG-10 the routes are mounted over what a program has, and a copy of it is refused', async () => {
    const toolscout = publish(await openToolscout({ servers: { old: fixture('legacy'), other: fixture('modern') } }));
    await (await toolscout.registry.get())!.sync();
    const principal = (): Principal => reader;
    const own = { name: 'own', scopes: new Set(['read'] as const), servers: new Set(['old']) };
    const handler = createToolsApi(toolscout.as(viewerOf(own)), { groups: ['tools'], principal });
    const answer = await handler(new Request('http://app/v1/servers'));
    expect(await answer.json()).toMatchObject({ servers: [{ id: 'old' }] });
    expect(() => createToolsApi({ ...toolscout })).toThrow('was not returned by createToolscout() or as()');
  });

  it('REG-10 a registry alone is enough, and it cannot serve more', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const registry = (await gateway.registry.get())!;
    await registry.sync();
    const handler = createToolsApi(registry);
    expect((await handler(new Request('http://app/v1/tools'))).status).toBe(200);
    expect((await handler(new Request('http://app/v1/servers'))).status).toBe(404);
    expect((await handler(new Request('http://app/v1/tools?alive=perhaps'))).status).toBe(400);
    expect(() => createToolsApi(registry, { groups: ['tools'], principal: () => reader })).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('no routes of the group "tools"') as string,
        suggestion: expect.stringContaining('createToolscout()') as string,
      }),
    );
  });

  it('REG-10 S12 no route that shows or runs tools is mounted without a function that names the caller', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy'), hidden: fixture('modern') } });
    for (const group of ['tools', 'calls', 'admin', 'publish'] as const) {
      expect(() => createToolsApi(gateway, { groups: [group] })).toThrow(
        expect.objectContaining({
          message: expect.stringContaining('`principal`') as string,
          suggestion: expect.stringContaining('the sender of a request') as string,
        }),
      );
    }
    const handler = createToolsApi(gateway, {
      groups: ['tools', 'calls'],
      principal: (request) => {
        const name = request.headers.get('x-user');
        return name === null ? undefined : { ...reader, name, servers: new Set(['old']) };
      },
    });
    const send = (path: string, init: RequestInit = {}): Promise<Response> =>
      handler(new Request(`http://app${path}`, { ...init, headers: { 'x-user': 'ann', ...(init.headers as object) } }));
    const unknown = await handler(new Request('http://app/v1/servers'));
    expect(unknown.status).toBe(401);
    // The program decides about credentials: a key of toolscout would not help.
    expect(await unknown.json()).toMatchObject({ suggestion: 'Send the credentials that this service requires.' });
    expect(await (await send('/v1/servers')).text()).not.toContain('hidden');
    const call = {
      method: 'POST',
      body: '{"server":"old","tool":"echo"}',
      headers: { 'content-type': 'application/json' },
    };
    expect((await send('/v1/call', call)).status).toBe(403);
    expect((await send('/v1/config')).status).toBe(404);
  });

  it('REG-10 A1 a prefix is a whole part of the path, however it is written', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    await (await gateway.registry.get())!.sync();
    for (const prefix of ['/scout', '/scout/', 'scout', '/scout//']) {
      const handler = createToolsApi(gateway, { prefix, groups: ['registry', 'tools'], principal: () => reader });
      const ask = async (path: string): Promise<number> => (await handler(new Request(`http://app${path}`))).status;
      expect([prefix, await ask('/scout/v1/tools')]).toEqual([prefix, 200]);
      expect([prefix, await ask('/scout/v1/servers/old/tools')]).toEqual([prefix, 200]);
      for (const path of ['/scoutx/v1/servers/old/tools', '/scoutv1/tools', '/v1/tools', '/scout', '/sco']) {
        expect([prefix, path, await ask(path)]).toEqual([prefix, path, 404]);
      }
    }
    const bare = createToolsApi(gateway, { prefix: '/' });
    expect((await bare(new Request('http://app/v1/tools'))).status).toBe(200);
  });

  it('S1 REG-10 with allowed hosts named, others are refused', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    await (await gateway.registry.get())!.sync();
    const handler = createToolsApi(gateway, { allowedHosts: ['tools.example'] });
    const ask = async (host: string): Promise<number> =>
      (await handler(new Request('http://x/v1/tools', { headers: { host } }))).status;
    expect(await ask('tools.example')).toBe(200);
    expect(await ask('evil.example')).toBe(403);
  });

  it('REG-10 S4 a client that stops reading a stream cancels its call, also where no signal of the request tells', async () => {
    const mark = await callMark();
    const gateway = await openToolscout({ servers: { slow: fixture('slow', mark.flag) } });
    await gateway.servers.discover();
    const caller: Principal = { name: 'caller', scopes: new Set(['call']) };
    const handler = createToolsApi(gateway, { groups: ['calls'], principal: () => caller });
    const answer = await handler(
      new Request('http://app/v1/call', {
        method: 'POST',
        body: JSON.stringify({ server: 'slow', tool: 'wait', arguments: { ms: 60_000 } }),
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      }),
    );
    await mark.called();
    await answer.body!.cancel();
    await waitUntil(async () =>
      (await gateway.audit.list({ kind: 'execution' })).some(({ code }) => code === 'CANCELLED'),
    );
  });

  it('REG-10 the document of a mounted part names what is mounted, where it is mounted, and nothing else', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    await (await gateway.registry.get())!.sync();
    const handler = createToolsApi(gateway, { prefix: '/scout', groups: ['registry', 'status'] });
    const answer = await handler(new Request('http://app/scout/openapi.json'));
    const { paths, servers } = (await answer.json()) as { paths: object; servers: Array<{ url: string }> };
    expect(Object.keys(paths).toSorted()).toEqual(['/health', '/metrics', '/openapi.json', '/ready', '/v1/tools']);
    expect(servers).toEqual([{ url: '/scout' }]);
    for (const path of Object.keys(paths)) {
      expect([path, (await handler(new Request(`http://app${servers[0]!.url}${path}`))).status]).toEqual([path, 200]);
    }
  });
});
