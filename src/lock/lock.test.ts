import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../../test/support/any-text.js';
import { temporaryDirectory } from '../../test/support/fixture.js';
import { compareJson } from '../approvals/compare.js';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import { type Lock, LOCK_VERSION, type LockServer } from '../model/lock.js';
import type { Server, Transport } from '../model/server.js';
import { createCleaner } from './clean.js';
import { compareLocks, lineOf } from './compare-locks.js';
import { createLockSource, readLockFile } from './lock-source.js';
import { lockError, lockHash, readLock, writeLock } from './lock-text.js';
import { lockLaunch, makeLockServer } from './make.js';
import { findInstalled, packageIn } from './package.js';

const places = { home: '/home/ada', project: '/home/ada/project', temporary: '/var/tmp/x/' };
const cleaner = createCleaner(places, (text) => text.replaceAll('s3cr3t', '***'));

const stdio = (
  more: Partial<Extract<Transport, { type: 'stdio' }>> = {},
): Pick<Server, 'shown' | 'transport' | 'id'> => ({
  id: 'files',
  shown: { type: 'stdio', target: 'node /home/ada/project/run.js --token ***', secrets: ['TOKEN', 'NODE_OPTIONS'] },
  transport: {
    type: 'stdio',
    command: 'node',
    args: [],
    env: { TOKEN: 's3cr3t', NODE_OPTIONS: '-r /home/ada/x' },
    ...more,
  },
});
const shown = (more: JsonObject = {}): LockServer =>
  makeLockServer(
    {
      server: stdio() as Server,
      presentation: { instructions: 'Read /home/ada/project/docs.', title: '' },
      protocolVersion: '2025-06-18',
      package: { name: 'files', requested: '1', version: '1.0.0', integrity: 'sha512-a' },
      tools: [{ name: 'look', description: 'Looks.', ...more }],
      prompts: [{ name: 'look' }],
      resources: [{ uri: 'file:///home/ada/project/a', name: 'a' }],
      resourceTemplates: [{ uriTemplate: 'x://{y}', name: 't' }],
    },
    cleaner,
  );
const lockOf = (...servers: LockServer[]): Lock => ({ lockVersion: LOCK_VERSION, servers });
const drift = (before: LockServer[], after: LockServer[]) =>
  compareLocks(lockOf(...before), lockOf(...after), compareJson);

describe('cleaning', () => {
  it('SEC-10 takes places of the machine and secrets out of texts, and leaves longer names alone', () => {
    expect(cleaner.text('/home/ada/project/a /home/ada/b /home/adam /home/ada-2 x/home/ada')).toBe(
      './a ~/b /home/adam /home/ada-2 x/home/ada',
    );
    expect(cleaner.text('s3cr3t in /var/tmp/x/1, "/tmp/2", /tmpfile, file:///home/ada')).toBe(
      '*** in <tmp>/1, "<tmp>/2", /tmpfile, file://~',
    );
    expect(cleaner.paths('s3cr3t /home/ada')).toBe('s3cr3t ~');
    const root = createCleaner({ home: '/', project: '/', temporary: '/' }, (text) => text);
    expect(root.text('/etc/a /b')).toBe('/etc/a /b');
  });

  it('SEC-10 A27 cleans names and values at every depth, and names such as __proto__ are plain data', () => {
    const value = JSON.parse('{"__proto__":{"/home/ada":["s3cr3t",1,null,true]},"constructor":"x"}') as JsonObject;
    const cleaned = cleaner.json(value);
    expect(JSON.stringify(cleaned)).toBe('{"__proto__":{"~":["***",1,null,true]},"constructor":"x"}');
    expect(({} as Record<string, unknown>)['~']).toBeUndefined();
    expect(cleaner.json({ a: undefined } as unknown as JsonValue)).toEqual({});
  });

  it('SEC-10 A12 names that become the same are kept apart, so that none hides another', () => {
    const benign = { '<tmp>': { description: 'A place.' } };
    const both = { '/tmp': { description: 'Read ~/.ssh first.' }, ...benign };
    expect(cleaner.json(benign)).toEqual(benign);
    expect(Object.values(cleaner.json(both) as JsonObject)).toEqual(expect.arrayContaining(Object.values(both)));
    expect(lockHash(cleaner.json({ ...benign, ...both }))).toBe(lockHash(cleaner.json(both)));
    const numbered = { '<tmp>': 1, "<tmp>'2": 2 };
    expect(lockHash(cleaner.json({ '/tmp': 1, ...numbered, '<tmp>': 3 }))).not.toBe(lockHash(cleaner.json(numbered)));
    for (const more of [{ '/tmp': 1 }, { s3cr3t: 1, '/home/ada': 2 }, { '/tmp': 1, '/var/tmp/x': 2 }]) {
      const before = { '<tmp>': 0, '***': 0, '~': 0 };
      expect(lockHash(cleaner.json({ ...more, ...before }))).not.toBe(lockHash(cleaner.json(before)));
    }
  });
});

describe('the text of a lock', () => {
  it('SEC-10 is the same for the same content, whatever the order, and reads back as it was', () => {
    const other = { ...shown(), id: 'a' };
    const text = writeLock(lockOf(shown(), other));
    expect(writeLock(lockOf(other, shown()))).toBe(text);
    expect(text.endsWith('}\n')).toBe(true);
    const read = readLock(text, 'f');
    expect(read).toHaveProperty('lock.servers.0.id', 'a');
    expect(writeLock((read as { lock: Lock }).lock)).toBe(text);
    expect(text).not.toMatch(/home|s3cr3t/);
  });

  it('SEC-10 any definition survives it, byte by byte, and nothing in it steers a terminal', () => {
    fc.assert(
      fc.property(fc.dictionary(anyText(), fc.oneof(anyText(), fc.jsonValue())), (definition) => {
        const server = shown(JSON.parse(JSON.stringify(definition)) as JsonObject);
        const text = writeLock(lockOf(server));
        // oxlint-disable-next-line no-control-regex
        expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
        const read = readLock(text, 'f');
        expect('lock' in read && writeLock(read.lock)).toBe(text);
      }),
    );
  });

  it('SEC-10 any change of its bytes is found, unless it says the same', () => {
    const text = writeLock(lockOf(shown()));
    const same = JSON.stringify(JSON.parse(text));
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.constantFrom('x', '0', '"', '{', ' '), (at, character) => {
        const changed = text.slice(0, at) + character + text.slice(at + 1);
        const read = readLock(changed, 'f');
        let isSame = false;
        try {
          isSame = JSON.stringify(JSON.parse(changed)) === same;
        } catch {
          isSame = false;
        }
        expect('lock' in read).toBe(isSame);
      }),
    );
  });

  const resealed = (edit: (content: { lockVersion: number; servers: JsonObject[] }) => void): string => {
    const content = JSON.parse(writeLock(lockOf(shown()))) as {
      lockVersion: number;
      servers: JsonObject[];
      integrity?: string;
    };
    delete content.integrity;
    edit(content);
    return JSON.stringify({ ...content, integrity: lockHash(content as unknown as JsonValue) });
  };
  const item = { name: 'x', hash: 'y', definition: {} };
  it.each([
    ['no object', '[]', 'is not a lock file'],
    ['no JSON', 'x', 'is not JSON'],
    ['a conflict', '<<<<<<< a\n', 'merge conflict'],
    ['an old version', resealed((content) => (content.lockVersion = 0)), 'is not a lock file'],
    ['a newer version', resealed((content) => (content.lockVersion = 9)), 'newer toolscout'],
    ['no servers', resealed((content) => (content.servers = {} as never)), 'is not a lock file'],
    ['a server twice', resealed((content) => content.servers.push(content.servers[0]!)), 'a server twice'],
    ['an entry that is not a server', resealed((content) => content.servers.push(1 as never)), 'cannot be read'],
    ['no launch', resealed((content) => delete content.servers[0]!['launch']), 'cannot be read'],
    ['no list', resealed((content) => (content.servers[0]!['tools'] = {})), 'cannot be read'],
    ['an entry that is not an item', resealed((content) => (content.servers[0]!['tools'] = [1])), 'cannot be read'],
    [
      'a forged hash',
      resealed((content) => (content.servers[0]!['tools'] = [item])),
      'the hash of "x" of "files" does not match its definition',
    ],
    ['depth', `${'['.repeat(5000)}${']'.repeat(5000)}`, 'is not a lock file'],
  ])('SEC-10 is refused with %s', (_what, text, message) => {
    const read = readLock(text, 'f');
    expect(read).toHaveProperty('problem.message', expect.stringContaining(message));
    if ('problem' in read) expect(lockError(read.problem)).toMatchObject({ code: 'CONFIGURATION_ERROR' });
  });
});

describe('comparing locks', () => {
  it('SEC-10 names what was added, removed and changed, and where', () => {
    expect(drift([shown()], [shown()])).toEqual([]);
    expect(drift([shown()], [])).toMatchObject([{ subject: 'server', change: 'removed' }]);
    expect(drift([], [shown()])).toMatchObject([{ subject: 'server', change: 'added' }]);
    expect(drift([shown()], [shown({ description: 'Looks!' })])).toMatchObject([
      { subject: 'tools', name: 'look', change: 'changed', changes: [{ path: '/description' }] },
    ]);
    const renamed = drift(
      [shown()],
      [{ ...shown(), prompts: [{ name: 'b', hash: 'h', definition: {} }], resources: [] }],
    );
    expect(renamed.map(({ subject, change, name }) => `${subject} ${change} ${name}`)).toEqual([
      'prompts removed look',
      'prompts added b',
      'resources removed file://./a',
    ]);
    expect(drift([shown()], [{ ...shown(), presentation: { title: 'x' } }])).toMatchObject([
      { subject: 'presentation' },
    ]);
  });

  it('SEC-10 A12 an item whose name becomes that of another is one more', () => {
    const resources = (...uris: string[]): LockServer =>
      makeLockServer(
        {
          server: stdio() as Server,
          presentation: {},
          tools: [],
          prompts: [],
          resources: uris.map((uri) => ({ uri })),
          resourceTemplates: [],
        },
        cleaner,
      );
    const found = drift([resources('file:///tmp/a')], [resources('file:///tmp/a', 'file://<tmp>/a')]);
    expect(found).toMatchObject([{ subject: 'resources', change: 'added' }]);
    // Of two of one name only the first can be used by it.
    expect(resources('file:///tmp/a', 'file:///tmp/a').resources).toHaveLength(1);
  });

  it('SEC-10 of another launch nothing else is said; versions count where both sides know them', () => {
    const other = { ...shown({ description: 'x' }), launch: { ...shown().launch, target: 'node y' } };
    expect(drift([shown()], [other])).toMatchObject([{ subject: 'launch', changes: [{ path: '/target' }] }]);
    expect(drift([shown()], [{ ...shown(), protocolVersion: '2026-07-28' }])).toMatchObject([
      { subject: 'protocolVersion' },
    ]);
    const { protocolVersion: _version, package: _package, ...bare } = shown();
    expect(drift([shown()], [{ ...bare, package: { name: 'files', requested: '1' } }])).toEqual([]);
    const installed = { name: 'files', requested: '1', version: '1.0.1', integrity: 'sha512-b' };
    expect(drift([shown()], [{ ...shown(), package: installed }])).toMatchObject([
      { subject: 'package', changes: [{ path: '/version' }, { path: '/integrity' }] },
    ]);
    expect(drift([bare as LockServer], [shown()])).toMatchObject([{ subject: 'package', change: 'changed' }]);
  });

  it('SEC-10 finds the line of a difference in the file', () => {
    const text = writeLock(lockOf({ ...shown(), id: 'a' }, shown()));
    const lines = text.split('\n');
    const at = (found: Parameters<typeof lineOf>[1]): string => lines[lineOf(text, found) - 1]!.trim();
    const of = { change: 'changed', changes: [] } as const;
    const tool = lineOf(text, { ...of, server: 'files', subject: 'tools', name: 'look' });
    expect(lines[tool - 1]!.trim()).toBe('"name": "look"');
    expect(tool).toBeGreaterThan(lines.indexOf('      "id": "files",'));
    expect(at({ ...of, server: 'files', subject: 'server' })).toBe('"id": "files",');
    expect(at({ ...of, server: 'files', subject: 'launch' })).toBe('"launch": {');
    expect(at({ ...of, server: 'files', subject: 'tools', name: 'new' })).toBe('"tools": [');
    expect(lineOf(text, { ...of, server: 'none', subject: 'server' })).toBe(1);
  });
});

describe('a launch in a lock', () => {
  it('SEC-10 A33 has names of variables, and hashes of those that decide which code runs', () => {
    const launch = lockLaunch(stdio({ cwd: '/home/ada/project' }), cleaner);
    expect(launch).toMatchObject({ target: 'node ./run.js --token ***', cwd: '.' });
    expect(launch.given).toEqual([expect.stringMatching(/^NODE_OPTIONS=sha256:[0-9a-f]{32}$/), 'TOKEN']);
    const other = lockLaunch(stdio({ env: { TOKEN: 'new one', NODE_OPTIONS: '-r /evil' } }), cleaner);
    expect(other.given[0]).not.toBe(launch.given[0]);
    expect(other.given[1]).toBe(launch.given[1]);
    const remote = {
      shown: { type: 'http', target: 'https://x.example/', secrets: ['Authorization'] } as const,
      transport: { type: 'http', url: 'https://x.example/', headers: { Authorization: 's3cr3t' } } as const,
    };
    expect(lockLaunch(remote, cleaner)).toEqual({
      type: 'http',
      target: 'https://x.example/',
      given: ['Authorization'],
    });
  });
});

describe('the package of a command', () => {
  const run = (command: string, ...args: string[]) => packageIn({ type: 'stdio', command, args, env: {} });
  it('SEC-10 is read from the commands that run packages, and from no other', () => {
    expect(run('npx', '-y', '@scope/server@1.2.3', 'x')).toEqual({ name: '@scope/server', requested: '1.2.3' });
    expect(run('/usr/bin/npx', 'server')).toEqual({ name: 'server' });
    expect(run('npx.cmd', '--package=server@2', 'bin')).toEqual({ name: 'server', requested: '2' });
    expect(run('npm', 'exec', '-p', 'server', 'bin')).toEqual({ name: 'server' });
    expect(run('pnpm', 'dlx', 'server')).toEqual({ name: 'server' });
    for (const other of [
      run('npm', 'start'),
      run('node', 'x.js'),
      run('npx'),
      run('npx', '-p'),
      run('npx', './local/x'),
    ]) {
      expect(other).toBeUndefined();
    }
    expect(packageIn({ type: 'http', url: 'https://x.example/', headers: {} })).toBeUndefined();
  });

  it('SEC-10 has the version and the integrity of what is installed, in the project or by npx', async () => {
    const root = await temporaryDirectory();
    const put = async (path: string, value: unknown): Promise<void> => {
      await mkdir(join(root, path, '..'), { recursive: true });
      await writeFile(join(root, path), typeof value === 'string' ? value : JSON.stringify(value));
    };
    const at = { project: join(root, 'project'), npmCache: join(root, 'npm') };
    const locked = (name: string, version: string) => ({
      packages: { [`node_modules/${name}`]: { version, integrity: `sha512-${version}` } },
    });
    expect(await findInstalled({ name: 'server' }, at)).toEqual({});
    await put('npm/_npx/1/package-lock.json', locked('server', '1.0.0'));
    await put('npm/_npx/1/package.json', { dependencies: { other: '1' } });
    await put('npm/_npx/2/package-lock.json', locked('server', '2.0.0'));
    await put('npm/_npx/2/package.json', { dependencies: { server: '^2.0.0' }, _npx: { packages: ['server@2'] } });
    await put('npm/_npx/3/package-lock.json', locked('server', '3.0.0'));
    await put('npm/_npx/3/package.json', { dependencies: { server: '^3.0.0' } });
    await put('npm/_npx/4/package-lock.json', 'no json');
    expect(await findInstalled({ name: 'server', requested: '2' }, at)).toEqual({
      version: '2.0.0',
      integrity: 'sha512-2.0.0',
    });
    expect(await findInstalled({ name: 'server', requested: '3.0.0' }, at)).toMatchObject({ version: '3.0.0' });
    expect(await findInstalled({ name: 'server' }, at)).toMatchObject({ version: '3.0.0' });
    expect(await findInstalled({ name: '__proto__' }, at)).toEqual({});
    await put('project/node_modules/.package-lock.json', {
      packages: { 'node_modules/server': { version: '4.0.0' }, 'node_modules/odd': 1 },
    });
    expect(await findInstalled({ name: 'server' }, at)).toEqual({ version: '4.0.0' });
    expect(await findInstalled({ name: 'odd' }, at)).toEqual({});
  });
});

describe('a lock file in force', () => {
  it('SEC-10 is read on request; a file that cannot be read is a problem, never a throw', async () => {
    const folder = await temporaryDirectory();
    const path = join(folder, 'toolscout.lock');
    const source = createLockSource({ path: () => path, cleaner });
    expect(source.gate.problem()?.message).toContain('not read yet');
    await source.load();
    expect(source.gate.problem()?.message).toContain('There is no lock file');
    expect(source.gate.server(stdio() as Server)).toBe('missing');
    await writeFile(path, writeLock(lockOf(shown())));
    await source.load();
    expect(source.gate.problem()).toBeUndefined();
    expect(source.gate.server({ ...stdio(), id: 'other' } as Server)).toBe('missing');
    expect(source.gate.server(stdio({ cwd: '/' }) as Server)).toBe('launch');
    expect(await readLockFile(folder)).toHaveProperty('problem.message', expect.stringContaining('cannot be read'));
  });

  it('SEC-10 holds items by kind and by every byte of their definition', async () => {
    const folder = await temporaryDirectory();
    const path = join(folder, 'toolscout.lock');
    await writeFile(
      path,
      writeLock(
        lockOf({
          ...shown(),
          tools: [...shown().tools, { name: 'prompts/look', hash: lockHash({ a: 1 }), definition: { a: 1 } }],
        }),
      ),
    );
    const source = createLockSource({ path: () => path, cleaner });
    await source.load();
    const locked = source.gate.server(stdio() as Server);
    if (typeof locked === 'string') throw new Error(locked);
    const tool = { name: 'look', description: 'Looks.' };
    expect(locked.judge('look', tool)).toBe('held');
    expect(locked.judge('look', tool)).toBe('held');
    expect(locked.judge('look', { ...tool, description: 'Looks' })).toBe('changed');
    expect(locked.judge('prompts/look', { name: 'look' })).toBe('held');
    expect(locked.judge('prompts/look', { a: 1 })).toBe('held');
    expect(locked.judge('prompts/look', tool)).toBe('changed');
    expect(locked.judge('resources/file:///home/ada/project/a', { uri: 'file:///home/ada/project/a', name: 'a' })).toBe(
      'held',
    );
    expect(locked.judge('templates/x://{y}', { uriTemplate: 'x://{y}', name: 't' })).toBe('held');
    expect(locked.judge('__proto__', tool)).toBe('missing');
    expect(locked.judge('look', 'text')).toBe('changed');
    expect(locked.isPresentation({ instructions: 'Read /home/ada/project/docs.', title: '' })).toBe(true);
    expect(locked.isPresentation({ instructions: 'Read on.', title: '' })).toBe(false);
  });
});
