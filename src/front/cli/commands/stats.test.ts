import { describe, expect, it } from 'vitest';
import { commandLine } from '../../../../test/support/command-line.js';
import { openOfflineGateway } from '../../../../test/support/offline-gateway.js';
import type { Stats, Usage } from '../../../model/stats.js';
import { describeSaving } from './stats.js';

const TOOLS = [{ name: 'read_note', description: 'Reads a note.', inputSchema: { type: 'object' } }];
const usage = (menus: number, withheld: number): Usage => ({
  calls: 0,
  failed: 0,
  searches: 0,
  reads: 0,
  menus,
  tokens: { arguments: 0, returned: 0, withheld },
});
const saving = (total: Usage): string =>
  describeSaving({
    by: 'day',
    rows: [],
    more: 0,
    total,
    menu: { tools: 1200, everyTool: 90_000, given: 700 },
    saved: 89_300,
  } satisfies Stats);

describe('toolscout stats', () => {
  it('ANS-7 CLI-1 the sentence at the end counts menus, and results only where some were kept back', () => {
    expect(saving(usage(0, 0))).toBe(
      'All 1,200 tools would cost 90,000 tokens each time a host loads them; no host has connected yet.',
    );
    expect(saving(usage(1, 0))).toMatch(/; the menu that was loaded cost 700\. Saved: about 89,300 tokens\.$/);
    expect(saving(usage(3, 50))).toMatch(
      /; the 3 menus that were loaded cost 700\..* 50 of them are results that were kept back\.$/,
    );
  });

  it('ANS-7 CLI-1 says when nothing is recorded, and how many rows --limit left out', async () => {
    const { gateway } = await openOfflineGateway([{ id: 'notes', tools: TOOLS }], {
      retryPolicy: { maxRetries: 0 },
    });
    const kept = { ...gateway, close: async () => undefined };
    const run = async (...args: string[]) => commandLine(['stats', ...args], { gateway: kept });
    expect((await run()).stderr).toContain('Nothing is recorded yet.');
    await gateway.call('notes', 'read_note', {});
    await gateway.search('note');
    const shown = await run('--by', 'server', '--limit', '1');
    expect(shown.stdout).toContain('TOKENS SENT');
    expect(shown.stdout).toMatch(/^total +1 +1 +1 /m);
    expect(shown.stderr).toContain('1 more rows: --limit 2');
    expect((await run('--by', 'server')).stdout).toContain('(toolscout itself)');
    const later = await run('--since', '2999-01-01');
    expect(later).toMatchObject({ code: 0, stdout: '' });
    expect(later.stderr).toContain('Nothing is recorded since then.');
    expect(later.stderr).toContain('o host has connected since then.');
    await gateway.close({ drainMs: 0 });
  });
});
