import { describe, expect, it } from 'vitest';
import { openHttpApp } from '../../../../test/support/http-app.js';
import { openOfflineGateway } from '../../../../test/support/offline-gateway.js';

const tool = (name: string, annotations: Record<string, boolean>) => ({
  name,
  description: 'Does something.',
  inputSchema: { type: 'object' },
  annotations,
});

describe('one tool over HTTP', () => {
  it('STUDIO-1 says that a tool may delete or overwrite something, where its server says so', async () => {
    const { gateway } = await openOfflineGateway([
      {
        id: 'notes',
        tools: [
          tool('wipe', { destructiveHint: true }),
          tool('read', { destructiveHint: true, readOnlyHint: true }),
          tool('add', { destructiveHint: false }),
        ],
      },
    ]);
    const { send } = await openHttpApp(gateway);
    const marked = async (name: string): Promise<unknown> =>
      ((await (await send(`/v1/tools/notes/${name}`)).json()) as { destructive?: boolean }).destructive;
    expect([await marked('wipe'), await marked('read'), await marked('add')]).toEqual([true, undefined, undefined]);
  });

  it('STUDIO-1 SEC-11 says which calls of a tool need a yes, in the details, the list and the search', async () => {
    const { gateway } = await openOfflineGateway(
      [{ id: 'notes', tools: ['wipe', 'move', 'send', 'add'].map((name) => tool(name, {})) }],
      {
        toolRules: [
          { pattern: 'wipe', confirm: true },
          { pattern: 'move', confirm: 'once' },
          { pattern: 'send', confirm: { when: 'to' } },
        ],
      },
    );
    const { send } = await openHttpApp(gateway);
    const details = async (name: string): Promise<unknown> =>
      ((await (await send(`/v1/tools/notes/${name}`)).json()) as { confirm?: unknown }).confirm;
    const always = { asks: 'always', rule: 'rule 1 (pattern "wipe")' };
    expect(await details('wipe')).toEqual(always);
    expect(await details('move')).toEqual({ asks: 'once', rule: 'rule 2 (pattern "move")' });
    expect(await details('send')).toEqual({ asks: 'when', when: 'to', rule: 'rule 3 (pattern "send")' });
    expect(await details('add')).toBeUndefined();
    const { tools } = (await (await send('/v1/servers/notes/tools')).json()) as {
      tools: Array<{ tool: string; confirm?: unknown }>;
    };
    expect(tools.find(({ tool: name }) => name === 'wipe')?.confirm).toEqual(always);
    const { hits } = (await (await send('/v1/search?q=wipe')).json()) as {
      hits: Array<{ tool: string; confirm?: unknown }>;
    };
    expect(hits.find(({ tool: name }) => name === 'wipe')?.confirm).toEqual(always);
  });

  it('STUDIO-1 A11 shows a tool that a rule disables only when it is wanted, and none that waits for approval', async () => {
    const servers = [{ id: 'notes', tools: [tool('wipe', {}), tool('add', {})] }];
    const toolRules = [{ pattern: 'wipe', enabled: false }];
    const { gateway } = await openOfflineGateway(servers, { toolRules });
    const { send } = await openHttpApp(gateway);
    expect((await send('/v1/tools/notes/wipe')).status).toBe(403);
    const shown = await send('/v1/tools/notes/wipe?include_disabled=true');
    expect(await shown.json()).toMatchObject({ description: 'Does something.', status: 'disabled', callable: false });
    const manual = await openHttpApp((await openOfflineGateway(servers, { toolRules, approval: 'manual' })).gateway);
    const hidden = await manual.send('/v1/tools/notes/add?include_disabled=true');
    expect([hidden.status, await hidden.text()]).toEqual([403, expect.not.stringContaining('Does something.')]);
  });
});
