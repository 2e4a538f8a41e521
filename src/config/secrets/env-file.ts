import { readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative } from 'node:path';
import { messageOf, type Problem } from '../../kernel/errors.js';
import type { ImportedServer } from '../../model/source.js';
import { problemAt } from '../read/path.js';
import type { SourceMemory } from '../resolve/source-memory.js';
import { isVariableName } from '../resolve/variables.js';

const MAX_BYTES = 64 * 1024;

/** The variables of a file in the notation of `.env`: `NAME=value`, quotes and `export` allowed, `#` for remarks. */
export function parseEnvFile(text: string): Record<string, string> {
  const env: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const equals = line.indexOf('=');
    const name = line
      .slice(0, Math.max(0, equals))
      .replace(/^\s*export\s/, '')
      .trim();
    if (!isVariableName(name) || name === '__proto__') continue;
    const value = line.slice(equals + 1).trim();
    const quote = value[0];
    const isQuoted = value.length > 1 && (quote === '"' || quote === "'") && value.at(-1) === quote;
    env[name] = isQuoted ? value.slice(1, -1) : value;
  }
  return env;
}

async function isInside(path: string, folder: string): Promise<boolean> {
  const way = relative(await realpath(folder), await realpath(path));
  return !way.startsWith('..') && !isAbsolute(way);
}

async function read(path: string, folder: string | undefined): Promise<Record<string, string> | string> {
  try {
    // A project must not make us hand out files of the user that lie elsewhere.
    if (folder !== undefined && !(await isInside(path, folder))) return 'lies outside the project';
    const info = await stat(path);
    if (!info.isFile() || info.size > MAX_BYTES) return `is not a regular file of at most ${MAX_BYTES} bytes`;
    const env = parseEnvFile(await readFile(path, 'utf8'));
    // Values there are literal; here they would be read as variables.
    return Object.values(env).some((value) => value.includes('${'))
      ? 'contains "${", which toolscout does not support in this file'
      : env;
  } catch (thrown) {
    return `${UNREADABLE} (${(thrown as NodeJS.ErrnoException).code ?? messageOf(thrown)})`;
  }
}

const UNREADABLE = 'cannot be read';

/** A server with the variables of its file; its own win. */
export interface CompletedServer {
  readonly server: ImportedServer;
  /** Why it must not start without them. */
  readonly problem?: string;
  /** The file cannot be read now; its variables are those that were last read. */
  readonly keptEnvFile?: Problem;
}

/** Reads the variables of a server's file, or takes those that were last read. */
export async function withEnvFile(
  server: ImportedServer,
  project: string | undefined,
  memory?: SourceMemory,
): Promise<CompletedServer> {
  const { envFile, entry } = server;
  if (envFile === undefined) return { server };
  const found = await read(envFile, server.scope === 'project' ? project : undefined);
  const complete = (env: Record<string, string>): ImportedServer => ({
    ...server,
    entry: { ...entry, env: { ...env, ...entry.env } },
  });
  if (typeof found !== 'string') {
    memory?.remember(envFile, found);
    return { server: complete(found) };
  }
  const before = found.startsWith(UNREADABLE) ? memory?.recall(envFile, 'unreadable') : undefined;
  if (!before) return { server, problem: `its envFile ${found}` };
  return { server: complete(before.data as Record<string, string>), keptEnvFile: problemAt(envFile, found) };
}
