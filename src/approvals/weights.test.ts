import { describe, expect, it } from 'vitest';
import { httpServer, stdioServer } from '../../test/support/test-server.js';
import type { JsonObject } from '../kernel/json.js';
import type { Risk } from '../model/approval.js';
import { weighPresentation, weighServer, weighTool } from './risk.js';

const weigh = (annotations: JsonObject | undefined, categories: string[] = [], changed = false): Risk =>
  weighTool({ definition: { name: 'x', ...(annotations && { annotations }) }, categories }, { changed });

describe('what a tool admits to', () => {
  it.each<[annotations: JsonObject | undefined, categories: string[], risk: Risk]>([
    [{ readOnlyHint: true }, [], { level: 'low', reasons: ['says that it only reads'] }],
    [{ readOnlyHint: false }, [], { level: 'low', reasons: ['shows nothing unusual'] }],
    [undefined, [], { level: 'medium', reasons: ['says nothing about its effects'] }],
    [{ title: 'X' }, [], { level: 'medium', reasons: ['says nothing about its effects'] }],
    [{ destructiveHint: true }, [], { level: 'high', reasons: ['says that it destroys'] }],
    [{ destructiveHint: 'true' }, [], { level: 'low', reasons: ['shows nothing unusual'] }],
    // A tool that only reads destroys nothing, says the protocol.
    [{ destructiveHint: true, readOnlyHint: true }, [], { level: 'low', reasons: ['says that it only reads'] }],
    [{ openWorldHint: true }, [], { level: 'medium', reasons: ['says that it reaches the outside world'] }],
    [{ idempotentHint: true }, ['crud.delete'], { level: 'high', reasons: ['is named as something that deletes'] }],
    ...['crud.create', 'crud.update', 'upload'].map((category): [JsonObject, string[], Risk] => [
      { idempotentHint: true },
      ['other', category],
      { level: 'medium', reasons: ['is named as something that changes data'] },
    ]),
    [{ idempotentHint: true }, ['notify'], { level: 'medium', reasons: ['is named as something that sends'] }],
    [{ idempotentHint: true }, ['crud.read'], { level: 'low', reasons: ['shows nothing unusual'] }],
  ])('SEC-9 %j of a tool named %j', (annotations, categories, risk) => {
    expect(weigh(annotations, categories)).toMatchObject(risk);
  });

  it.each(['crud.create', 'crud.update', 'crud.delete', 'notify', 'upload'])(
    'S21 one named for %s that claims to only read is a high risk',
    (category) => {
      const { level, reasons } = weigh({ readOnlyHint: true }, [category]);
      expect(level).toBe('high');
      expect(reasons).toContain('says that it only reads, against its name');
      expect(weigh({ readOnlyHint: true }, [`x.${category}.x`]).level).toBe('low');
    },
  );

  it('SEC-9 the heaviest reason comes first, each once, and a change weighs by itself', () => {
    expect(weigh({ openWorldHint: true, destructiveHint: true }, [], true)).toMatchObject({
      level: 'high',
      reasons: ['says that it destroys', 'says that it reaches the outside world', 'changed after it was trusted'],
    });
    expect(weighPresentation({ title: 'Notes' }, { changed: false })).toMatchObject({ level: 'low', reasons: [] });
    expect(weighPresentation({ title: 'Notes' }, { changed: true })).toMatchObject({
      level: 'medium',
      reasons: ['changed after it was trusted'],
    });
  });
});

describe('how a server is started', () => {
  const RUNS_CODE = 'runs code from its arguments';
  const reasonsOf = (command: string, args: string[]): readonly string[] =>
    weighServer(stdioServer('x', { command, args }), 'project').reasons;

  it.each(['-c', '-e', '-ec', '-lc', '-p', '--eval', '--print', '/c', '-command', '--entrypoint', '--call'])(
    'A2 %s holds a program of its own where an interpreter reads it',
    (flag) => {
      expect(reasonsOf('node', ['x', flag, 'y'])).toContain(RUNS_CODE);
      expect(reasonsOf('node', [`${flag.toUpperCase()}=y`])).toContain(RUNS_CODE);
      expect(reasonsOf('notes', [flag, 'y'])).not.toContain(RUNS_CODE);
      expect(reasonsOf('node', ['x', `y${flag}`])).not.toContain(RUNS_CODE);
    },
  );

  it.each(['/bin/bash', 'C:\\Tools\\PowerShell.EXE', 'npx.cmd', 'run\\deno.bat'])(
    'A2 %s is known as an interpreter wherever it lies',
    (command) => {
      expect(reasonsOf(command, ['-c', 'x'])).toContain(RUNS_CODE);
      expect(reasonsOf(`${command}x`, ['-c', 'x'])).not.toContain(RUNS_CODE);
    },
  );

  it.each(['--registry', '--index-url', '--extra-index-url', '--default-index', '--index', '--find-links'])(
    'A42 %s takes packages from elsewhere',
    (flag) => {
      const reason = 'takes packages from a source that its arguments name';
      expect(reasonsOf('uvx', ['-q', flag, 'x'])).toContain(reason);
      expect(reasonsOf('uvx', [`${flag.toUpperCase()}=x`])).toContain(reason);
      expect(reasonsOf('uvx', [`${flag}x`])).not.toContain(reason);
    },
  );

  it('A42 a variable is named once, whether the environment or an argument sets it', () => {
    const named = (env: Record<string, string>, args: string[]): readonly string[] =>
      weighServer(stdioServer('x', { command: 'env', args }, { transport: { env } }), 'user').reasons;
    expect(named({ LD_PRELOAD: 'a' }, ['LD_PRELOAD=b', 'npm_config_x.y=1', 'x LD_AUDIT=1', 'PYTHONPATH'])).toEqual([
      'sets LD_PRELOAD, which decides what code runs',
      'sets npm_config_x.y, which decides what code runs',
      'starts a program with your rights',
      'was configured by you',
    ]);
  });

  it('SEC-9 a remote server is named with where it comes from, and more where it is not encrypted', () => {
    const remote = (url: string, origin: 'registry' | 'introspected'): Risk =>
      weighServer(httpServer('x', url), origin);
    expect(remote('https://a.example', 'registry')).toMatchObject({
      level: 'medium',
      reasons: ['sends arguments of calls to another machine', 'comes from a registry'],
    });
    expect(remote('http://a.example/?x=https:', 'introspected')).toMatchObject({
      level: 'high',
      reasons: ['sends them unencrypted', 'sends arguments of calls to another machine', 'was proposed by a caller'],
    });
  });
});
