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
});
