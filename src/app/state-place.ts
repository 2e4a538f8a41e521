import { homedir, userInfo } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { readEnvironment } from '../config/environment.js';
import { stateDirectory } from '../store/state-directory.js';

/** The home of the user; a blank or relative `HOME` would make one of whatever folder we were started in. */
export function homeOf(env: Readonly<Record<string, string | undefined>>): string {
  const { HOME: home } = env;
  if (home === undefined) return homedir();
  return isAbsolute(home) ? home : userInfo().homedir;
}

/** What decides where the state of a process is. */
interface Around {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stateDir?: string;
}

/** Where state is kept (STORE-2), for a process in this environment. */
export function stateDirectoryOf(around: Around): string {
  const { cacheDirectory, dataHome, localAppData } = readEnvironment(around.env);
  const directory = stateDirectory({
    platform: process.platform,
    home: homeOf(around.env),
    cacheDirectory,
    dataHome,
    localAppData,
    override: around.stateDir,
  });
  return resolve(around.cwd, directory);
}

/**
 * Where state is kept, if a command in a plain terminal of the user would look elsewhere. Variables may be set for this process
 * alone, so they do not make a folder usual.
 */
export function unusualStateDirectory(around: Around): string | undefined {
  if (around.stateDir === 'memory') return around.stateDir;
  const { LOCALAPPDATA } = around.env;
  const usual = stateDirectoryOf({ cwd: around.cwd, env: { HOME: userInfo().homedir, LOCALAPPDATA } });
  const own = stateDirectoryOf(around);
  return own === usual ? undefined : own;
}
