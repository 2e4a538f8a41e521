import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, relative } from 'node:path';
import type { SandboxConfig } from '../../model/sandbox-config.js';

/** What a sandbox is given of a server. */
export interface SandboxedServer {
  readonly command: string;
  /** The folder the server runs in. */
  readonly cwd: string;
  /** The names of the variables it is given. */
  readonly variables: readonly string[];
  /** The folder of the project's file that names the server, where its folder may be chosen by others. */
  readonly project?: string;
}

const FOLDER = '{cwd}';

/**
 * The words that stand before the command of a server in a sandbox; none without one. Its own variables are filled in, and nothing that
 * the server brings.
 */
export function sandboxWords(
  sandbox: SandboxConfig,
  { cwd, variables }: SandboxedServer,
  fill: (text: string) => string,
): string[] {
  if (sandbox === false) return [];
  return sandbox.command.flatMap((word) =>
    word === '{env}' ? variables.flatMap((name) => ['-e', name]) : [fill(word).replaceAll(FOLDER, () => cwd)],
  );
}

/** How a server would get out of its sandbox, or have more opened to it than the config of the user says (A49). */
export function sandboxProblem(sandbox: SandboxConfig, server: SandboxedServer): string | undefined {
  if (sandbox === false) return undefined;
  if (server.command.startsWith('-')) {
    return 'has a command that begins with "-": its sandbox would read it as an option of its own';
  }
  const { project, cwd } = server;
  if (project === undefined || !sandbox.command.some((word) => word.includes(FOLDER))) return undefined;
  return isWithin(cwd, projectOf(project))
    ? undefined
    : 'has a cwd outside of its project, which its sandbox would open';
}

/** The folder of a project, by that of a file in it: clients keep their files in a hidden folder. */
function projectOf(folder: string): string {
  if (basename(folder).startsWith('.')) return dirname(folder);
  return basename(dirname(folder)) === '.continue' ? dirname(dirname(folder)) : folder;
}

function isWithin(path: string, folder: string): boolean {
  const from = relative(real(folder), real(path));
  return from !== '..' && !from.startsWith('../') && !from.startsWith('..\\') && !isAbsolute(from);
}

/** Where a path leads; what does not exist is judged by the folder that does. */
function real(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // Whatever the reason, a folder that cannot be seen cannot lead elsewhere by itself.
    const parent = dirname(path);
    return parent === path ? path : `${real(parent)}/${basename(path)}`;
  }
}
