import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Place } from './config/index.js';

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

/** This machine, as far as files of clients and our own entry in them are concerned. */
export function placeOf(around: Pick<Place, 'home' | 'env' | 'project'>): Place {
  return { ...around, platform: process.platform, self: { script: ownScript() } };
}

/** The home of the user; a blank or relative `HOME` would make one of whatever folder we were started in. */
export function homeOf(env: Readonly<Record<string, string | undefined>>): string {
  const { HOME: home } = env;
  if (home === undefined) return homedir();
  return isAbsolute(home) ? home : userInfo().homedir;
}
