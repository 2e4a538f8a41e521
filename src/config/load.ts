import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import type { ConfigInput } from '../model/config.js';
import type { Variables } from './environment.js';
import { isFile, locateConfig, type FindOptions, type FoundConfig } from './read/find.js';
import { formatOf, parseConfig } from './read/parse.js';
import { problemAt } from './read/path.js';
import { withPending } from './review/pending-config.js';
import type { LoadedConfig } from './resolve/resolve.js';
import { isRegistryFile, resolveWithSources, type SourcedOptions } from './resolve/resolve-sources.js';
import type { ClientEnvironment } from './resolve/client-environment.js';
import { defaultSecretsFile } from './secrets/secrets-file.js';
import { fingerprintOf, trustOf } from './review/trust.js';
import type { SourceMemory } from './resolve/source-memory.js';

/** Where to look for a config, its surroundings, and the defaults when no config is found. */
export interface LoadOptions extends FindOptions, Pick<SourcedOptions, 'importSources'> {
  readonly env: Variables;
  /** The machine whose clients `sources` are read from; by default this home with the files of the working directory. */
  readonly place?: ClientEnvironment;
  /** Where approvals of configs are kept; without it none is approved. */
  readonly stateDirectory?: string;
  /** What the files of clients held when they were last read. */
  readonly memory?: SourceMemory;
  /** Used when no file is found, instead of the built-in defaults. */
  readonly fallback?: () => { readonly config: ConfigInput; readonly source: string };
}

/** Bytes of a config file; a thousand servers need a fifth of it. */
const MAX_FILE = 1024 * 1024;

async function readText(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size <= MAX_FILE) return await readFile(path, 'utf8');
  } catch (thrown) {
    throw new ToolscoutError('CONFIGURATION_ERROR', `${path} cannot be read: ${messageOf(thrown)}`, {
      suggestion: 'Make the file readable for this user, or choose another with --config.',
      problems: [problemAt('file', `cannot be read: ${messageOf(thrown)}`)],
      file: path,
      cause: thrown,
    });
  }
  throw new ToolscoutError('CONFIGURATION_ERROR', `${path} is larger than ${MAX_FILE} bytes.`, {
    suggestion: 'Check that this is the file you meant; choose another with --config.',
    problems: [problemAt('file', `is larger than ${MAX_FILE} bytes`)],
    file: path,
  });
}

/** Loads a file that the user chose. */
async function loadFile(
  { path, hidden, origin }: FoundConfig,
  text: string,
  options: LoadOptions,
): Promise<LoadedConfig> {
  formatOf(path);
  const written = await parseConfig(text, path);
  // A registry that the user names is the user's own, not a project's file that merely lies here.
  const isRegistry = origin === 'named' && isRegistryFile(written);
  const raw = isRegistry ? { sources: [{ type: 'ranger-mcp-json', path, scope: 'user' }] } : written;
  const loaded = await resolveWithSources(raw, {
    source: path,
    env: options.env,
    directory: dirname(path),
    place: placeOf(options),
    importSources: options.importSources,
    memory: options.memory,
    secretsFile: defaultSecretsFile(options),
  });
  const unread = hidden.map((other) => problemAt(other, `is not read, because ${path} is`));
  return { ...loaded, path, warnings: [...unread, ...loaded.warnings] };
}

function placeOf({ place, home, env, cwd }: LoadOptions): ClientEnvironment {
  return place ?? { platform: 'linux', home, env, project: cwd };
}

/** What holds beside a config of the folder that is not approved: the user's own config, or the defaults. */
async function loadOwn(options: LoadOptions): Promise<LoadedConfig> {
  const own = await locateConfig({ ...options, folder: false });
  if (own) return loadFile(own, await readText(own.path), options);
  return loadDefaults({}, 'defaults', options);
}

/** What holds without a file. */
function loadDefaults(config: ConfigInput, source: string, options: LoadOptions): Promise<LoadedConfig> {
  const { env, cwd: directory, importSources, memory } = options;
  const secretsFile = defaultSecretsFile(options);
  return resolveWithSources(config, {
    source,
    env,
    directory,
    place: placeOf(options),
    importSources,
    memory,
    secretsFile,
  });
}

/** A config of the folder with how it stands; one that cannot be read waits like one that is not approved. */
async function readFound(path: string, stateDirectory: string | undefined) {
  try {
    const text = await readText(path);
    const hash = await fingerprintOf(path, text);
    return { path, text, hash, state: await trustOf(stateDirectory, path, hash) };
  } catch (thrown) {
    if (!(thrown instanceof ToolscoutError)) throw thrown;
    return { path, hash: '', state: 'new' as const, problem: messageOf(thrown) };
  }
}

/**
 * Finds, reads, checks and completes the config (CFG-1…4). Without a file the fallback holds, and without
 * that the defaults. A config of the current folder that the user neither named nor approved is not used: the user's own holds, and
 * the servers of the folder's config are added as pending (SEC-9, A53).
 *
 * @throws ToolscoutError `CONFIGURATION_ERROR` with all problems.
 */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const found = await locateConfig(options);
  if (!found) {
    const defaults = { config: {}, source: 'defaults' };
    const { project } = placeOf(options);
    // In the folder of an application, its own servers are wanted, not a demonstration.
    const isApplication = project !== undefined && (await isFile(join(project, 'mcp.json')));
    const { config, source } = (isApplication ? undefined : options.fallback?.()) ?? defaults;
    return loadDefaults(config, source, options);
  }
  if (found.origin !== 'folder') return loadFile(found, await readText(found.path), options);
  const { state, ...read } = await readFound(found.path, options.stateDirectory);
  if (state === 'approved') return loadFile(found, read.text ?? '', options);
  return withPending(await loadOwn(options), { ...read, state }, options);
}
