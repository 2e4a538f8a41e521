import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import type { ConfigInput } from '../model/config.js';
import type { Variables } from './environment.js';
import { locateConfig, type FindOptions } from './find.js';
import { formatOf, parseConfig } from './parse.js';
import { problemAt } from './path.js';
import type { LoadedConfig } from './resolve.js';
import { resolveWithSources } from './resolve-sources.js';
import type { Place } from './sources/importer.js';

/** Where to look for a config, what surrounds it, and what holds when there is none. */
export interface LoadOptions extends FindOptions {
  readonly env: Variables;
  /** The machine whose clients `sources` are read from; by default this home with the files of the working directory. */
  readonly place?: Place;
  /** Used when no file is found, instead of the built-in defaults. */
  readonly fallback?: () => { readonly config: ConfigInput; readonly source: string };
}

/** Bytes of a config file; a thousand servers need a fifth of it. */
const LARGEST_FILE = 1024 * 1024;

async function readText(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size <= LARGEST_FILE) return await readFile(path, 'utf8');
  } catch (thrown) {
    throw new ToolscoutError('CONFIGURATION_ERROR', `${path} cannot be read: ${messageOf(thrown)}`, {
      suggestion: 'Make the file readable for this user, or choose another with --config.',
      problems: [problemAt('file', `cannot be read: ${messageOf(thrown)}`)],
      file: path,
      cause: thrown,
    });
  }
  throw new ToolscoutError('CONFIGURATION_ERROR', `${path} is larger than ${LARGEST_FILE} bytes.`, {
    suggestion: 'Check that this is the file you meant; choose another with --config.',
    problems: [problemAt('file', `is larger than ${LARGEST_FILE} bytes`)],
    file: path,
  });
}

/**
 * Finds, reads, checks and completes the config (CFG-1…4). Without a file the fallback holds, and without
 * that the defaults.
 *
 * @throws ToolscoutError `CONFIGURATION_ERROR` with all problems.
 */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const found = await locateConfig(options);
  const { env, cwd, home } = options;
  const place = options.place ?? { platform: 'linux', home, env, project: cwd };
  if (!found) {
    const { config, source } = options.fallback?.() ?? { config: {}, source: 'defaults' };
    return resolveWithSources(config, { source, env, directory: cwd, place });
  }
  const { path, hidden } = found;
  formatOf(path);
  const raw = await parseConfig(await readText(path), path);
  const loaded = await resolveWithSources(raw, { source: path, env, directory: dirname(path), place });
  const unread = hidden.map((other) => problemAt(other, `is not read, because ${path} is`));
  return { ...loaded, path, warnings: [...unread, ...loaded.warnings] };
}
