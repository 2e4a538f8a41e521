import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { ClientEnvironment } from '../config/index.js';
import { VERSION } from '../kernel/version.js';

/** The script of this command, for entries that start it: the built one, or the source when that is what runs. */
export function ownScript(): string {
  const here = fileURLToPath(import.meta.url);
  return here.endsWith('.ts')
    ? fileURLToPath(new URL('../bin.ts', import.meta.url))
    : fileURLToPath(new URL(cliBeside(here), import.meta.url));
}

/** Chunks stand in a folder of their own beside the command. */
function cliBeside(file: string): string {
  return /[\\/]chunks[\\/][^\\/]+$/.test(file) ? '../cli.cjs' : './cli.cjs';
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
