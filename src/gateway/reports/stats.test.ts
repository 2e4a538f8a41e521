import { describe, expect, it } from 'vitest';
import { testTool } from '../../../test/support/test-tool.js';
import type { AuditSum } from '../../model/stats.js';
import { LOCAL_VIEWER, viewerOf } from '../viewer.js';
import { addUp, createDefinitionTokens, groupsFor } from './stats.js';

const tokens = (args: number, returned: number, withheld = 0) => ({ arguments: args, returned, withheld });
const sum = (kind: string, more: Partial<AuditSum> = {}): AuditSum => ({
  kind,
  records: 1,
  failed: 0,
  waiting: 0,
  tokens: tokens(1, 10),
  ...more,
});
const MENU = { tools: 50, everyTool: 5000 };
const limited = viewerOf({ name: 'ann', scopes: new Set(['admin']), servers: new Set(['notes']) });

describe('stats', () => {
  it('ANS-7 calls, reads, searches and menus are counted apart; administrative acts are not in it', () => {
    const sums = [
      sum('execution', { server: 'notes', records: 3, failed: 1, tokens: tokens(30, 300, 70) }),
      sum('resource-read', { server: 'notes' }),
      sum('prompt-get', { server: 'files' }),
      sum('search', { records: 2 }),
      sum('menu', { records: 4, tokens: tokens(0, 1900) }),
      sum('reload'),
      sum('discovered', { server: 'notes' }),
    ];
    const stats = addUp({ by: 'server' }, sums, LOCAL_VIEWER, MENU);
    expect(stats).toEqual({
      by: 'server',
      rows: [
        { key: '', calls: 0, failed: 0, reads: 0, searches: 2, menus: 4, tokens: tokens(1, 1910) },
        { key: 'notes', calls: 3, failed: 1, reads: 1, searches: 0, menus: 0, tokens: tokens(31, 310, 70) },
        { key: 'files', calls: 0, failed: 0, reads: 1, searches: 0, menus: 0, tokens: tokens(1, 10) },
      ],
      more: 0,
      total: { calls: 3, failed: 1, reads: 2, searches: 2, menus: 4, tokens: tokens(33, 2230, 70) },
      menu: { ...MENU, given: 1900 },
      // Four times every tool instead of what was given, and what was withheld.
      saved: 4 * 5000 - 1900 + 70,
    });
  });

  it('ANS-7 menus that hold every tool save nothing, and never less', () => {
    expect(addUp({}, [sum('menu', { tokens: tokens(0, 6000) })], LOCAL_VIEWER, MENU).saved).toBe(0);
    expect(addUp({}, [], LOCAL_VIEWER, MENU)).toMatchObject({ by: 'day', rows: [], saved: 0, total: { calls: 0 } });
  });

  it('ANS-7 days come newest first, everything else by tokens; the limit leaves out the rest of the rows, not of the total', () => {
    const days = ['2026-01-01', '2026-01-03', '2026-01-02'].map((day) => sum('execution', { day }));
    expect(addUp({ by: 'day' }, days, LOCAL_VIEWER, MENU).rows.map(({ key }) => key)).toEqual([
      '2026-01-03',
      '2026-01-02',
      '2026-01-01',
    ]);
    const tools = ['a', 'b', 'c'].map((tool, at) => sum('execution', { server: 's', tool, tokens: tokens(0, at) }));
    const top = addUp({ by: 'tool', limit: 2, since: 5, until: 9 }, tools, LOCAL_VIEWER, MENU);
    expect(top.rows.map(({ key }) => key)).toEqual(['s:c', 's:b']);
    expect(top).toMatchObject({ more: 1, since: 5, until: 9, total: { calls: 3 } });
  });

  it('ANS-7 S12 a viewer of some servers gets the sums of those and of its own searches and menus', () => {
    expect(groupsFor('day', limited).toSorted()).toEqual(['day', 'principal', 'server', 'tool']);
    expect(groupsFor('tool', LOCAL_VIEWER)).toEqual(['server', 'tool']);
    const sums = [
      sum('execution', { server: 'notes', tool: 'read', principal: 'bob' }),
      sum('execution', { server: 'secret', tool: 'read', principal: 'ann' }),
      sum('search', { principal: 'ann' }),
      sum('search', { principal: 'bob' }),
      sum('menu', { principal: 'bob' }),
    ];
    const { rows, total } = addUp({ by: 'server' }, sums, limited, MENU);
    expect(rows.map(({ key }) => key).toSorted()).toEqual(['', 'notes']);
    expect(total).toMatchObject({ calls: 1, searches: 1, menus: 0 });
    expect(JSON.stringify(addUp({ by: 'principal' }, sums, limited, MENU))).not.toContain('secret');
  });

  it('ANS-7 the definitions of all tools are what a host would load', async () => {
    const count = createDefinitionTokens();
    const tool = testTool('notes', 'read', { definition: { name: 'read', description: 'Reads a note by its id.' } });
    const one = await count([tool]);
    expect(one).toBeGreaterThan(8);
    expect(await count([tool, tool])).toBe(2 * one);
    expect(await count([])).toBe(0);
  });
});
