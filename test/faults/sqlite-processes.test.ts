import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.js';
import { silentLog } from '../../src/kernel/log.js';
import type { Store } from '../../src/model/store.js';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.js';
import { bundled } from '../support/bundled.js';
import { formOf, repetitions } from '../support/long-form.js';
import { nextOutput } from '../support/next-output.js';

const SCRIPT = await bundled(fileURLToPath(new URL('../contract/store-process.ts', import.meta.url)));

interface Running {
  readonly child: ChildProcess;
  /** Resolves with the acknowledged lines when the process has ended; a torn last line does not count. */
  readonly ended: Promise<string[]>;
  readonly firstLine: Promise<void>;
  /** Resolves when so many lines have been acknowledged. */
  acknowledges(count: number): Promise<void>;
}

function start(command: string, args: readonly string[]): Running {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  const firstLine = new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const ended = new Promise<string[]>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0 || signal === 'SIGKILL') resolve(output.split('\n').slice(0, -1));
      else reject(new Error(`the process ended with ${code ?? signal}: ${errors}`));
    });
  });
  const acknowledges = async (count: number): Promise<void> => {
    while (output.split('\n').length <= count) await nextOutput(child);
  };
  const running = { child, ended, firstLine, acknowledges };
  started.push(running);
  return running;
}

/** Every process of a test, so that one that fails leaves none behind. */
const started: Running[] = [];

const run = (act: string, directory: string, name: string, count = 0): Running =>
  start(process.execPath, [SCRIPT, act, directory, name, String(count)]);

// Each test starts several processes.
describe('sqlite among processes', { timeout: formOf(600_000, 1_800_000) }, () => {
  let root: string;
  let directory: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'toolscout-processes-'));
    directory = join(root, 'state');
  });
  afterEach(async () => {
    for (const { child } of started) child.kill('SIGKILL');
    await Promise.allSettled(started.splice(0).map(({ ended }) => ended));
    rmSync(root, { recursive: true });
  });

  const withStore = async <Result>(task: (store: Store) => Promise<Result>): Promise<Result> => {
    const store = await openSqliteStore({ directory, clock: systemClock, log: silentLog });
    try {
      return await task(store);
    } finally {
      await store.close();
    }
  };
  /** Everything acknowledged so far is there; answers how much that is. */
  const expectKept = async (lines: readonly string[]): Promise<number> =>
    withStore(async (store) => {
      const keys = new Set((await store.list('entries')).map(({ key }) => key));
      const records = new Set((await store.audit({ limit: 1_000_000 })).map(({ id }) => id));
      const acknowledged = lines.filter((line) => line !== 'open' && line !== 'closed');
      const lost = acknowledged.filter((line) =>
        line.startsWith('audit ') ? !records.has(line.slice(6)) : !keys.has(line),
      );
      expect(lost).toEqual([]);
      expect((await store.verifyAudit()).problem).toBeUndefined();
      return acknowledged.length;
    });

  it('STORE-1 SEC-12 four processes write at once: nothing is lost, no update overwritten, and the audit log is one chain', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const ended = await Promise.all(names.map((name) => run('write', directory, name, 100).ended));
    for (const lines of ended) expect(lines).toHaveLength(202);
    await expectKept(ended.flat());
    await withStore(async (store) => {
      expect((await store.get('shared', 'counter'))?.value).toBe(400);
      expect(await store.list('entries')).toHaveLength(400);
      const found = await store.verifyAudit();
      expect(found).toMatchObject({ ok: true, records: 400, blocks: 400 });
      expect(found.heads).toHaveLength(1);
    });
  });

  it('STORE-1 R4 SEC-12 kill -9 under write load, again and again: nothing acknowledged is lost, nothing corrupt', async () => {
    let acknowledged: string[] = [];
    const damaged = (): string[] => readdirSync(directory).filter((name) => /damaged|suspect/.test(name));
    // Four processes are killed in a round.
    const rounds = repetitions(8, 500) / 4;
    for (let round = 0; round < rounds; round++) {
      // A file of its own for so many rounds: everything is read again after each.
      if (round > 0 && round % 25 === 0) {
        expect(damaged()).toEqual([]);
        [directory, acknowledged] = [join(root, `state${round}`), []];
      }
      const running = Array.from({ length: 4 }, (_, at) => run('hammer', directory, `w${round}-${at}`));
      await Promise.all(
        running.map(async ({ child, ended, acknowledges }, at) => {
          await acknowledges(20 + ((round * 53 + at * 97) % 300));
          await delay(Math.random() * 20);
          child.kill('SIGKILL');
          acknowledged.push(...(await ended));
        }),
      );
      await expectKept(acknowledged);
    }
    expect(await expectKept(acknowledged)).toBeGreaterThan(100);
    expect(damaged()).toEqual([]);
  });

  it('STORE-1 four processes find a damaged file at once: it is set aside once and nothing good is lost', async () => {
    const rounds = repetitions(6, 25);
    for (let round = 0; round < rounds; round++) {
      mkdirSync(join(directory, String(round)), { mode: 0o700, recursive: true });
      writeFileSync(join(directory, String(round), 'toolscout.db'), 'damaged '.repeat(2000), { mode: 0o600 });
    }
    const names = ['a', 'b', 'c', 'd'];
    const running = names.map((name) => run('together', directory, name, rounds));
    await Promise.all(running.map(({ firstLine }) => firstLine));
    const first = systemClock.now() + 300;
    for (const { child } of running) child.stdin?.end(String(first));
    await Promise.all(running.map(({ ended }) => ended));
    for (let round = 0; round < rounds; round++) {
      const place = join(directory, String(round));
      const store = await openSqliteStore({ directory: place, clock: systemClock, log: silentLog });
      const keys = (await store.list('entries')).map(({ key }) => key);
      await store.close();
      const aside = readdirSync(place).filter((name) => /damaged-[^.]*Z(-\d+)?$/.test(name));
      expect({ round, keys, aside: aside.length }).toEqual({ round, keys: names, aside: 1 });
    }
  });

  it('R9 a disk that takes no more: the write is refused with STORE_ERROR, reads go on, the file stays good', async () => {
    // A limit on the size of a file fails a write the way a full disk does, and needs no rights.
    const command = `ulimit -f 1000; exec "$0" "$@"`;
    const args = [process.execPath, SCRIPT, 'fill', directory, 'x'];
    const lines = await start('sh', ['-c', command, ...args]).ended;
    expect(lines.slice(0, 3)).toEqual(['open', 'refused STORE_ERROR', 'read kept']);
    await withStore(async (store) => {
      await store.put('entries', 'after', 1);
      expect((await store.get('entries', 'after'))?.value).toBe(1);
    });
    expect(readdirSync(directory).filter((name) => /damaged|suspect/.test(name))).toEqual([]);
  });

  it('STORE-1 a change by another process is reported', async () => {
    await withStore(async (store) => {
      const heard = new Set<string>();
      const done = new Promise<void>((resolve) => {
        const stop = store.onChange((space) => {
          heard.add(space);
          if (heard.size < 2) return;
          stop();
          resolve();
        });
      });
      await store.put('own', 'k', 1);
      await run('write', directory, 'other', 3).ended;
      await done;
      expect([...heard].toSorted()).toEqual(['entries', 'shared']);
    });
  });
});
