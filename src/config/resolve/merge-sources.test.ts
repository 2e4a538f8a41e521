import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServerEntry } from '../../model/config.js';
import type { ImportedServer } from '../../model/source.js';
import { compileRules } from '../../normalize/index.js';
import { launchOf, rulesFor, sortOut, warningsAbout } from './merge-sources.js';

const NOTHING_TAKEN = { ids: new Set<string>(), launches: new Map<string, string>() };

function server(id: string, entry: ServerEntry, more: Partial<ImportedServer> = {}): ImportedServer {
  return {
    id,
    entry,
    scope: 'user',
    client: 'cursor',
    file: '/f',
    autoApproved: [],
    disabledTools: [],
    capabilities: [],
    prompts: [],
    notes: [],
    ...more,
  };
}

describe('sortOut', () => {
  it('CFG-5 the same server from several clients is one, and is the user’s as soon as one of them is', () => {
    const found = [
      server('a', { command: 'x' }, { scope: 'project', disabledTools: ['t'] }),
      server('b', { command: 'x', args: [], env: {} }, { client: 'zed', disabledTools: ['u'] }),
    ];
    const fates = sortOut(found, NOTHING_TAKEN);
    expect(fates.map(({ fate }) => fate)).toEqual(['same', 'new']);
    expect(fates[1]!.server).toMatchObject({ id: 'b', scope: 'user', disabledTools: ['u', 't'] });
  });

  it('CFG-5 a server that one client turned off is on when another has it on', () => {
    const off = server('a', { command: 'x', enabled: false });
    expect(sortOut([off, server('b', { command: 'x' })], NOTHING_TAKEN)[0]!.server.entry.enabled).toBeUndefined();
    expect(sortOut([off, off], NOTHING_TAKEN)[0]!.server.entry.enabled).toBe(false);
  });

  it('A53 a file of a project does not turn on what the user turned off', () => {
    const own = server('a', { command: 'x', enabled: false });
    const brought = (enabled?: boolean) => server('b', { command: 'x', enabled }, { scope: 'project' });
    for (const found of [
      [own, brought()],
      [brought(), own],
      [brought(true), own, brought(true)],
    ]) {
      const kept = sortOut(found, NOTHING_TAKEN).find(({ fate }) => fate === 'new')!.server;
      expect(kept).toMatchObject({ id: 'a', scope: 'user', entry: { enabled: false } });
    }
    const two = [brought(false), brought()];
    expect(sortOut(two, NOTHING_TAKEN)[0]!.server.entry.enabled).toBeUndefined();
  });

  it('CFG-5 different servers of one name get different ids, and a warning says which', () => {
    const found = [
      server('github', { command: 'project' }, { scope: 'project', client: 'claude-code' }),
      server('github', { command: 'one' }),
      server('github', { command: 'two' }),
      server('github', { command: 'three' }, { client: 'cursor' }),
    ];
    const fates = sortOut(found, NOTHING_TAKEN);
    expect(fates.map((each) => each.server.id)).toEqual([
      'github-claude-code',
      'github',
      'github-cursor',
      'github-cursor-2',
    ]);
    expect(warningsAbout(found, fates)[0]).toEqual({
      path: 'sources.claude-code.github',
      message: 'is called "github-claude-code" here, because another server has that id',
    });
  });

  it('CFG-5 own servers win: the same launch is there already, the same name is left out and named', () => {
    const taken = { ids: new Set(['mine', 'github']), launches: new Map([[launchOf({ command: 'x' }), 'mine']]) };
    const found = [server('x', { command: 'x' }), server('github', { url: 'https://x.example' })];
    const fates = sortOut(found, taken);
    expect(fates.map(({ fate }) => fate)).toEqual(['present', 'name-taken']);
    expect(warningsAbout(found, fates)).toEqual([
      { path: 'sources.cursor.github', message: 'is not used: a server of this config has that id' },
    ]);
  });

  it('CFG-5 credentials, folders and transports make servers different', () => {
    const launches = [
      launchOf({ command: 'x' }),
      launchOf({ command: 'x', env: { A: '1' } }),
      launchOf({ command: 'x', cwd: '/a' }),
      launchOf({ command: 'x' }, '/e'),
      launchOf({ url: 'https://x.example' }),
      launchOf({ url: 'https://x.example', type: 'sse' }),
      launchOf({ url: 'https://x.example', headers: { A: '1' } }),
    ];
    expect(new Set(launches).size).toBe(launches.length);
    expect(launchOf({ url: 'https://x.example', type: 'http', title: 'T' })).toBe(launches[4]);
  });

  it('CFG-5 every id is given once, whatever was found', () => {
    const finds = fc.array(
      fc.record({ id: fc.constantFrom('a', 'b', 'a-cursor', 'x'.repeat(64)), command: fc.string({ minLength: 1 }) }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(finds, (found) => {
        const fates = sortOut(
          found.map(({ id, command }) => server(id, { command })),
          { ids: new Set(['b']), launches: new Map() },
        );
        const ids = fates.filter(({ fate }) => fate === 'new').map((each) => each.server.id);
        return new Set(ids).size === ids.length && ids.every((id) => id.length <= 64 && id !== 'b');
      }),
    );
  });
});

describe('rulesFor', () => {
  it('PAT-2 CFG-5 exactly the named tools are off, whatever they are called', () => {
    const name = fc.string({ minLength: 1, maxLength: 20, unit: fc.constantFrom(...'ab*?[]{},!/\\:é') });
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 5 }), name, (disabled, other) => {
        const rules = compileRules(rulesFor(server('s', { command: 'x' }, { disabledTools: disabled })));
        for (const tool of disabled) expect(rules.decide('s', tool).decision.enabled).toBe(false);
        expect(rules.decide('s', other).decision.enabled).toBe(!disabled.includes(other));
        expect(rules.decide('t', disabled[0] ?? 'x').decision.enabled).toBe(true);
      }),
    );
  });

  it('PAT-4 CFG-5 a list of what is offered turns off the rest of that server, and nothing anywhere else', () => {
    const rules = compileRules(
      rulesFor(server('s', { command: 'x' }, { enabledTools: ['a', 'b:c'], disabledTools: ['a'] })),
    );
    const isOn = (id: string, tool: string): boolean => rules.decide(id, tool).decision.enabled;
    expect([isOn('s', 'a'), isOn('s', 'b:c'), isOn('s', 'd'), isOn('t', 'd')]).toEqual([false, true, false, true]);
  });

  it('A31 names of absurd length make no rule', () => {
    expect(rulesFor(server('s', { command: 'x' }, { disabledTools: ['x'.repeat(5000)] }))).toEqual([]);
  });
});
