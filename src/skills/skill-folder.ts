import { watch, type FSWatcher } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock, Timer } from '../kernel/clock.js';
import { messageOf, type Problem } from '../kernel/errors.js';
import { sha256 } from '../kernel/hash.js';
import type { Log } from '../kernel/log.js';
import type { Skill } from '../model/skill.js';
import { parseSkill } from './skill-file.js';

/** Every skill below some folders. */
export interface SkillSet {
  readonly skills: readonly Skill[];
  /** Folders and files that could not be read. */
  readonly problems: readonly Problem[];
  /** Changes when anything above does. */
  readonly hash: string;
}

/** Skills and folders that are looked at. */
const MAX_SKILLS = 1000;
/** Bytes of one file; the reader cuts long before. */
const MAX_FILE = 4 * 1024 * 1024;

const DEBOUNCE_MS = 100;
/** How often folders are read anyway: no operating system reports every change. */
const POLL_MS = 2000;

function idOf(folder: string): string {
  return (
    basename(folder)
      .replace(/[^\p{L}\p{N}_.-]+/gu, '-')
      .slice(0, 64) || 'skill'
  );
}

async function skillFileIn(folder: string): Promise<string | undefined> {
  const names = await readdir(folder);
  const name = names.toSorted().find((each) => each.toLowerCase() === 'skill.md');
  return name === undefined ? undefined : join(folder, name);
}

/** Reads one skill: a `skill.md`, or the folder it stands in. */
export async function readSkill(path: string): Promise<Skill> {
  const isFolder = (await stat(path)).isDirectory();
  const file = isFolder ? await skillFileIn(path) : path;
  if (file === undefined) throw new Error('there is no skill.md in it');
  const { size } = await stat(file);
  if (size > MAX_FILE) throw new Error(`${basename(file)} is larger than ${MAX_FILE} bytes`);
  return parseSkill(await readFile(file, 'utf8'), { id: idOf(dirname(file)), path: file });
}

/** The folders that may hold a skill: the given ones, and those directly in them. */
async function foldersIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const below = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map(({ name }) => name);
  return [directory, ...below.toSorted().map((name) => join(directory, name))];
}

/** Reads every skill below these folders; of two with one name the first counts. */
export async function readSkills(directories: readonly string[]): Promise<SkillSet> {
  const skills = new Map<string, Skill>();
  const problems: Problem[] = [];
  const note = (path: string, thrown: unknown): void => void problems.push({ path, message: messageOf(thrown) });
  for (const directory of directories) {
    const folders = await foldersIn(directory).catch((thrown: unknown) => {
      note(directory, thrown);
      return [];
    });
    for (const folder of folders) {
      // A link that leads nowhere, or to a file, is no folder of a skill.
      const file = await skillFileIn(folder).catch(() => undefined);
      if (file === undefined) continue;
      const skill = await readSkill(file).catch((thrown: unknown) => note(file, thrown));
      if (!skill) continue;
      const known = skills.get(skill.id);
      if (known) problems.push({ path: file, message: `is not used: ${known.path} has the same name` });
      else if (skills.size < MAX_SKILLS) skills.set(skill.id, skill);
      else problems.push({ path: file, message: `is not used: ${MAX_SKILLS} skills were read before it` });
    }
  }
  const found = [...skills.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const hash = sha256(JSON.stringify([found.map(({ id, path, hash: own }) => [id, path, own]), problems]));
  return { skills: found, problems, hash };
}

/** Reads the folders again when something in them moves, and now and then; `onChange` gets what has changed (NEG-2). */
export function watchSkills(
  directories: readonly string[],
  known: string,
  deps: { readonly clock: Clock; readonly log: Log; readonly onChange: (set: SkillSet) => void },
): { close(): void } {
  const { clock, log, onChange } = deps;
  const watchers = new Map<string, FSWatcher>();
  let hash = known;
  let closed = false;
  let settling: Timer | undefined;
  let polling: Timer | undefined;

  const arm = (folder: string): void => {
    if (watchers.has(folder) || closed) return;
    try {
      const watcher = watch(folder, { persistent: false }, () => {
        settling?.cancel();
        settling = clock.after(DEBOUNCE_MS, () => void look());
      });
      watchers.set(folder, watcher);
      watcher.on('error', () => {
        watcher.close();
        watchers.delete(folder);
      });
    } catch (thrown) {
      log.debug('skill.not-watched', { folder, reason: messageOf(thrown) });
    }
  };
  const look = async (): Promise<void> => {
    try {
      const set = await readSkills(directories);
      for (const folder of [...directories, ...set.skills.map(({ path }) => dirname(path))]) arm(folder);
      if (closed || set.hash === hash) return;
      hash = set.hash;
      onChange(set);
    } catch (thrown) {
      log.error('skill.unreadable', { reason: messageOf(thrown) });
    }
  };
  const poll = (): void => {
    polling = clock.after(POLL_MS, () => void look().finally(() => closed || poll()));
  };
  void look();
  poll();
  return {
    close() {
      closed = true;
      settling?.cancel();
      polling?.cancel();
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}
