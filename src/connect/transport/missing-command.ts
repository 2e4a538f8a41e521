import { access, constants, stat } from 'node:fs/promises';
import { delimiter, extname, join, resolve } from 'node:path';
import type { StdioTransport } from '../../model/server.js';
import { childEnvironment } from './environment.js';

type Variables = Readonly<Record<string, string | undefined>>;

async function isExecutable(path: string, windows: boolean): Promise<boolean> {
  try {
    if (!(await stat(path)).isFile()) return false;
    await access(path, windows ? constants.F_OK : constants.X_OK);
    return true;
  } catch {
    // Absent, or not to be seen or run by this user: it cannot be started either way.
    return false;
  }
}

/** The file names a command may have; Windows adds the endings of programs. */
function namesOf(command: string, environment: Variables, windows: boolean): string[] {
  if (!windows || extname(command) !== '') return [command];
  return (environment['PATHEXT'] ?? '.COM;.EXE;.BAT;.CMD').split(';').map((ending) => `${command}${ending}`);
}

/**
 * Why the command of a local server cannot be started, or `undefined` when an executable file is there.
 * Nothing is run: whether the program is an MCP server shows only when it is connected.
 */
export async function missingCommand(
  transport: Pick<StdioTransport, 'command' | 'env' | 'cwd'>,
  base: Variables,
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  const { command, cwd = '' } = transport;
  const windows = platform === 'win32';
  const environment = childEnvironment(base, transport.env, platform);
  const isPath = command.includes('/') || (windows && command.includes('\\'));
  const folders = isPath ? [''] : (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  for (const folder of folders) {
    for (const name of namesOf(command, environment, windows)) {
      if (await isExecutable(resolve(cwd, join(folder, name)), windows)) return undefined;
    }
  }
  return `The command "${command}" was not found; install it, or write its full path in the config.`;
}
