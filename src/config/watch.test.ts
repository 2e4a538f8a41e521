import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock, type Clock } from '../kernel/clock.js';
import { createLog } from '../kernel/log.js';
import { watchConfig, type ConfigWatch } from './index.js';

let root: string;
let file: string;
/** What the file held at each event. */
let seen: string[];
let events: number;
/** How many times a timer ran out; then the watch reads the file. */
let looks: number;
let watched: ConfigWatch | undefined;

const countingClock: Clock = {
  ...systemClock,
  after: (ms, task) =>
    systemClock.after(ms, () => {
      looks++;
      task();
    }),
};

/** `pollMs` long enough that only the directory can have told, or short enough that the poll does. */
function start(options: { pollMs?: number; path?: string } = {}): void {
  const path = options.path ?? file;
  watched = watchConfig(path, {
    clock: countingClock,
    onChange: () => {
      events++;
      seen.push(readFileSync(path, 'utf8'));
    },
    debounceMs: 30,
    pollMs: options.pollMs ?? 60_000,
  });
}
const reaches = (count: number): Promise<void> => expect.poll(() => events).toBe(count);
/** Makes a change and waits until the watch has looked at it: once after a notice of the directory, or in several polls. */
async function whileWatched(change: () => Promise<unknown>, count: number): Promise<void> {
  const before = looks;
  await change();
  await expect.poll(() => looks).toBeGreaterThanOrEqual(before + count);
}
const POLLS = 4;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'toolscout-watch-'));
  file = join(root, 'config.json');
  await writeFile(file, '{"a":1}');
  events = 0;
  looks = 0;
  seen = [];
});
afterEach(async () => {
  watched?.close();
  watched = undefined;
  await rm(root, { recursive: true, force: true });
});

describe('watchConfig', () => {
  it('CFG-6 a write is one event, the same bytes are no event', async () => {
    start();
    await whileWatched(() => writeFile(file, '{"a":1}'), 1);
    await writeFile(file, '{"a":2}');
    await expect.poll(() => seen).toEqual(['{"a":2}']);
    await whileWatched(() => writeFile(file, '{"a":2}'), 1);
    await writeFile(file, '{"a":3}');
    await expect.poll(() => seen).toEqual(['{"a":2}', '{"a":3}']);
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
    await whileWatched(() => writeFile(file, ''), 1);
    await writeFile(file, '{"d":1}');
    await expect.poll(() => seen).toEqual(['{"d":1}']);
  });

  it('CFG-6 a file that stays empty is believed', async () => {
    start({ pollMs: 50 });
    await writeFile(file, '');
    await reaches(1);
  });

  it('CFG-6 vanishing is no event, returning with the same bytes neither, with others one', async () => {
    start({ pollMs: 50 });
    await whileWatched(() => unlink(file), POLLS);
    await whileWatched(() => writeFile(file, '{"a":1}'), POLLS);
    await whileWatched(() => unlink(file), POLLS);
    await writeFile(file, '{"e":1}');
    await expect.poll(() => seen).toEqual(['{"e":1}']);
  });

  it('CFG-6 reports once that the file is gone, and its return, also with the same bytes', async () => {
    let missing = 0;
    watched = watchConfig(file, {
      clock: countingClock,
      onChange: () => void events++,
      onMissing: () => void missing++,
      debounceMs: 30,
      pollMs: 50,
    });
    await whileWatched(() => unlink(file), POLLS);
    await expect.poll(() => missing).toBe(1);
    expect(events).toBe(0);
    await writeFile(file, '{"a":1}');
    await reaches(1);
    await unlink(file);
    await expect.poll(() => missing).toBe(2);
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

  it('CFG-6 follows a directory that is removed and created again', async () => {
    const inner = join(root, 'inner');
    await mkdir(inner);
    await writeFile(join(inner, 'config.json'), '1');
    start({ path: join(inner, 'config.json'), pollMs: 50 });
    await whileWatched(() => rm(inner, { recursive: true }), POLLS);
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

  it('CFG-6 ignores other files in the directory, and every file after close', async () => {
    start({ pollMs: 50 });
    await whileWatched(() => writeFile(join(root, 'other.json'), 'x'), POLLS);
    const closed = watched!;
    closed.close();
    let others = 0;
    watched = watchConfig(file, { clock: systemClock, onChange: () => void others++, debounceMs: 30, pollMs: 50 });
    await writeFile(file, '{"f":1}');
    await expect.poll(() => others).toBe(1);
    expect(events).toBe(0);
  });

  it('CFG-6 a listener that fails is reported, and the next change is still reported', async () => {
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
    await expect.poll(() => calls).toBe(1);
    await writeFile(file, '2');
    await expect.poll(() => calls).toBe(2);
    await expect.poll(() => lines).toHaveLength(2);
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
    await expect.poll(debounces).toHaveLength(1);
    expect(events).toBe(0);
    debounces()[0]!.task();
    await reaches(1);
  });
});
