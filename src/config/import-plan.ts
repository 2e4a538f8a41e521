import { dirname, resolve } from 'node:path';
import { ToolscoutError } from '../kernel/errors.js';
import { type JsonObject, type JsonValue } from '../kernel/json.js';
import { SOURCE_TYPES, type SourceType } from '../model/config.js';
import type { ClientRows, ImportedServer, ImportPlan, ImportRow } from '../model/source.js';
import { showEntry } from './create-server.js';
import type { Edit } from './edit/edit.js';
import { editText } from './edit/edit-text.js';
import { openFile, replaceWithBackup } from './edit/replace-file.js';
import { userConfigStem, type FindOptions, type Format } from './find.js';
import { holdsLiteralSecret } from './literal-secrets.js';
import { formatOf, parseConfig, type DataFormat } from './parse.js';
import { keysOfField, rawField } from './raw-field.js';
import { isRegistryFile, ownServers, sourcesOf } from './resolve-sources.js';
import type { Place } from './sources/importer.js';
import { importClient, importSources } from './sources/import-sources.js';
import { IMPORTERS } from './sources/importers.js';
import { chooseConfig, keepApproved } from './trust.js';
import { entryOf, launchOf, rulesFor, sortOut, type Fate, type Taken } from './sources/merge.js';

/** What is imported, from where, and into which config. */
export interface ImportOptions {
  /** Only these clients; all of them by default. */
  readonly clients?: readonly SourceType[];
  readonly place: Place;
  readonly find: FindOptions;
  /** Where approvals of configs are kept. */
  readonly stateDirectory?: string;
  readonly now: () => number;
}

interface Target {
  readonly path: string;
  readonly format: Format;
  readonly raw: unknown;
}

/** The config that is in force, or the one of the user that will be. */
async function findTarget({ find, stateDirectory }: ImportOptions): Promise<Target> {
  const named = find.file === undefined ? undefined : resolve(find.cwd, find.file);
  if (named !== undefined && (await openFile(named)).text === undefined) {
    return { path: named, format: formatOf(named), raw: {} };
  }
  // Nothing is written to a config of the folder that is not approved, and it is not run.
  const found = await chooseConfig({ ...find, stateDirectory });
  if (found) {
    const { text = '' } = await openFile(found.path);
    const raw = await parseConfig(text, found.path);
    if (isRegistryFile(raw)) {
      const message = `${found.path} is an mcp.json with a list of servers, which toolscout does not edit.`;
      const suggestion = 'Name a config of toolscout with --config; its sources may name this file.';
      throw new ToolscoutError('CONFIGURATION_ERROR', message, { suggestion, file: found.path });
    }
    return { path: found.path, format: formatOf(found.path), raw };
  }
  return { path: `${userConfigStem(find)}.json`, format: 'json', raw: {} };
}

/** What is configured already, in the config itself and through its sources. */
async function takenBy(target: Target, place: Place): Promise<Taken> {
  const own = ownServers(target.raw);
  const base = dirname(target.path);
  const { servers } = await importSources(sourcesOf(target.raw), { place, base, taken: own, envFiles: false });
  const imported = servers.map(({ server }): [string, string] => [launchOf(server.entry, server.envFile), server.id]);
  return {
    ids: new Set([...own.ids, ...imported.map(([, id]) => id)]),
    launches: new Map([...own.launches, ...imported]),
  };
}

/** Credentials stay in the file they are in, and a server of a project stays one: both are named in `sources`. */
function howToAdd(server: ImportedServer): ImportRow['how'] {
  const isOwn = server.scope === 'user' && server.envFile === undefined && !holdsLiteralSecret(server.entry);
  return isOwn ? 'copy' : 'reference';
}

function rowOf(found: ImportedServer, { server, fate }: Fate): ImportRow {
  const how = howToAdd(found);
  const prompts = found.prompts.map(({ variable, text }) => `set ${variable} (${text})`);
  const renamed = fate === 'new' && server.id !== found.id ? [`is called "${found.id}" there`] : [];
  return {
    server: server.id,
    transport: showEntry(found.entry),
    scope: found.scope,
    enabled: found.entry.enabled ?? true,
    file: found.file,
    status: fate,
    how,
    timeoutMs: found.entry.timeout,
    connectTimeoutMs: found.entry.connectTimeout,
    autoApproved: found.autoApproved,
    disabledTools: found.disabledTools,
    enabledTools: found.enabledTools,
    capabilities: found.capabilities,
    notes: [...found.notes, ...prompts, ...renamed],
  };
}

interface Addition {
  readonly found: ImportedServer;
  readonly server: ImportedServer;
}

/** Servers that stay where they are, one source for each file. */
function referencesTo(additions: readonly Addition[], place: Place): JsonObject[] {
  const byFile = new Map<string, JsonObject & { only: string[]; rename?: Record<string, string> }>();
  for (const { found, server } of additions) {
    const { client, file, scope, id } = found;
    const key = `${client}\n${file}\n${scope}`;
    const source = byFile.get(key) ?? { type: client, path: file, scope, ...projectOf(found, place), only: [] };
    source.only.push(id);
    if (server.id !== id) source.rename = { ...source.rename, [id]: server.id };
    byFile.set(key, source);
  }
  return [...byFile.values()];
}

/** Only where it matters: paths of a project's servers start there, and so do tables for single projects. */
function projectOf({ client, scope }: ImportedServer, { project }: Place): JsonObject {
  return project !== undefined && (scope === 'project' || client === 'claude-code') ? { project } : {};
}

function editsFor(raw: unknown, additions: readonly Addition[], place: Place): Edit[] {
  const copied = additions.filter(({ found }) => howToAdd(found) === 'copy');
  const referred = additions.filter(({ found }) => howToAdd(found) === 'reference');
  const append = (name: string, values: readonly JsonValue[]): Edit[] => {
    const list = rawField(raw, name);
    const start = Array.isArray(list) ? list.length : 0;
    return values.map((value, at) => ({ keys: [...keysOfField(raw, name), start + at], value }));
  };
  return [
    ...copied.map(({ server }) => ({
      keys: [...keysOfField(raw, 'servers'), server.id],
      value: entryOf(server) as unknown as JsonValue,
    })),
    ...append('toolRules', copied.flatMap(({ server }) => rulesFor(server)) as unknown as JsonValue[]),
    ...append('sources', referencesTo(referred, place)),
  ];
}

/** Finds the servers of every client on this machine, and says what an import would add (CLI-1). */
export async function planImport(options: ImportOptions): Promise<ImportPlan> {
  const { place, clients: wanted = SOURCE_TYPES } = options;
  const target = await findTarget(options);
  const read = await Promise.all(wanted.map(async (client) => ({ client, ...(await importClient(client, place)) })));
  const found = read.flatMap(({ servers }) => servers);
  const fates = sortOut(found, await takenBy(target, place));
  let at = 0;
  const clients = read
    .filter(({ files, unreadable }) => files.length > 0 || unreadable.length > 0)
    .map(({ client, files, servers, unreadable, problems: bad, remarks }): ClientRows => {
      const problems = [...unreadable, ...bad, ...remarks];
      const rows = servers.map((server) => rowOf(server, fates[at++]!));
      return { client, title: IMPORTERS[client].title, files, servers: rows, problems };
    });
  const additions = fates.flatMap(({ server, fate }, n) => (fate === 'new' ? [{ found: found[n]!, server }] : []));
  const edits = editsFor(target.raw, additions, place);
  const isData = /^(json|jsonc|yaml|yml)$/.test(target.format);
  return {
    config: target.path,
    clients,
    additions: additions.length,
    paste:
      isData || additions.length === 0
        ? undefined
        : await editText('{}', { path: 'x.json', format: 'json' }, edits.map(fromStart)),
    async apply() {
      if (!isData || edits.length === 0) return {};
      const { path } = target;
      const { stateDirectory, now } = options;
      return keepApproved({ path, stateDirectory, now }, async () => {
        const opened = await openFile(path);
        const edited = await editText(opened.text ?? '', { path, format: target.format as DataFormat }, edits);
        return { backup: await replaceWithBackup(opened, edited) };
      });
    },
  };
}

/** The same edit in an empty file: lists begin anew there. */
function fromStart({ keys, value }: Edit, _: number, all: readonly Edit[]): Edit {
  const last = keys.at(-1);
  if (typeof last !== 'number') return { keys, value };
  const path = keys.slice(0, -1).join('.');
  const first = all.find((edit) => edit.keys.slice(0, -1).join('.') === path)!.keys.at(-1) as number;
  return { keys: [...keys.slice(0, -1), last - first], value };
}
