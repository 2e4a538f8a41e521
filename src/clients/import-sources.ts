import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import type { Problem } from '../kernel/errors.js';
import type { SourceConfig, SourceType } from '../model/config.js';
import type { ImportedServer } from '../model/source.js';
import { isSameFolder } from '../config/read/find.js';
import { joinPath, problemAt } from '../config/read/path.js';
import { isServerId } from '../config/resolve/server-id.js';
import { withEnvFile, type CompletedServer } from '../config/secrets/env-file.js';
import type { Importer, SourceFormat, SourcePath } from './importer.js';
import type { ClientEnvironment } from '../config/resolve/client-environment.js';
import type { ImportedSources, ImportOptions } from '../config/resolve/imported-sources.js';
import { IMPORTERS } from './importers.js';
import { sortOut, warningsAbout } from '../config/resolve/merge-sources.js';
import { readFiles } from './reading/read-files.js';
import type { SourceMemory } from '../config/resolve/source-memory.js';

function formatByEnding(path: string): SourceFormat {
  if (/\.ya?ml$/i.test(path)) return 'yaml';
  return /\.toml$/i.test(path) ? 'toml' : 'jsonc';
}

/** What a named file is, from what it looks like: one of the user's, or one that lies in a project, and its role. */
function recognize(path: string, importer: Importer, place: ClientEnvironment): SourcePath {
  const marker = join(place.home, 'no-such-project');
  const known = importer.locate({ ...place, project: marker });
  const looksLike = ({ path: one, scope, endings }: SourcePath): boolean => {
    const file = endings ? dirname(path) : path;
    return scope === 'user' ? file === one : file.endsWith(one.slice(marker.length));
  };
  const like = known.find((one) => one.scope === 'user' && looksLike(one)) ?? known.find(looksLike);
  return { path, format: formatByEnding(path), scope: like?.scope ?? 'user', role: like?.role };
}

/**
 * The files a client keeps servers in, each once. In the home directory the project's file is the user's file, so it is
 * read once, as the user's.
 */
async function locate(importer: Importer, place: ClientEnvironment): Promise<SourcePath[]> {
  const all = importer.locate(place);
  if (place.project === undefined || !(await isSameFolder(place.project, place.home))) return all;
  const home = await realpath(place.home).catch(() => place.home);
  const fromHome = (path: string): string => {
    const folder = [place.project!, place.home].find((each) => path.startsWith(join(each, sep)));
    return folder === undefined ? path : join(home, path.slice(folder.length));
  };
  const found = new Map<string, SourcePath>();
  for (const each of all.toSorted((a, b) => Number(a.scope === 'project') - Number(b.scope === 'project'))) {
    const key = `${fromHome(each.path)}\0${each.role ?? ''}`;
    if (!found.has(key)) found.set(key, { ...each, scope: 'user' });
  }
  return [...found.values()];
}

/** The files of one client that a source asks for. */
async function pathsOf(
  source: Exclude<SourceConfig, string>,
  importer: Importer,
  place: ClientEnvironment,
  base: string,
): Promise<SourcePath[]> {
  if (source.path === undefined) {
    const all = await locate(importer, place);
    return source.scope === undefined ? all : all.filter((each) => each.scope === source.scope);
  }
  const given = source.path.startsWith('~/') ? join(place.home, source.path.slice(2)) : source.path;
  const path = isAbsolute(given) ? given : resolve(base, given);
  const known = recognize(path, importer, place);
  return [{ ...known, scope: source.scope ?? known.scope }];
}

/** A server under the id that the config gives it. */
function renamed(server: ImportedServer, names: Readonly<Record<string, string>>, warnings: Problem[]): ImportedServer {
  const id = Object.hasOwn(names, server.id) ? names[server.id] : undefined;
  if (id === undefined) return server;
  if (isServerId(id) && id !== '__proto__') return { ...server, id };
  const path = joinPath('sources', server.client, server.id);
  warnings.push(problemAt(path, `cannot be renamed: an id has 1 to 64 letters, digits, "_", "." or "-"`));
  return server;
}

/** What one client's files hold. */
export async function importClient(
  type: SourceType,
  place: ClientEnvironment,
  paths?: readonly SourcePath[],
  memory?: SourceMemory,
) {
  const { files, problems, kept } = await readFiles(paths ?? (await locate(IMPORTERS[type], place)), memory);
  const imported = IMPORTERS[type].read(files, place);
  return {
    files: files.map((file) => file.path),
    servers: imported.servers,
    /** Files that could not be read. */
    unreadable: problems,
    /** Files that are used as they were last read. */
    kept,
    problems: imported.problems,
    remarks: imported.remarks ?? [],
  };
}

/** Reads every source of a config; own servers win, and a source that fails hides none of the others (CFG-5). */
export async function importSources(
  sources: readonly SourceConfig[],
  options: ImportOptions,
): Promise<ImportedSources> {
  const { base, taken, memory } = options;
  const found: ImportedServer[] = [];
  const warnings: Problem[] = [];
  const files = new Set<string>();
  const kept = new Map<string, string>();
  const projects = new Map<ImportedServer, string | undefined>();
  for (const each of sources) {
    const source = typeof each === 'string' ? { type: each } : each;
    const project = source.project === undefined ? options.place.project : resolve(base, source.project);
    const place = { ...options.place, project };
    const paths = await pathsOf(source, IMPORTERS[source.type], place, base);
    for (const path of paths) if (!path.endings) files.add(path.path);
    const client = await importClient(source.type, place, paths, memory);
    const { servers, unreadable, files: read, ...rest } = client;
    // With `only`, problems of the other servers are not reported.
    const problems = source.only ? unreadable : [...unreadable, ...rest.problems];
    for (const file of read) files.add(file);
    warnings.push(
      ...problems.map(({ path, message }) => problemAt(joinPath('sources', source.type), `${path}: ${message}`)),
    );
    for (const { path, message } of client.kept) {
      kept.set(path, message);
      const text = `${path}: ${message}; its servers stay as they were last read`;
      warnings.push(problemAt(joinPath('sources', source.type), text));
    }
    if (source.path !== undefined && read.length === 0 && problems.length === 0) {
      warnings.push(problemAt(joinPath('sources', source.type), `${paths[0]!.path}: there is no such file`));
    }
    for (const id of (source.only ?? []).filter((wanted) => !servers.some((server) => server.id === wanted))) {
      warnings.push(problemAt(joinPath('sources', source.type, id), 'is named in "only" but was not found'));
    }
    const wanted = servers.filter((server) => !source.only || source.only.includes(server.id));
    for (const each of wanted) {
      const server = renamed(each, source.rename ?? {}, warnings);
      projects.set(server, project);
      found.push(server);
    }
  }
  const fates = sortOut(found, taken);
  const added = fates.flatMap(({ server, fate }, at) => (fate === 'new' ? [{ server, of: found[at]! }] : []));
  for (const { server } of added) {
    const path = joinPath('sources', server.client, server.id);
    for (const note of server.notes) warnings.push(problemAt(path, `${server.file}: ${note}`));
  }
  const complete = ({ server, of }: (typeof added)[number]): Promise<CompletedServer> =>
    withEnvFile(server, projects.get(of), memory);
  const servers: CompletedServer[] =
    options.envFiles === false ? added.map(({ server }) => ({ server })) : await Promise.all(added.map(complete));
  for (const { server, keptEnvFile } of servers) {
    if (!keptEnvFile) continue;
    const { path: file, message } = keptEnvFile;
    kept.set(file, message);
    const text = `${file}: ${message}; its variables stay as they were last read`;
    warnings.push(problemAt(joinPath('sources', server.client, server.id), text));
  }
  return {
    servers,
    warnings: [...warnings, ...warningsAbout(found, fates)],
    files: [...files],
    kept: [...kept].map(([path, message]) => problemAt(path, message)),
  };
}
