import { describe, expect, it } from 'vitest';
import { modernPost } from '../../../../test/support/modern-request.js';
import { openToolscout, textOf } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import type { Gateway } from '../../../gateway/index.js';
import { systemClock } from '../../../kernel/clock.js';
import type { JsonObject } from '../../../kernel/json.js';
import { silentLog } from '../../../kernel/log.js';
import { ADMIN_TOOLS } from './admin-tools.js';
import { createCatalogMenu } from './catalog-surface.js';
import type { Exchange } from '../exchange.js';
import { createMcpEndpoint } from '../http/http.js';
import { createListItems } from './list-items.js';

const INFO = { name: 'toolscout', version: '1' };

/** Calls a tool as a host that may administer toolscout, or may not. */
function call(gateway: Gateway, admin: boolean, name: string, args: JsonObject): Promise<JsonObject> {
  const surface = createCatalogMenu(gateway, {
    info: INFO,
    mode: 'meta',
    pinned: [],
    items: createListItems(),
    flat: false,
    admin,
  })();
  const exchange = { principal: 'ann', signal: new AbortController().signal, host: { era: 'legacy' } };
  return surface.answer('tools/call', { name, arguments: args }, exchange as unknown as Exchange);
}

/** The names on the menu that a host of the modern era gets. */
async function menu(gateway: Gateway, admin?: boolean): Promise<string[]> {
  const endpoint = createMcpEndpoint({ gateway, info: INFO, log: silentLog, clock: systemClock, admin });
  const answer = await endpoint.fetch(new Request('http://127.0.0.1/mcp', modernPost('tools/list')));
  const text = await answer.text();
  await endpoint.close();
  return [...text.matchAll(/"name":"([a-z_]+)"/g)].map((match) => match[1]!);
}

describe('the tools of administrators', STARTS_PROCESSES, () => {
  it('SEC-9 only administrators see or run them', async () => {
    const gateway = await openToolscout({});
    const names = ADMIN_TOOLS.map(({ name }) => name);
    expect(names).toEqual(['ccos_introspect_remote_api', 'ccos_register_server', 'ccos_unregister_server']);
    expect(await menu(gateway)).not.toEqual(expect.arrayContaining(names));
    expect(await menu(gateway, true)).toEqual(expect.arrayContaining(names));
    const answer = await call(gateway, false, 'ccos_register_server', { id: 'x', command: 'y' });
    expect(answer).toMatchObject({ isError: true });
    expect(JSON.parse(textOf(answer))).toMatchObject({ code: 'TOOL_NOT_FOUND' });
    expect(await gateway.servers.list()).toEqual([]);
  });

  it('SEC-9 an administrator registers a server, which waits for the user', async () => {
    const gateway = await openToolscout({});
    const answer = await call(gateway, true, 'ccos_register_server', {
      id: 'found',
      command: 'x',
      args: ['-y', 'pkg'],
    });
    expect(JSON.parse(textOf(answer))).toMatchObject({ server: 'found', state: 'pending', target: 'x -y pkg' });
    expect(await gateway.approvals.list({ state: 'pending' })).toMatchObject([
      { ref: 'found', origin: 'introspected' },
    ]);
    expect(await gateway.audit.list({ kind: 'register' })).toMatchObject([
      { server: 'found', principal: 'ann', outcome: 'success' },
    ]);
  });

  it('SEC-9 an administrator removes a registered server, and only such a one', async () => {
    const gateway = await openToolscout({ servers: { mine: { command: 'x' } } });
    await call(gateway, true, 'ccos_register_server', { id: 'found', command: 'x' });
    const answer = await call(gateway, true, 'ccos_unregister_server', { id: 'found' });
    expect(JSON.parse(textOf(answer))).toEqual({ server: 'found', removed: true });
    expect((await gateway.servers.list()).map(({ id }) => id)).toEqual(['mine']);
    const refused = await call(gateway, true, 'ccos_unregister_server', { id: 'mine' });
    expect(JSON.parse(textOf(refused))).toMatchObject({ code: 'SERVER_NOT_FOUND' });
    expect((await gateway.servers.list()).map(({ id }) => id)).toEqual(['mine']);
  });

  it.each<[string, string, JsonObject, string]>([
    ['no id', 'ccos_register_server', { command: 'x' }, 'INVALID_REQUEST'],
    ['an id that is no text', 'ccos_register_server', { id: { a: 1 }, command: 'x' }, 'INVALID_REQUEST'],
    ['arguments that are not strings', 'ccos_register_server', { id: 'a', command: 'x', args: [1] }, 'INVALID_REQUEST'],
    ['neither command nor url', 'ccos_register_server', { id: 'a' }, 'CONFIGURATION_ERROR'],
    ['a prototype for an id', 'ccos_register_server', { id: '__proto__' }, 'CONFIGURATION_ERROR'],
    ['no url', 'ccos_introspect_remote_api', {}, 'INVALID_REQUEST'],
    ['a url and a server', 'ccos_introspect_remote_api', { url: 'https://a.example/', server: 'a' }, 'INVALID_REQUEST'],
    ['a server that is not registered', 'ccos_introspect_remote_api', { server: 'nobody' }, 'SERVER_NOT_FOUND'],
    ['this machine', 'ccos_introspect_remote_api', { url: 'https://127.0.0.1/', allowPrivate: true }, 'FORBIDDEN'],
  ])('SEC-9 A36 %s is refused, as an answer', async (_what, name, args, code) => {
    const gateway = await openToolscout({});
    const answer = await call(gateway, true, name, args);
    expect(answer).toMatchObject({ isError: true });
    expect(JSON.parse(textOf(answer))).toMatchObject({ code });
    expect(await gateway.servers.list()).toEqual([]);
  });
});
