import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/support/fixture.js';
import { Config, type ServerEntry } from '../../model/config.js';
import type { Server } from '../../model/server.js';
import { createServer, type Workshop } from './create-server.js';

const BWRAP = ['bwrap', '--bind', '{cwd}', '{cwd}', '${FLAG}', '--new-session'];
const CONTAINER = ['docker', 'run', '{env}', 'image'];
const env = { FLAG: '--unshare-pid', SECRET: 'hunter2hunter2' };

function made(
  entry: Partial<ServerEntry>,
  more: Partial<Workshop> & { readonly sandbox?: string[] | false } = {},
): Server {
  const { sandbox = BWRAP, ...shop } = more;
  const config = Config.parse({ sandbox: sandbox && { command: sandbox } });
  const written = { command: 'node', ...entry } as ServerEntry;
  return createServer(
    { id: 'one', entry: written, raw: written },
    { config, source: 'config', env, secrets: new Set(), used: new Set(), ...shop },
  );
}

const wordsOf = ({ transport }: Server): readonly string[] =>
  transport.type === 'stdio' ? (transport.sandbox ?? []) : [];

describe('the words of a sandbox', () => {
  it('A49 a command that the sandbox would read as its own option is refused', () => {
    for (const command of ['--bind', '-p', '--', '-']) {
      expect(made({ command, args: ['/', '/', 'sh'] }).problem, command).toContain('begins with "-"');
      expect(made({ command, args: ['/', '/', 'sh'] }, { sandbox: false }).problem, command).toBeUndefined();
    }
    expect(made({ command: './-x' }).problem).toBeUndefined();
    expect(made({ args: ['--bind', '/', '/'] }).problem).toBeUndefined();
  });

  it('A49 A31 what a server brings is not expanded a second time, and stands in its words as it is', () => {
    expect(wordsOf(made({ cwd: '/work/$&/$$' }))).toEqual([
      'bwrap',
      '--bind',
      '/work/$&/$$',
      '/work/$&/$$',
      '--unshare-pid',
      '--new-session',
    ]);
    const named = made({ env: { '${SECRET}': '1' } }, { sandbox: CONTAINER });
    expect(wordsOf(named)).toEqual(['docker', 'run', '-e', '${SECRET}', 'image']);
  });

  it('A49 a server of a project cannot open a folder outside of the project to itself', async () => {
    const home = await temporaryDirectory();
    const project = join(home, 'project');
    const outside = join(home, 'keys');
    for (const folder of [join(project, '.cursor'), join(project, 'sub'), outside])
      mkdirSync(folder, { recursive: true });
    symlinkSync(outside, join(project, 'link'));
    const inside = { scope: 'project' as const, directory: join(project, '.cursor') };
    for (const cwd of ['..', '../sub', '.', join(project, 'sub')]) {
      expect(made({ cwd }, inside).problem, cwd).toBeUndefined();
    }
    for (const cwd of ['../..', '../../keys', '/', outside, '../link', '../link/deeper', '../../project-2']) {
      expect(made({ cwd }, inside).problem, cwd).toContain('outside of its project');
      expect(made({ cwd }, { ...inside, sandbox: ['unshare', '--pid'] }).problem, cwd).toBeUndefined();
      expect(made({ cwd }, { directory: inside.directory }).problem, cwd).toBeUndefined();
    }
    expect(made({}, inside).problem).toBeUndefined();
  });
});
