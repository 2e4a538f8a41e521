import { describe, expect, it } from 'vitest';
import { commandLine } from '../../../../test/support/command-line.js';
import { openOfflineGateway } from '../../../../test/support/offline-gateway.js';

const TOOLS = [{ name: 'read_note', description: 'Reads a note.', inputSchema: { type: 'object' } }];

describe('toolscout cache clear', () => {
  it('DISC-4 CLI-1 forgets the lists of all servers, or what searches led to', async () => {
    const { gateway } = await openOfflineGateway([
      { id: 'notes', tools: TOOLS },
      { id: 'more', tools: TOOLS },
    ]);
    const kept = { ...gateway, close: async () => undefined };
    const run = async (...args: string[]) => commandLine(['cache', 'clear', ...args], { gateway: kept });
    expect(await run('--usage')).toMatchObject({ code: 0, stdout: 'What searches led to is forgotten\n' });
    expect(JSON.parse((await run('--usage', '--json')).stdout)).toHaveProperty('forgotten');
    expect(await run()).toMatchObject({ code: 0, stdout: '2 lists forgotten\n' });
    expect((await run('--json')).stdout).toMatch(/^\{"cleared":\d\}\n$/);
    const both = await run('notes', '--usage');
    expect([both.code, both.stdout]).toEqual([64, '']);
    expect(both.stderr).toContain('leave the server out');
    await gateway.close({ drainMs: 0 });
  });
});
