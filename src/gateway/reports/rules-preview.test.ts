import { describe, expect, it } from 'vitest';
import { testTool } from '../../../test/support/test-tool.js';
import { compileRules } from '../../normalize/index.js';
import { previewRules } from './rules-preview.js';

const NONE = compileRules([]);

describe('a preview of rules', () => {
  it('STUDIO-8 says what each rule decides and tags, and what would be different from now', async () => {
    const tools = ['read', 'write', 'list'].map((name) => testTool('s', name));
    const rules = [
      { pattern: 'write', enabled: false },
      { pattern: 's:*', tags: ['all'] },
    ];
    const preview = await previewRules(rules, NONE, tools);
    expect(preview.rules).toMatchObject([
      { enables: { count: 0 }, disables: { count: 1, tools: ['s:write'] }, tags: { count: 0 } },
      { enables: { count: 0 }, disables: { count: 0 }, tags: { count: 3 } },
    ]);
    expect(preview.undecided).toEqual({
      count: 2,
      tools: ['s:read', 's:list'],
      enabled: true,
      waiting: { count: 0, tools: [] },
    });
    expect(preview.changed).toMatchObject({ on: { count: 0 }, off: { tools: ['s:write'] } });
    const back = await previewRules([], compileRules(rules), tools);
    expect(back.changed).toMatchObject({ on: { tools: ['s:write'] }, off: { count: 0 } });
  });

  it('STUDIO-8 SEC-9 tools that wait for approval are neither on nor off by a rule', async () => {
    const tools = [
      testTool('s', 'read_a'),
      testTool('s', 'read_b', { status: 'quarantined' }),
      testTool('s', 'write', { status: 'pending' }),
    ];
    const one = (name: string) => ({ count: 1, tools: [`s:${name}`] });
    const none = { count: 0, tools: [] };
    const off = await previewRules([{ pattern: 'read_*', enabled: false }], NONE, tools);
    expect(off.rules).toMatchObject([{ enables: none, disables: one('read_a'), waiting: one('read_b') }]);
    expect(off.undecided).toEqual({ ...none, enabled: true, waiting: one('write') });
    expect(off.changed).toEqual({ on: none, off: one('read_a'), waiting: one('read_b') });
    const on = await previewRules([{ pattern: '*', enabled: true }], NONE, tools);
    expect(on.rules).toMatchObject([{ enables: one('read_a'), waiting: { count: 2 } }]);
    expect(on.changed).toEqual({ on: none, off: none, waiting: none });
  });

  it('STUDIO-8 SEC-11 names the tools whose calls a rule makes a person confirm: the first rule that fits says it', async () => {
    const tools = [
      ...['delete_a', 'delete_b', 'off', 'read'].map((name) => testTool('s', name)),
      testTool('s', 'delete_c', { status: 'pending' }),
    ];
    const rules = [
      { pattern: 'delete_b', confirm: false },
      { pattern: 'off', enabled: false },
      { pattern: 'delete_*', confirm: 'once' as const },
      { pattern: '!read', confirm: true },
    ];
    const preview = await previewRules(rules, NONE, tools);
    expect(preview.rules.map(({ confirms }) => confirms.tools)).toEqual([[], [], ['s:delete_a'], []]);
  });

  it('STUDIO-8 one rule that turns tools on turns the others off; of many tools the first are named', async () => {
    const tools = Array.from({ length: 250 }, (_, at) => testTool('s', `tool_${at}`));
    const { rules, undecided, changed } = await previewRules([{ pattern: 'tool_7', enabled: true }], NONE, tools);
    expect(rules).toMatchObject([{ enables: { count: 1, tools: ['s:tool_7'] } }]);
    expect([undecided.enabled, undecided.count, undecided.tools.length]).toEqual([false, 249, 200]);
    expect([changed.off.count, changed.off.tools.length, changed.on.count]).toEqual([249, 200, 0]);
  });

  it('STUDIO-8 PAT-4 an exception turns on one tool and nothing else, and its rules are in the answer', async () => {
    const tools = ['delete_a', 'delete_b', 'read'].map((name) => testTool('s', name));
    const rules = [{ pattern: 'delete_*', enabled: false }];
    const preview = await previewRules(rules, compileRules(rules), tools, 's:delete_a');
    expect(preview.rules.map(({ rule }) => rule)).toEqual([{ pattern: ['delete_*', '!s:delete_a'], enabled: false }]);
    expect(preview.changed).toMatchObject({ on: { tools: ['s:delete_a'] }, off: { count: 0 } });
    await expect(previewRules(rules, NONE, tools, 's:none')).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' });
    const many = Array.from({ length: 1000 }, () => rules[0]!);
    expect((await previewRules(many, NONE, tools, 's:delete_a')).changed.off.tools).toEqual(['s:delete_b']);
  });

  it('STUDIO-8 a pattern that is invalid is named', async () => {
    await expect(previewRules([{ pattern: '/(/', enabled: true }], NONE, [])).rejects.toMatchObject({
      code: 'CONFIGURATION_ERROR',
    });
  });

  it('STUDIO-8 A24 patterns that would take too long are refused before they are matched', async () => {
    const tooLarge = { code: 'INVALID_REQUEST', message: 'The patterns of these rules are too large for a preview.' };
    const heavy = Array.from({ length: 50 }, (_, at) => ({ pattern: `/(a?){1000}(a){${900 + at}}/`, enabled: true }));
    await expect(previewRules(heavy, NONE, [])).rejects.toMatchObject(tooLarge);
    const list = [{ pattern: heavy.map(({ pattern }) => pattern), enabled: true }];
    await expect(previewRules(list, NONE, [])).rejects.toMatchObject(tooLarge);
    const invalid = Array.from({ length: 1000 }, () => ({ pattern: '/(/', enabled: true }));
    await expect(previewRules(invalid, NONE, [])).rejects.toMatchObject(tooLarge);
    // As many globs as a request may hold are no trouble.
    const globs = Array.from({ length: 1000 }, (_, at) => ({ pattern: `*delete_${at}*`, enabled: false }));
    expect((await previewRules(globs, NONE, [])).rules).toHaveLength(1000);
  });
});
