import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, isAlive, waitUntil } from '../support/fixture.js';
import { repetitions } from '../support/long-form.js';
import { CLI, finish, lineMatching, workplace, type Workplace } from '../support/toolscout.js';
import { patient } from '../support/patience.js';

const succeeds = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;

const CAN_LIMIT = succeeds('prlimit', '--version');
const CAN_MOUNT = succeeds('unshare', '-rm', 'sh', '-c', 'mount -t tmpfs -o size=64k tmpfs /mnt');
const CAN_TRACE = succeeds('strace', '-e', 'inject=fsync:error=EIO', '-o', '/dev/null', 'true');

interface Served {
  readonly child: ChildProcess;
  /** The process of toolscout itself. */
  readonly pid: number;
  call(message: string): Promise<number>;
  health(): Promise<unknown>;
  /** The messages of recorded calls. */
  recorded(): Promise<string[]>;
}

/** Serves over HTTP; `wrap` is what the command line is started through. */
async function serve(place: Workplace, wrap: readonly string[] = []): Promise<Served> {
  const [command = '', ...args] = [...wrap, process.execPath, CLI, 'serve', '--port', '0', ...place.flags];
  const child = spawn(command, args, { cwd: place.folder, stdio: 'pipe' });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stderr.resume();
  const [, base] = await lineMatching(child, /MCP endpoint\s+(http:\S+)\/mcp/);
  const get = async (path: string): Promise<unknown> => (await fetch(`${base}${path}`)).json();
  return {
    child,
    pid: child.pid!,
    async call(message) {
      const body = JSON.stringify({ server: 'old', tool: 'echo', arguments: { message } });
      const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
      const answer = await fetch(`${base}/v1/call`, init);
      expect(await answer.text()).toContain(message);
      return answer.status;
    },
    health: async () => ((await get('/health')) as { status: string }).status,
    async recorded() {
      const { records } = (await get('/v1/audit?kind=execution&limit=1000')) as {
        records: Array<{ arguments?: { message?: string } }>;
      };
      return records.map(({ arguments: args }) => args?.message ?? '');
    },
  };
}

/** A fault of the disk that comes and goes while toolscout serves. */
interface Fault {
  readonly wrap?: readonly string[];
  begin(served: Served): Promise<void>;
  end(served: Served): Promise<void>;
}

async function comesAndGoes(place: Workplace, { wrap, begin, end }: Fault): Promise<Served> {
  const served = await serve(place, wrap);
  expect(await served.call('before')).toBe(200);
  await waitUntil(async () => (await served.recorded()).includes('before'), { what: 'the first record' });
  const times = repetitions(1, 10);
  for (let time = 0; time < times; time++) {
    expect(await served.health()).toBe('ok');
    await begin(served);
    await waitUntil(async () => (await served.health()) === 'degraded', { what: 'health to say so' });
    for (let at = 0; at < 5; at++) expect(await served.call(`during ${time}.${at}`)).toBe(200);
    await end(served);
    await waitUntil(async () => (await served.health()) === 'ok', { what: 'health to recover' });
    expect(await served.call(`after ${time}`)).toBe(200);
    await waitUntil(async () => (await served.recorded()).includes(`after ${time}`), { what: 'a record again' });
  }
  // What was stored before is still there.
  expect(await served.recorded()).toContain('before');
  expect(isAlive(served.pid)).toBe(true);
  return served;
}

/** After an orderly end the files are good. */
async function expectGoodFiles(place: Workplace, { child }: Served): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect((await exited)[0]).toBe(0);
  const verified = await place.run('audit', 'verify', '--json');
  expect(verified.code, verified.stderr + verified.stdout).toBe(0);
  const state = join(place.folder, 'state');
  expect(readdirSync(state).filter((name) => /damaged|suspect/.test(name))).toEqual([]);
}

describe('a disk that fails', { timeout: patient(900_000) }, () => {
  it.skipIf(!CAN_LIMIT)(
    'R9 a file that cannot grow (EFBIG) does not stop calls; all is well without a restart',
    async () => {
      const place = await workplace({ servers: { old: fixture('legacy') } });
      const limit = (size: string) => async (served: Served) =>
        expect(succeeds('prlimit', `--fsize=${size}:unlimited`, '--pid', String(served.pid))).toBe(true);
      const served = await comesAndGoes(place, { begin: limit('1024'), end: limit('unlimited') });
      await expectGoodFiles(place, served);
    },
  );

  it.skipIf(!CAN_TRACE).each([
    ['an input/output error', 'EIO'],
    ['a read-only file system', 'EROFS'],
  ])('R9 writes that end with %s (%s) do not stop calls; all is well without a restart', async (_what, code) => {
    const place = await workplace({ servers: { old: fixture('legacy') } });
    let tracer: ChildProcess | undefined;
    const calls = 'pwrite64,fsync,fdatasync';
    const served = await comesAndGoes(place, {
      async begin({ pid }) {
        const args = ['-f', '-qq', '-o', '/dev/null', '-e', `trace=${calls}`, '-e', `inject=${calls}:error=${code}`];
        tracer = spawn('strace', [...args, '-p', String(pid)], { stdio: 'ignore' });
        const started = tracer;
        onTestFinished(() => void started.kill('SIGTERM'));
      },
      async end() {
        const gone = once(tracer!, 'exit');
        tracer!.kill('SIGTERM');
        await gone;
      },
    });
    await expectGoodFiles(place, served);
  });

  it.skipIf(!CAN_MOUNT)('R9 a full disk (ENOSPC) does not stop calls; all is well without a restart', async () => {
    const place = await workplace({ servers: { old: fixture('legacy') } });
    const state = join(place.folder, 'state');
    const mount = `mkdir -p "${state}" && mount -t tmpfs -o size=2m,mode=700 tmpfs "${state}" && exec "$0" "$@"`;
    const fill = ({ pid }: Served): string => join('/proc', String(pid), 'root', state, 'fill');
    const served = await comesAndGoes(place, {
      wrap: ['unshare', '-rm', 'sh', '-c', mount],
      async begin(each) {
        const path = fill(each);
        expect(existsSync(join(path, '..', 'toolscout.db'))).toBe(true);
        for (const size of [65_536, 4096, 512]) {
          for (let full = false; !full;) {
            try {
              writeFileSync(path, Buffer.alloc(size), { flag: 'a' });
            } catch (thrown) {
              expect((thrown as NodeJS.ErrnoException).code).toBe('ENOSPC');
              full = true;
            }
          }
        }
      },
      end: async (each) => rmSync(fill(each)),
    });
    const exited = once(served.child, 'exit');
    served.child.kill('SIGTERM');
    expect((await exited)[0]).toBe(0);
  });

  it.skipIf(!CAN_MOUNT)(
    'R9 on a read-only disk toolscout does not start, says why and leaves the files as they are',
    async () => {
      const place = await workplace({ servers: { old: fixture('legacy') } });
      expect((await place.run('warm')).code).toBe(0);
      const state = join(place.folder, 'state');
      const mount = `mount --bind "${state}" "${state}" && mount -o remount,bind,ro "${state}" && exec "$0" "$@"`;
      const serving = [process.execPath, CLI, 'serve', '--port', '0', ...place.flags];
      const ended = await finish(spawn('unshare', ['-rm', 'sh', '-c', mount, ...serving], { cwd: place.folder }));
      expect(ended.code).toBe(1);
      expect(ended.stderr).toMatch(/^STORE_ERROR: Cannot open the store/);
      expect((await place.run('call', 'old', 'echo', 'message=again')).code).toBe(0);
      expect(readdirSync(state).filter((name) => /damaged|suspect/.test(name))).toEqual([]);
    },
  );
});
