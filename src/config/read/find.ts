import { realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ToolscoutError } from '../../kernel/errors.js';
import { problemAt } from './path.js';

/** What a config may be written in, in the order in which files are tried. */
export const FORMATS = ['ts', 'js', 'mjs', 'json', 'jsonc', 'yaml', 'yml', 'toml'] as const;

/** One of {@link FORMATS}. */
export type Format = (typeof FORMATS)[number];

/** Where a config is looked for. */
export interface FindOptions {
  /** Exactly this file; nothing else is looked for. */
  readonly file?: string;
  readonly cwd: string;
  readonly home: string;
  /** Instead of `<home>/.config`. */
  readonly xdgConfigHome?: string;
  /** False: files of the current folder are not looked for. */
  readonly folder?: boolean;
}

/** A config file, and those in the same place that it hides. */
export interface FoundConfig {
  readonly path: string;
  readonly hidden: readonly string[];
  /**
   * Who chose it: `named` by the user, `user` for the user's own, `folder` for one in the current folder, which another
   * person may have written. A file in the home directory itself is the user's own.
   */
  readonly origin: 'named' | 'user' | 'folder';
}

/** Whether two paths are one folder; one that does not exist is no other. */
export async function isSameFolder(a: string, b: string): Promise<boolean> {
  const real = (path: string): Promise<string> => realpath(path).catch(() => resolve(path));
  return (await real(a)) === (await real(b));
}

/** Whether a file is there, and may be looked at. */
export async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (thrown) {
    // A file that cannot be read (absent, or in another user's home) is not our config.
    if (thrown instanceof Error) return false;
    throw thrown;
  }
}

/** The user's own config file, without its ending. */
export function userConfigStem({ home, xdgConfigHome }: Pick<FindOptions, 'home' | 'xdgConfigHome'>): string {
  return join(xdgConfigHome ?? join(home, '.config'), 'toolscout', 'config');
}

/** Where a config of the current folder is looked for, without endings. */
function folderConfigStems(cwd: string): string[] {
  return [join(cwd, '.toolscout', 'config'), join(cwd, 'toolscout.config'), join(cwd, 'anygpt.config')];
}

function candidatesAt(stem: string): string[] {
  return FORMATS.map((format) => `${stem}.${format}`);
}

/** Every file in which a config is looked for when none is named. */
export function configCandidates(options: Pick<FindOptions, 'cwd' | 'home' | 'xdgConfigHome'>): string[] {
  return [...folderConfigStems(options.cwd), userConfigStem(options)].flatMap(candidatesAt);
}

/** Files with this name and any ending that a config may have, in the order in which they are tried. */
export async function configFilesAt(stem: string): Promise<string[]> {
  const candidates = candidatesAt(stem);
  const exists = await Promise.all(candidates.map(isFile));
  return candidates.filter((_, i) => exists[i]);
}

/** Finds the config file, and says which files beside it are not read. */
export async function locateConfig(options: FindOptions): Promise<FoundConfig | undefined> {
  const { file, cwd } = options;
  if (file !== undefined) {
    const path = resolve(cwd, file);
    if (await isFile(path)) return { path, hidden: [], origin: 'named' };
    throw new ToolscoutError('CONFIGURATION_ERROR', `The config file ${path} does not exist or is not a file.`, {
      suggestion: 'Check the path given with --config.',
      problems: [problemAt('file', 'does not exist or is not a file')],
      file: path,
    });
  }
  const inFolder = folderConfigStems(cwd);
  const stems = [...(options.folder === false ? [] : inFolder), userConfigStem(options)];
  for (const stem of stems) {
    const [path, ...hidden] = await configFilesAt(stem);
    if (path === undefined) continue;
    const isOwn = !inFolder.includes(stem) || (await isSameFolder(cwd, options.home));
    return { path, hidden, origin: isOwn ? 'user' : 'folder' };
  }
  return undefined;
}

/**
 * The config file that is in force (CFG-1), or `undefined` when there is none.
 *
 * @throws ToolscoutError `CONFIGURATION_ERROR` when `file` is given and is not there.
 */
export async function findConfig(options: FindOptions): Promise<string | undefined> {
  return (await locateConfig(options))?.path;
}
