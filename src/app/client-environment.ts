import { homedir, hostname, userInfo } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readEnvironment, type ClientEnvironment } from '../config/index.js';
import { stateDirectory } from '../store/index.js';
import { VERSION } from '../kernel/version.js';

/** The script of this command, for entries that start it: the built one, or the source when that is what runs. */
export function ownScript(): string {
  const here = fileURLToPath(import.meta.url);
  return here.endsWith('.ts')
    ? here.replace(/place\.ts$/, 'bin.ts')
    : fileURLToPath(new URL(cliBeside(here), import.meta.url));
}

/** Chunks stand in a folder of their own beside the command. */
function cliBeside(file: string): string {
  return /[\\/]chunks[\\/][^\\/]+$/.test(file) ? '../cli.js' : './cli.js';
}

/** Folders that package runners make for one run and clear later: npx, pnpm dlx, yarn dlx, bunx. */
const RUNNER_CACHE = /[\\/](_npx|dlx(-[\w.-]+)?|bunx-[^\\/]*|xfs-[0-9a-f]+)[\\/]/;

/** The command that starts this very toolscout, for entries that outlive this process. */
export function ownCommand(
  script = ownScript(),
  platform: string = process.platform,
): { readonly command: string; readonly args: readonly string[] } {
  if (RUNNER_CACHE.test(script)) {
    const args = ['-y', `toolscout@${VERSION}`];
    // Windows starts no .cmd file without a shell.
    return platform === 'win32' ? { command: 'cmd', args: ['/c', 'npx', ...args] } : { command: 'npx', args };
  }
  const isSource = script.endsWith('.ts');
  return { command: process.execPath, args: [...(isSource ? ['--import', 'tsx'] : []), script] };
}

/** This machine, as far as files of clients and our own entry in them are concerned. */
export function placeOf(around: Pick<ClientEnvironment, 'home' | 'env' | 'project'>): ClientEnvironment {
  return { ...around, platform: process.platform, self: { script: ownScript(), hostname: hostname() } };
}

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
  const { platform } = process;
  const home = homeOf(around.env);
  const directory = stateDirectory({
    platform,
    home,
    cacheDirectory,
    dataHome,
    localAppData,
    override: around.stateDir,
  });
  return resolve(around.cwd, directory);
}
