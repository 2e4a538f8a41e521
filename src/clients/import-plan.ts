import { dirname, resolve } from 'node:path';
import { ToolscoutError } from '../kernel/errors.js';
import { type JsonObject, type JsonValue } from '../kernel/json.js';
import { isLoaderVariable } from '../kernel/loader-variables.js';
import { SOURCE_TYPES, type ServerEntry, type SourceType } from '../model/config.js';
import type { ClientRows, ImportedServer, ImportPlan, ImportRow, StayReason } from '../model/source.js';
import { showEntry } from '../config/resolve/create-server.js';
import type { Variables } from '../config/environment.js';
import type { Edit } from '../config/edit/edit.js';
import { editText } from '../config/edit/edit-text.js';
import { openFile, replaceWithBackup } from '../config/edit/replace-file.js';
import { expand } from '../config/resolve/expand.js';
import { userConfigStem, type FindOptions, type Format } from '../config/read/find.js';
import { holdsLiteralSecret } from '../config/secrets/literal-secrets.js';
import { formatOf, parseConfig, type DataFormat } from '../config/read/parse.js';
import { keysOfField, rawField } from '../config/read/raw-field.js';
import { isRegistryFile, ownServers, secretsFileOf, sourcesOf } from '../config/resolve/resolve-sources.js';
import {
  defaultSecretsFile,
  readSecretsFile,
  REPAIR_SECRETS_FILE,
  withSecrets,
  writeSecrets,
} from '../config/secrets/secrets-file.js';
import type { ClientEnvironment } from '../config/resolve/client-environment.js';
import { importClient, importSources } from './import-sources.js';
import { IMPORTERS } from './importers.js';
import { takeCredentials, type TakenCredentials } from './take-credentials.js';
import { chooseConfig, keepApproved } from '../config/review/trust.js';
import { entryOf, launchOf, rulesFor, sortOut, type Fate, type Taken } from '../config/resolve/merge-sources.js';

/** What is imported, from where, and into which config. */
export interface ImportOptions {
  /** Only these clients; all of them by default. */
  readonly clients?: readonly SourceType[];
  readonly place: ClientEnvironment;
  readonly find: FindOptions;
  /** Where approvals of configs are kept. */
  readonly stateDirectory?: string;
  readonly now: () => number;
  /** Take credentials along, into the file with secrets of the config; otherwise such servers stay in their files. */
  readonly credentials?: boolean;
  /** Only servers that can be copied; none is named in `sources`. */
  readonly copyOnly?: boolean;
  /** Only these of the servers that were found. */
  readonly only?: (server: ImportedServer) => boolean;
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

/** The servers of the config itself, as they are written and with their variables filled in: an import may have made these variables. */
async function ownLaunches({ raw }: Target, secretsFile: string, env: Variables): Promise<Taken> {
  const written = ownServers(raw);
  const variables = withSecrets(env, (await readSecretsFile(secretsFile)).values);
  const { launches } = ownServers(raw, (text) => expand(text, variables).text);
  return { ...written, launches: new Map([...launches, ...written.launches]) };
}

/** What is configured already, in the config itself and through its sources. */
async function takenBy(target: Target, place: ClientEnvironment, own: Taken): Promise<Taken> {
  const base = dirname(target.path);
  const { servers } = await importSources(sourcesOf(target.raw), { place, base, taken: own, envFiles: false });
  const imported = servers.map(({ server }): [string, string] => [launchOf(server.entry, server.envFile), server.id]);
  return {
    ids: new Set([...own.ids, ...imported.map(([, id]) => id)]),
    launches: new Map([...own.launches, ...imported]),
  };
}

/** Takes the credentials out of an entry; `undefined` when they must stay where they are. */
type Take = (id: string, entry: ServerEntry) => TakenCredentials | undefined;

/** Credentials stay in the file they are in, and a server of a project stays one: both are named in `sources`. */
function howToAdd({ found, server }: Addition, take: Take): ImportRow['how'] {
  const isOwn = found.scope === 'user' && found.envFile === undefined;
  if (!isOwn) return 'reference';
  return !holdsLiteralSecret(found.entry) || take(server.id, entryOf(server)) ? 'copy' : 'reference';
}

/** Says which variables an import sets, or that the credentials stay and which option copies them. */
function aboutSecrets(found: ImportedServer, { server, fate }: Fate, take: Take): string[] {
  if (fate !== 'new' || found.scope !== 'user' || !holdsLiteralSecret(found.entry)) return [];
  const names = Object.keys(take(server.id, entryOf(server))?.secrets ?? {});
  if (names.length > 0) return [`its credentials become ${names.join(', ')} in the file with secrets`];
  return [`its credentials stay in ${found.file}`];
}

function rowOf(found: ImportedServer, { server, fate }: Fate, take: Take): ImportRow {
  const how = howToAdd({ found, server }, take);
  const prompts = found.prompts.map(
    ({ variable, text }) => `set ${variable} (${text}) with: toolscout secret set ${variable}`,
  );
  const renamed = fate === 'new' && server.id !== found.id ? [`is called "${found.id}" there`] : [];
  const loaders = Object.keys(found.entry.env ?? {})
    .filter(isLoaderVariable)
    .map((name) => `sets ${name}, which decides what code runs`);
  return {
    server: server.id,
    transport: showEntry(found.entry),
    scope: found.scope,
    enabled: found.entry.enabled ?? true,
    file: found.file,
    status: fate,
    how,
    timeoutMs: found.entry.timeoutMs,
    connectTimeoutMs: found.entry.connectTimeoutMs,
    autoApproved: found.autoApproved,
    disabledTools: found.disabledTools,
    enabledTools: found.enabledTools,
    capabilities: found.capabilities,
    notes: [...found.notes, ...prompts, ...renamed, ...loaders, ...aboutSecrets(found, { server, fate }, take)],
  };
}

interface Addition {
  readonly found: ImportedServer;
  readonly server: ImportedServer;
}

/** Servers that stay where they are, one source for each file. */
function referencesTo(additions: readonly Addition[], place: ClientEnvironment): JsonObject[] {
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
function projectOf({ client, scope }: ImportedServer, { project }: ClientEnvironment): JsonObject {
  return project !== undefined && (scope === 'project' || client === 'claude-code') ? { project } : {};
}

function editsFor(raw: unknown, additions: readonly Addition[], place: ClientEnvironment, take: Take): Edit[] {
  const copied = additions.filter((each) => howToAdd(each, take) === 'copy');
  const referred = additions.filter((each) => howToAdd(each, take) === 'reference');
  const append = (name: string, values: readonly JsonValue[]): Edit[] => {
    const list = rawField(raw, name);
    const start = Array.isArray(list) ? list.length : 0;
    return values.map((value, at) => ({ keys: [...keysOfField(raw, name), start + at], value }));
  };
  return [
    ...copied.map(({ server }) => ({
      keys: [...keysOfField(raw, 'servers'), server.id],
      value: (take(server.id, entryOf(server))?.entry ?? entryOf(server)) as unknown as JsonValue,
    })),
    ...append('toolRules', copied.flatMap(({ server }) => rulesFor(server)) as unknown as JsonValue[]),
    ...append('sources', referencesTo(referred, place)),
  ];
}

/** How credentials are taken along: each server once, with names that are free in the file with secrets and in the environment. */
async function prepareSecrets(path: string, wanted: boolean, env: Variables) {
  const { values, problem } = wanted ? await readSecretsFile(path) : { values: {}, problem: undefined };
  if (problem !== undefined) {
    throw new ToolscoutError('CONFIGURATION_ERROR', `Credentials cannot be copied: ${path} ${problem}`, {
      suggestion: REPAIR_SECRETS_FILE,
      file: path,
    });
  }
  const given = new Map<string, string>(Object.entries(values));
  const known = new Map<string, TakenCredentials | undefined>();
  const take: Take = (id, entry) => {
    if (!wanted || !holdsLiteralSecret(entry)) return undefined;
    if (known.has(id)) return known.get(id);
    const isFree = (name: string, value: string): boolean =>
      (given.get(name) ?? value) === value && (env[name]?.trim() ? env[name] === value : true);
    const taken = takeCredentials(id, entry, isFree);
    for (const [name, value] of Object.entries(taken?.secrets ?? {})) given.set(name, value);
    known.set(id, taken);
    return taken;
  };
  return { take, secrets: (id: string): Readonly<Record<string, string>> => known.get(id)?.secrets ?? {} };
}

/** Why a server is not in the config itself once the plan is applied; `undefined` when it is. */
function whyItStays(
  found: ImportedServer,
  { server, fate }: Fate,
  { own, isData, take }: { readonly own: Taken; readonly isData: boolean; readonly take: Take },
): StayReason | undefined {
  if (own.launches.has(launchOf(found.entry, found.envFile))) return undefined;
  if (fate === 'present') return 'source';
  if (fate === 'name-taken') return 'name-taken';
  if (!isData) return 'config-is-code';
  if (found.envFile !== undefined || found.scope !== 'user') return 'env-file';
  return howToAdd({ found, server }, take) === 'copy' ? undefined : 'credentials';
}

/** Finds the servers of every client on this machine, and says what an import would add (CLI-1). */
export async function planImport(options: ImportOptions): Promise<ImportPlan> {
  const { place, clients: wanted = SOURCE_TYPES } = options;
  const target = await findTarget(options);
  const isData = /^(json|jsonc|yaml|yml)$/.test(target.format);
  const { only = () => true } = options;
  const read = await Promise.all(
    wanted.map(async (client) => {
      const { servers, ...rest } = await importClient(client, place);
      return { client, ...rest, servers: servers.filter(only) };
    }),
  );
  const secretsFile = secretsFileOf(target.raw, {
    directory: dirname(target.path),
    place,
    secretsFile: defaultSecretsFile(options.find),
  })!;
  const { take, secrets } = await prepareSecrets(secretsFile, options.credentials === true && isData, place.env);
  const found = read.flatMap(({ servers }) => servers);
  const own = await ownLaunches(target, secretsFile, place.env);
  const fates = sortOut(found, await takenBy(target, place, own));
  const staying = found.map((server, n) => whyItStays(server, fates[n]!, { own, isData, take }));
  let at = 0;
  const clients = read
    .filter(({ files, unreadable }) => files.length > 0 || unreadable.length > 0)
    .map(({ client, files, servers, unreadable, problems: bad, remarks }): ClientRows => {
      const problems = [...unreadable, ...bad, ...remarks];
      const rows = servers.map((server) => rowOf(server, fates[at++]!, take));
      const unread = unreadable.map(({ path }) => path);
      return { client, title: IMPORTERS[client].title, files, servers: rows, unreadable: unread, problems };
    });
  const additions = fates
    .flatMap(({ server, fate }, n) => (fate === 'new' ? [{ found: found[n]!, server }] : []))
    .filter((each) => !options.copyOnly || howToAdd(each, take) === 'copy');
  const edits = editsFor(target.raw, additions, place, take);
  return {
    config: target.path,
    clients,
    additions: additions.length,
    owned: found.flatMap(({ id }, n) => (staying[n] === undefined ? [id] : [])),
    staying: found.flatMap(({ id }, n) => (staying[n] === undefined ? [] : [{ server: id, reason: staying[n] }])),
    paste:
      isData || additions.length === 0
        ? undefined
        : await editText('{}', { path: 'x.json', format: 'json' }, edits.map(fromStart)),
    async preview() {
      const { path, format } = target;
      const { text } = await openFile(path);
      const isWritten = isData && edits.length > 0;
      const after = isWritten
        ? await editText(text ?? '', { path, format: format as DataFormat }, edits)
        : (text ?? '');
      return { ...(text !== undefined && { before: text }), after };
    },
    async apply() {
      if (!isData || edits.length === 0) return {};
      const { path } = target;
      const { stateDirectory, now } = options;
      return keepApproved({ path, stateDirectory, now }, async () => {
        const opened = await openFile(path);
        const edited = await editText(opened.text ?? '', { path, format: target.format as DataFormat }, edits);
        const copied = additions.map(({ server }) => secrets(server.id));
        const kept = Object.assign({}, ...copied) as Record<string, string>;
        // Before the config, which is of no use without them.
        if (Object.keys(kept).length > 0) await writeSecrets(secretsFile, kept);
        return {
          backup: await replaceWithBackup(opened, edited),
          ...(Object.keys(kept).length > 0 && { secretsFile }),
        };
      });
    },
  };
}

/** The same edit in an empty file: lists start from the beginning there. */
function fromStart({ keys, value }: Edit, _: number, all: readonly Edit[]): Edit {
  const last = keys.at(-1);
  if (typeof last !== 'number') return { keys, value };
  const path = keys.slice(0, -1).join('.');
  const first = all.find((edit) => edit.keys.slice(0, -1).join('.') === path)!.keys.at(-1) as number;
  return { keys: [...keys.slice(0, -1), last - first], value };
}
