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
