import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The command that starts the program of an installed npm package with these arguments. */
export function realServer(name: string, ...args: string[]): { command: string; args: string[] } {
  const folder = createRequire(import.meta.url)
    .resolve.paths(name)
    ?.map((directory) => join(directory, name))
    .find((directory) => existsSync(join(directory, 'package.json')));
  if (folder === undefined) throw new Error(`${name} is not installed; npm ci installs it.`);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { bin: Record<string, string> };
  return { command: process.execPath, args: [join(folder, Object.values(bin)[0]!), ...args] };
}
