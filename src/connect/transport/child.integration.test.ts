import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, isAlive, temporaryDirectory, waitUntil } from '../../../test/support/fixture.js';
import { STARTS_PROCESSES } from '../../../test/support/patience.js';
import { systemClock } from '../../kernel/clock.js';
import { silentLog } from '../../kernel/log.js';
import { createChildKeeper, type ChildKeeper } from './child.js';

const deps = { clock: systemClock, log: silentLog };
const env = { PATH: process.env['PATH'] ?? '' };
const node = process.execPath;
const sleeper = 'setInterval(() => {}, 60000)';

function keeper(): ChildKeeper {
  const made = createChildKeeper(deps);
  onTestFinished(() => made.closeAll());
  return made;
}

async function pidsFrom(path: string): Promise<number[]> {
  await waitUntil(() => existsSync(path), { what: 'the pid file', timeoutMs: 10_000 });
  return readFileSync(path, 'utf8').trim().split(' ').map(Number);
}

/** Every process whose parent was `pid`. */
const childrenOf = (pid: number): number[] => {
  const path = `/proc/${pid}/task/${pid}/children`;
  return existsSync(path) ? readFileSync(path, 'utf8').split(' ').filter(Boolean).map(Number) : [];
};

const allGone = (pids: number[]) =>
  waitUntil(() => !pids.some(isAlive), { what: `the end of ${pids.join(', ')}`, timeoutMs: 10_000 });

describe('createChildKeeper', STARTS_PROCESSES, () => {
  it('CONN-4 a child that ends with its stdin is not signalled', async () => {
    const child = await keeper().spawn({ command: node, args: ['-e', 'process.stdin.resume()'], env });
    await child.stop();
    expect(child.exit).toEqual({ code: 0, signal: null });
    expect(isAlive(child.pid)).toBe(false);
  });

  it('CONN-4 A38 a child and grandchild that ignore every signal are ended within 5 s', async () => {
    const path = join(await temporaryDirectory(), 'pids');
    const children = keeper();
    const child = await children.spawn({ ...fixture('stubborn', `--pid-file=${path}`), env });
    const pids = await pidsFrom(path);
    expect(pids[0]).toBe(child.pid);
    expect(children.count).toBe(1);
    await child.stop();
    expect(pids.filter(isAlive)).toEqual([]);
    expect(child.exit).toEqual({ code: null, signal: 'SIGKILL' });
    expect(children.count).toBe(0);
  });

  it('CONN-4 A38 a grandchild does not survive its leader', async () => {
    const path = join(await temporaryDirectory(), 'pids');
    const deaf = `process.on('SIGTERM', () => {}); require('fs').writeFileSync(${JSON.stringify(path)}, String(process.pid)); ${sleeper}`;
    const leader = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(deaf)}], { stdio: 'ignore' });
      setInterval(() => require('fs').existsSync(${JSON.stringify(path)}) && process.exit(7), 20)`;
    const children = keeper();
    const child = await children.spawn({ command: node, args: ['-e', leader], env });
    const pids = await pidsFrom(path);
    await child.gone;
    expect(child.exit?.code).toBe(7);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(children.count).toBe(0);
  });

  it.skipIf(process.platform !== 'linux')(
    'A38 what left its group, or is a daemon by now, is ended with its server, and others go on',
    async () => {
      const folder = await temporaryDirectory();
      const children = keeper();
      const [one, other] = await Promise.all(
        ['one', 'other'].map((name) =>
          children.spawn({ ...fixture('runaway', `--pid-file=${join(folder, name)}`), env }),
        ),
      );
      const [ended, running] = await Promise.all([pidsFrom(join(folder, 'one')), pidsFrom(join(folder, 'other'))]);
      expect(ended).toHaveLength(3);
      await one!.stop();
      await allGone(ended);
      expect(running.map(isAlive)).toEqual([true, true, true]);
      expect(other!.exit).toBeUndefined();
      await children.closeAll();
      await allGone(running);
    },
  );

  it('CONN-4 closeAll ends all, and nothing is started afterwards', async () => {
    const children = keeper();
    const started = await Promise.all(
      Array.from({ length: 5 }, () => children.spawn({ command: node, args: ['-e', 'process.stdin.resume()'], env })),
    );
    await children.closeAll();
    expect(started.filter((child) => isAlive(child.pid))).toEqual([]);
    await expect(children.spawn({ command: node, args: [], env })).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });

  it('A5 arguments reach the child as they are written', async () => {
    const args = ['$(touch x)', '; touch x', '`touch x`', '"', "'", '*', 'a b', '&& touch x', '\n', ''];
    const child = await keeper().spawn({
      command: node,
      args: ['-e', 'process.stdout.write(JSON.stringify(process.argv.slice(1)))', '--', ...args],
      env,
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    await child.exited;
    await waitUntil(() => output.endsWith(']'));
    expect(JSON.parse(output)).toEqual(args);
  });

  it('A32 the child has the given environment and the mark of its keeper, and no other', async () => {
    const child = await keeper().spawn({
      command: node,
      args: ['-e', 'process.stdout.write(JSON.stringify(process.env))'],
      env: { ONLY: 'this' },
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    await child.exited;
    await waitUntil(() => output.endsWith('}'));
    const mark = expect.stringMatching(/^[0-9a-f-]{36}\.1$/) as string;
    expect(JSON.parse(output)).toEqual({ ONLY: 'this', TOOLSCOUT_CHILD: mark });
  });

  it('CONN-4 a command that does not exist is explained', async () => {
    const children = keeper();
    const missing = children.spawn({ command: 'no-such-command-of-ours', args: [], env });
    await expect(missing).rejects.toMatchObject({ code: 'SERVER_CONNECTION_ERROR', delivered: false });
    await expect(missing).rejects.toThrow('was not found');
    const homeless = children.spawn({ command: node, args: [], env, cwd: '/no/such/folder' });
    await expect(homeless).rejects.toThrow('working directory');
    const unrunnable = join(await temporaryDirectory(), 'plain');
    writeFileSync(unrunnable, '', { mode: 0o600 });
    await expect(children.spawn({ command: unrunnable, args: [], env })).rejects.toThrow('permission denied');
    await expect(children.spawn({ command: node, args: ['a\0b'], env })).rejects.toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
    });
    expect(children.count).toBe(0);
  });
});

describe('the watchdog', STARTS_PROCESSES, () => {
  const room = new URL('./child.ts', import.meta.url).href;
  const clock = new URL('../../kernel/clock.ts', import.meta.url).href;

  /** A process that keeps two deaf children, as toolscout would, and ends as told. */
  async function startOwner(end: string, program = node) {
    const folder = await temporaryDirectory();
    const paths = [join(folder, 'a'), join(folder, 'b')];
    const source = `
      import { createChildKeeper } from ${JSON.stringify(room)};
      import { systemClock } from ${JSON.stringify(clock)};
      import { existsSync } from 'node:fs';
      const log = { debug() {}, info() {}, warn() {}, error() {} };
      const children = createChildKeeper({ clock: systemClock, log });
      const paths = ${JSON.stringify(paths)};
      for (const path of paths) {
        await children.spawn({ command: process.execPath, args: [${JSON.stringify(fixture('stubborn').args[0])}, '--pid-file=' + path], env: {} });
      }
      while (!paths.every((path) => existsSync(path))) await new Promise((resolve) => setTimeout(resolve, 20));
      ${end}`;
    const owner = spawn(program, ['--import', 'tsx', '--input-type=module', '-e', source], { stdio: 'inherit' });
    onTestFinished(() => void owner.kill('SIGKILL'));
    const ended = new Promise((resolve) => {
      owner.once('exit', resolve);
    });
    const pids = (await Promise.all(paths.map(pidsFrom))).flat();
    return { owner, ended, pids };
  }

  it.each([
    ['kill -9', 'setInterval(() => {}, 1000);', 'SIGKILL'],
    ['SIGTERM', 'setInterval(() => {}, 1000);', 'SIGTERM'],
    ['process.exit', 'process.exit(0);', undefined],
    ['an uncaught error', 'queueMicrotask(() => { throw undefined; });', undefined],
  ] as const)('A38 nothing is left ten seconds after %s', async (_, end, signal) => {
    const { owner, ended, pids } = await startOwner(end);
    expect(pids).toHaveLength(4);
    const all = signal ? [...new Set([...pids, ...childrenOf(owner.pid!)])] : pids;
    if (signal) owner.kill(signal);
    await ended;
    await allGone(all);
  });

  it('A38 a watchdog that was killed is started again with all groups', async () => {
    const { owner, ended, pids } = await startOwner('setInterval(() => {}, 1000);');
    const watchdogOf = () => childrenOf(owner.pid!).filter((pid) => !pids.includes(pid));
    const [first] = watchdogOf();
    expect(first).toBeDefined();
    process.kill(first!, 'SIGKILL');
    await waitUntil(() => watchdogOf().some((pid) => pid !== first), { what: 'a new watchdog' });
    const second = watchdogOf();
    owner.kill('SIGKILL');
    await ended;
    await allGone([...pids, ...second]);
  });

  it('A38 nothing is left where Node.js was removed while toolscout ran, as an update does', async () => {
    const program = join(await temporaryDirectory(), 'node');
    copyFileSync(node, program);
    const { owner, ended, pids } = await startOwner('setInterval(() => {}, 1000);', program);
    rmSync(program);
    owner.kill('SIGKILL');
    await ended;
    await allGone(pids);
  });
});
