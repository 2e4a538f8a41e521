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

/** Where state is kept (STORE-2), for a process in this environment. */
export function stateDirectoryOf(around: {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stateDir?: string;
}): string {
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
