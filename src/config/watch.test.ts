import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sleep, systemClock, type Clock } from '../kernel/clock.js';
import { createLog } from '../kernel/log.js';
import { watchConfig, type ConfigWatch } from './index.js';

let root: string;
let file: string;
let events: number;
let watched: ConfigWatch | undefined;

/** `pollMs` long enough that only the directory can have told, or short enough that the poll does. */
function start(options: { pollMs?: number; debounceMs?: number; path?: string } = {}): void {
  watched = watchConfig(options.path ?? file, {
    clock: systemClock,
    onChange: () => {
      events++;
    },
    debounceMs: options.debounceMs ?? 30,
    pollMs: options.pollMs ?? 60_000,
  });
}
const reaches = (count: number): Promise<void> => vi.waitFor(() => expect(events).toBe(count), { timeout: 10_000 });
/** Long enough for several debounces and short polls. */
const quiet = (): Promise<void> => sleep(systemClock, 400);

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'toolscout-watch-'));
  file = join(root, 'config.json');
  await writeFile(file, '{"a":1}');
  events = 0;
});
afterEach(async () => {
  watched?.close();
  watched = undefined;
  await rm(root, { recursive: true, force: true });
});

describe('watchConfig', () => {
  it('CFG-6 a write is one event, the same bytes are none', async () => {
    start();
    await writeFile(file, '{"a":1}');
    await quiet();
    expect(events).toBe(0);
    await writeFile(file, '{"a":2}');
    await reaches(1);
    await writeFile(file, '{"a":2}');
    await quiet();
    expect(events).toBe(1);
  });

  it('CFG-6 an atomic rename is seen, again and again', async () => {
    start();
    for (let i = 1; i <= 3; i++) {
      await writeFile(join(root, 'config.json.tmp'), `{"b":${i}}`);
      await rename(join(root, 'config.json.tmp'), file);
      await reaches(i);
    }
  });

  it('CFG-6 truncating and writing later is one event, for the content and not for the emptiness', async () => {
    start();
    await writeFile(file, '');
    await quiet();
    expect(events).toBe(0);
    await writeFile(file, '{"d":1}');
    await reaches(1);
  });

  it('CFG-6 a file that stays empty is believed', async () => {
    start({ pollMs: 50 });
    await writeFile(file, '');
    await reaches(1);
  });

  it('CFG-6 vanishing is no event, returning with the same bytes neither, with others one', async () => {
    start({ pollMs: 50 });
    await unlink(file);
    await quiet();
    await writeFile(file, '{"a":1}');
    await quiet();
    expect(events).toBe(0);
    await unlink(file);
    await quiet();
    await writeFile(file, '{"e":1}');
    await reaches(1);
  });

  it('CFG-6 the target of a symlink is followed', async () => {
    await mkdir(join(root, 'elsewhere'));
    await writeFile(join(root, 'elsewhere', 'real.json'), '1');
    const link = join(root, 'link.json');
    await symlink(join(root, 'elsewhere', 'real.json'), link);
    start({ path: link, pollMs: 50 });
    await writeFile(join(root, 'elsewhere', 'real.json'), '2');
    await reaches(1);
  });

  it('CFG-6 a directory that is removed and made anew is followed', async () => {
    const inner = join(root, 'inner');
    await mkdir(inner);
    await writeFile(join(inner, 'config.json'), '1');
    start({ path: join(inner, 'config.json'), pollMs: 50 });
    await rm(inner, { recursive: true });
    await quiet();
    await mkdir(inner);
    await writeFile(join(inner, 'config.json'), '2');
    await reaches(1);
  });

  it('CFG-6 a file that does not exist yet is waited for', async () => {
    start({ path: join(root, 'later', 'config.json'), pollMs: 50 });
    await mkdir(join(root, 'later'));
    await writeFile(join(root, 'later', 'config.json'), '1');
    await reaches(1);
  });

  it('CFG-6 other files in the directory are none of its business, and after close nothing is', async () => {
    start({ pollMs: 50 });
    await writeFile(join(root, 'other.json'), 'x');
    await quiet();
    watched?.close();
    await writeFile(file, '{"f":1}');
    await quiet();
    expect(events).toBe(0);
  });

  it('CFG-6 a listener that fails is reported, and the next change is still told', async () => {
    const lines: string[] = [];
    let calls = 0;
    watched = watchConfig(file, {
      clock: systemClock,
      debounceMs: 20,
      pollMs: 60_000,
      log: createLog({ level: 'error', write: (line) => lines.push(line), now: systemClock.now }),
      onChange: async () => {
        calls++;
        await Promise.reject(new Error('invalid'));
      },
    });
    await writeFile(file, '1');
    await vi.waitFor(() => expect(calls).toBe(1), { timeout: 10_000 });
    await writeFile(file, '2');
    await vi.waitFor(() => expect(calls).toBe(2), { timeout: 10_000 });
    await vi.waitFor(() => expect(lines).toHaveLength(2), { timeout: 10_000 });
    expect(lines[0]).toContain('config.reload-failed');
  });

  it('CFG-6 a burst of writes is one event, and nothing is read before the debounce is over', async () => {
    const tasks: Array<{ ms: number; task: () => void }> = [];
    const debounces = (): typeof tasks => tasks.filter(({ ms }) => ms === 100);
    const clock: Clock = {
      ...systemClock,
      after: (ms, task) => {
        const entry = { ms, task };
        tasks.push(entry);
        return { cancel: () => void tasks.splice(tasks.indexOf(entry), 1) };
      },
    };
    watched = watchConfig(file, { clock, onChange: () => void events++ });
    expect(tasks.map(({ ms }) => ms)).toEqual([1500]);
    for (let i = 0; i < 10; i++) await writeFile(file, `{"g":${i}}`);
    await vi.waitFor(() => expect(debounces()).toHaveLength(1), { timeout: 10_000 });
    await quiet();
    expect(debounces()).toHaveLength(1);
    expect(events).toBe(0);
    debounces()[0]!.task();
    await reaches(1);
  });
});
