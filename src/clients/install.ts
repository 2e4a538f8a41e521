import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ToolscoutError } from '../kernel/errors.js';
import { canonicalJson, isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { SourceType } from '../model/config.js';
import type { ServerScope } from '../model/server.js';
import type { InstallReport } from '../model/source.js';
import type { Edit } from '../config/edit/edit.js';
import { editText } from '../config/edit/edit-text.js';
import { openFile, replaceFile, replaceWithBackup } from '../config/edit/replace-file.js';
import { parseData, type DataFormat } from '../config/read/parse.js';
import { textField } from './reading/fields.js';
import { valueAt } from '../config/read/path.js';
import { isServerId, suggestServerId } from '../config/resolve/server-id.js';
import type { Importer, Installation, Launch } from './importer.js';
import type { ClientEnvironment } from '../config/resolve/client-environment.js';
import { IMPORTERS } from './importers.js';
import { OWN_NAME } from '../config/resolve/own-entry.js';

/** What is installed where. */
export interface InstallOptions {
  readonly client: SourceType;
  readonly place: ClientEnvironment;
  readonly scope: ServerScope;
  readonly launch: Launch;
  /** Whether a host that gives this name is shown the meta-tools: only then they are to be loaded always. */
  readonly showsMetaTools: (host: string) => boolean;
  /** Take it out again. */
  readonly uninstall?: boolean;
  /** Only say what would be done. */
  readonly dryRun?: boolean;
  /** Servers of the client that are taken out of its file, by the ids they are imported under. */
  readonly moved?: ReadonlySet<string>;
  /** Put back the servers that an earlier run moved and that the file does not have. */
  readonly restore?: boolean;
}

/** Fields that toolscout writes; what else a user added to the entry stays. */
const OWN_FIELDS = new Set([
  'type',
  'source',
  'command',
  'args',
  'cmd',
  'url',
  'uri',
  'serverUrl',
  'httpUrl',
  'alwaysLoad',
]);

/** The clients toolscout can be installed in. */
export function installableClients(): SourceType[] {
  return Object.values(IMPORTERS).flatMap(({ type, installation }) => (installation ? [type] : []));
}

function refuse(message: string, suggestion: string): ToolscoutError {
  return new ToolscoutError('INVALID_REQUEST', message, { suggestion });
}

/** Where our entry stands, or would stand. */
function placeIn(data: unknown, { key, list }: Installation): { keys: Edit['keys']; current?: JsonObject } {
  const table = valueAt(data, key);
  if (!list) {
    const current = valueAt(table, [OWN_NAME]);
    return { keys: [...key, OWN_NAME], current: isObject(current) ? current : undefined };
  }
  const entries: unknown[] = Array.isArray(table) ? table : [];
  const at = entries.findIndex((entry) => isObject(entry) && textField(entry, 'name') === OWN_NAME);
  const current = entries[at];
  return { keys: [...key, at === -1 ? entries.length : at], current: isObject(current) ? current : undefined };
}

/** What toolscout writes of itself. */
function ownEntry({ entry, alwaysLoadsAs }: Installation, options: InstallOptions): JsonObject | undefined {
  const own = entry(options.launch);
  // Otherwise the search of the client hides the five tools, and an agent has to search for the search. With every tool
  // offered directly it would load all of them.
  const alwaysLoad = alwaysLoadsAs !== undefined && options.showsMetaTools(alwaysLoadsAs);
  return own && { ...own, ...(alwaysLoad && { alwaysLoad }) };
}

function entryFor(
  { installation, title }: Importer,
  own: JsonObject | undefined,
  options: InstallOptions,
  current: JsonObject | undefined,
): JsonObject {
  if (!own) throw refuse(`${title} cannot use a server over ${options.launch.type}.`, 'Install it with --stdio.');
  const kept = Object.entries(current ?? {}).filter(([name]) => !OWN_FIELDS.has(name));
  return { ...(installation!.list ? { name: OWN_NAME } : {}), ...Object.fromEntries(kept), ...own };
}

function same(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

/** The file toolscout is written to, and how. */
function targetOf({ client, place, scope }: Pick<InstallOptions, 'client' | 'place' | 'scope'>) {
  const importer = IMPORTERS[client];
  const { installation, title } = importer;
  if (!installation) {
    throw refuse(
      `toolscout cannot be installed in ${title}: its file does not configure servers that it starts.`,
      `Choose one of: ${installableClients().join(', ')}.`,
    );
  }
  const target = installation.file(place, scope);
  if (!target) {
    const other = scope === 'user' ? 'Install it with --project.' : 'Install it without --project.';
    throw refuse(`${title} keeps no servers for ${scope === 'user' ? 'all projects' : 'a single project'}.`, other);
  }
  return { importer, installation, title, target };
}

/**
 * The file whose servers can be moved.
 *
 * @throws ToolscoutError `INVALID_REQUEST` where a client keeps its servers in a list, which cannot be put back in place.
 */
export function movableFile(options: Pick<InstallOptions, 'client' | 'place' | 'scope'>): string {
  const { installation, title, target } = targetOf(options);
  if (!installation.list) return target.path;
  throw refuse(
    `The servers of ${title} cannot be moved: it keeps its servers in a list, and --undo could not put them back there.`,
    'Install without --replace, then remove the servers from the file.',
  );
}

/** Takes the moved servers out of the table of a client. */
function editsToMove(data: unknown, { key }: Installation, moved: ReadonlySet<string>): Edit[] {
  const table = valueAt(data, key);
  const names = isObject(table) ? Object.keys(table) : [];
  const idOf = (name: string): string => (isServerId(name) ? name : suggestServerId(name));
  return names.filter((name) => moved.has(idOf(name))).map((name) => ({ keys: [...key, name] }));
}

/** Beside a copy of a file: the names of the servers that were moved out of the file when the copy was made. */
const MOVED_ENDING = '.moved.json';

/** The lists of moved servers beside a file, the newest first. */
async function movedLists(path: string): Promise<Array<{ readonly list: string; readonly copy: string }>> {
  const prefix = `${basename(path)}.toolscout-backup-`;
  const inFolder = (name: string): string => join(dirname(path), name);
  const names = await readdir(dirname(path)).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return [];
    throw thrown;
  });
  return names
    .filter((name) => name.startsWith(prefix) && name.endsWith(MOVED_ENDING))
    .map((name) => Number(name.slice(prefix.length, -MOVED_ENDING.length)))
    .filter(Number.isInteger)
    .toSorted((a, b) => b - a)
    .map((n) => ({ list: inFolder(`${prefix}${n}${MOVED_ENDING}`), copy: inFolder(`${prefix}${n}`) }));
}

/** Puts back the servers that were moved and that the file does not have, each as the newest copy has it. */
async function editsToRestore(path: string, data: unknown, { key }: Installation, format: DataFormat): Promise<Edit[]> {
  const now = valueAt(data, key);
  const missing = new Map<string, JsonValue>();
  for (const { list, copy } of await movedLists(path)) {
    const names = await parseData((await openFile(list)).text ?? '', list, 'json');
    const before = valueAt(await parseData((await openFile(copy)).text ?? '', copy, format), key);
    for (const [name, value] of Object.entries(isObject(before) ? before : {})) {
      const isMoved = Array.isArray(names) && names.includes(name);
      const isThere = missing.has(name) || (isObject(now) && Object.hasOwn(now, name));
      if (isMoved && !isThere) missing.set(name, value as JsonValue);
    }
  }
  return [...missing].map(([name, value]) => ({ keys: [...key, name], value }));
}

/** Writes toolscout into the file of a client, in the client's own notation, or takes it out again (CLI-3). */
export async function install(options: InstallOptions): Promise<InstallReport> {
  const { client, launch, uninstall = false, dryRun = false } = options;
  const { importer, installation, title, target } = targetOf(options);
  const { format } = target;
  const opened = await openFile(target.path);
  const text = opened.text ?? '';
  const data = await parseData(text, target.path, format);
  const { keys, current } = placeIn(data, installation);
  // Only what is ours is shown: the user may have added credentials to the entry.
  const shown = uninstall ? undefined : ownEntry(installation, options);
  const entry = uninstall ? undefined : entryFor(importer, shown, options, current);
  const action = uninstall
    ? current
      ? 'removed'
      : 'absent'
    : !current
      ? 'added'
      : same(current, entry)
        ? 'unchanged'
        : 'updated';
  const others = [
    ...editsToMove(data, installation, options.moved ?? new Set()),
    ...(options.restore ? await editsToRestore(opened.path, data, installation, format) : []),
  ];
  const changes = action === 'added' || action === 'updated' || action === 'removed' || others.length > 0;
  const preamble = opened.text === undefined ? Object.entries(installation.preamble ?? {}) : [];
  const edits: Edit[] = [...preamble.map(([key, value]) => ({ keys: [key], value })), ...others];
  if (action !== 'absent') edits.push({ keys, value: entry });
  const next = changes
    ? `Restart ${title}, or reload its servers.${launch.type === 'http' && !uninstall ? ' Keep "toolscout serve" running.' : ''}`
    : 'Nothing had to be changed.';
  const namesOf = (some: readonly Edit[]): string[] => some.map((edit) => String(edit.keys.at(-1)));
  const report = {
    client,
    title,
    file: opened.path,
    action,
    entry: shown,
    next,
    ...(options.moved && { moved: namesOf(others) }),
    ...(options.restore && { restored: namesOf(others) }),
  } as const;
  // What is back in the file is not moved any more: when the user deletes it later, it must not come back.
  const forgetMoves = async (): Promise<void> => {
    if (!options.restore || dryRun) return;
    for (const { list } of await movedLists(opened.path)) await rm(list, { force: true });
  };
  if (!changes) {
    await forgetMoves();
    return { ...report, written: false };
  }
  const edited = await editText(text, { path: target.path, format }, edits);
  if (dryRun) return { ...report, written: false };
  const backup = await replaceWithBackup(opened, edited, async (copy) => {
    if (options.moved && others.length > 0) {
      await replaceFile(await openFile(`${copy}${MOVED_ENDING}`), `${JSON.stringify(namesOf(others))}\n`);
    }
  });
  await forgetMoves();
  return { ...report, written: true, backup };
}
