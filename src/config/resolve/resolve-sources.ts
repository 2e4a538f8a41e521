import { join, resolve } from 'node:path';
import * as z from 'zod';
import { isObject } from '../../kernel/json.js';
import { READ_ONCE, ServerEntry, SourceConfig } from '../../model/config.js';
import { isFile } from '../read/find.js';
import { problemAt } from '../read/path.js';
import { resolveConfig, MIN_SECRET, type LoadedConfig, type ResolveOptions } from './resolve.js';
import { renameInEntry } from '../check/renamed-fields.js';
import { readSecretsFile, withSecrets } from '../secrets/secrets-file.js';
import { NO_SOURCES, type ImportSources } from './imported-sources.js';
import type { ClientEnvironment } from './client-environment.js';
import { launchOf, type Taken } from './merge-sources.js';
import type { SourceMemory } from './source-memory.js';
import { rawField } from '../read/raw-field.js';

/** Where the files of clients are, and everything else a config is resolved with. */
export interface SourcedOptions extends ResolveOptions {
  readonly place: ClientEnvironment;
  /** Reads the files of the clients that `sources` names. */
  readonly importSources: ImportSources;
  /** What the files of clients held when they were last read. */
  readonly memory?: SourceMemory;
  /** False: an `mcp.json` in the folder of the project is not read by itself. */
  readonly application?: boolean;
  /** The file with secrets that is read where the config names none. */
  readonly secretsFile?: string;
}

/** The file with secrets that a raw config names, or the usual one. */
export function secretsFileOf(raw: unknown, options: Pick<SourcedOptions, 'directory' | 'place' | 'secretsFile'>) {
  const written = rawField(raw, 'envFile');
  if (typeof written !== 'string') return options.secretsFile;
  const { home } = options.place;
  return resolve(options.directory ?? '', written.startsWith('~/') ? join(home, written.slice(2)) : written);
}

/** The sources of a raw config; none when they are not valid, which resolving will say. */
export function sourcesOf(raw: unknown): SourceConfig[] {
  const parsed = z.array(SourceConfig).safeParse(rawField(raw, 'sources'), READ_ONCE);
  return parsed.success ? parsed.data : [];
}

/** Whether a file given as a config is the `mcp.json` of an application: its servers are a list, ours are an object. */
export function isRegistryFile(raw: unknown): boolean {
  return isObject(raw) && Array.isArray(raw['servers']);
}

/** An entry with every text of its launch changed in the same way. */
function mapLaunch(entry: ServerEntry, change: (text: string) => string): ServerEntry {
  const { command, args, cwd, url, env, headers } = entry;
  const pairs = (all: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(all).map(([name, value]) => [name, change(value)]));
  return {
    ...entry,
    ...(command !== undefined && { command: change(command) }),
    ...(args && { args: args.map(change) }),
    ...(cwd !== undefined && { cwd: change(cwd) }),
    ...(url !== undefined && { url: change(url) }),
    ...(env && { env: pairs(env) }),
    ...(headers && { headers: pairs(headers) }),
  };
}

/** Ids and launches of the servers that a raw config itself has; `fill` fills in variables. */
export function ownServers(raw: unknown, fill: (text: string) => string = (text) => text): Taken {
  const servers = rawField(raw, 'servers');
  const entries = isObject(servers) ? Object.entries(servers) : [];
  const launches = entries.flatMap(([id, entry]): Array<[string, string]> => {
    const parsed = ServerEntry.safeParse(renameInEntry(entry), READ_ONCE);
    return parsed.success ? [[launchOf(mapLaunch(parsed.data, fill)), id]] : [];
  });
  return { ids: new Set(entries.map(([id]) => id)), launches: new Map(launches) };
}

/** The `mcp.json` of the application whose folder this is (NEG-1); `undefined` where a source names one already. */
function applicationFile(sources: readonly SourceConfig[], { place, application }: SourcedOptions): string | undefined {
  const isNamed = sources.some((source) => (typeof source === 'string' ? source : source.type) === 'ranger-mcp-json');
  return application === false || isNamed || place.project === undefined ? undefined : join(place.project, 'mcp.json');
}

const WITHOUT_APPROVALS =
  'with approval "off" its servers would start immediately; name it in sources, or with --config, if you trust it';

/**
 * Turns a raw config into a loaded one, servers of its sources included (CFG-5), with the variables of its file with secrets. An
 * `mcp.json` in the folder of the project is a source by itself, a project's file like others. The
 * importers are used only when there are sources.
 *
 * @throws ToolscoutError `CONFIGURATION_ERROR` whose `problems` are all there are.
 */
export async function resolveWithSources(raw: unknown, options: SourcedOptions): Promise<LoadedConfig> {
  const path = secretsFileOf(raw, options);
  if (path === undefined) return resolveImported(raw, options);
  const { values, problem, exists } = await readSecretsFile(path);
  const loaded = await resolveImported(raw, { ...options, env: withSecrets(options.env, values) });
  const isNamed = rawField(raw, 'envFile') !== undefined;
  const absent = isNamed && !exists ? 'does not exist; toolscout secret set NAME makes it' : undefined;
  const wrong = problem === undefined ? absent : `${problem}; none of its variables is set`;
  const hidden = Object.values(values).filter((value) => value.length >= MIN_SECRET);
  return {
    ...loaded,
    secretsFile: path,
    sourceFiles: [...loaded.sourceFiles, path],
    warnings: [...loaded.warnings, ...(wrong === undefined ? [] : [problemAt('envFile', `${path} ${wrong}`)])],
    secrets: [...new Set([...loaded.secrets, ...hidden])],
  };
}

async function resolveImported(raw: unknown, options: SourcedOptions): Promise<LoadedConfig> {
  const { place, memory, application: _, secretsFile: _file, importSources: _import, ...given } = options;
  const rest = { ...given, self: place.self };
  const sources = sourcesOf(raw);
  const file = applicationFile(sources, options);
  const isThere = file !== undefined && ((await isFile(file)) || memory?.recall(file, 'absent') !== undefined);
  // Without approvals its servers would start at once, only because the folder was opened.
  const wouldStart = rawField(raw, 'approval') === 'off';
  if (isThere && !wouldStart) sources.push({ type: 'ranger-mcp-json', scope: 'project' });
  const base = options.directory ?? place.home;
  const imported =
    sources.length === 0
      ? NO_SOURCES
      : await options.importSources(sources, { place, base, taken: ownServers(raw), memory });
  // Also where it is absent: it is watched, so that it is found when it comes.
  const files = file === undefined ? imported.files : [...new Set([...imported.files, file])];
  const refused = isThere && wouldStart ? [problemAt('sources', `${file} is not read: ${WITHOUT_APPROVALS}`)] : [];
  const warnings = [...imported.warnings, ...refused];
  return resolveConfig(raw, { ...rest, imported: { ...imported, files, warnings } });
}
