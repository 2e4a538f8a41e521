import { ToolscoutError } from '../kernel/errors.js';
import { canonicalJson, isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { SourceType } from '../model/config.js';
import type { ServerScope } from '../model/server.js';
import type { InstallReport } from '../model/source.js';
import type { Edit } from './edit/edit.js';
import { editText } from './edit/edit-text.js';
import { openFile, replaceWithBackup } from './edit/replace-file.js';
import { parseData } from './parse.js';
import { textField } from './sources/fields.js';
import { valueAt } from './path.js';
import type { Importer, Installation, Launch, Place } from './sources/importer.js';
import { IMPORTERS } from './sources/importers.js';
import { OWN_NAME } from './own-entry.js';

/** What is installed where. */
export interface InstallOptions {
  readonly client: SourceType;
  readonly place: Place;
  readonly scope: ServerScope;
  readonly launch: Launch;
  /** Whether a host that gives this name is shown the meta-tools: only then they are to be loaded always. */
  readonly showsMetaTools: (host: string) => boolean;
  /** Take it out again. */
  readonly uninstall?: boolean;
  /** Only say what would be done. */
  readonly dryRun?: boolean;
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

/** Writes toolscout into the file of a client, in the client's own notation, or takes it out again (CLI-3). */
export async function install(options: InstallOptions): Promise<InstallReport> {
  const { client, place, scope, launch, uninstall = false, dryRun = false } = options;
  const importer = IMPORTERS[client];
  const { installation, title } = importer;
  if (!installation) {
    throw refuse(
      `${title} has no servers that it starts itself.`,
      `Choose one of: ${installableClients().join(', ')}.`,
    );
  }
  const target = installation.file(place, scope);
  if (!target) {
    const other = scope === 'user' ? 'Install it with --project.' : 'Install it without --project.';
    throw refuse(`${title} keeps no servers for ${scope === 'user' ? 'all projects' : 'a single project'}.`, other);
  }
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
  const changes = action === 'added' || action === 'updated' || action === 'removed';
  const preamble = opened.text === undefined ? Object.entries(installation.preamble ?? {}) : [];
  const edits: Edit[] = [...preamble.map(([key, value]) => ({ keys: [key], value })), { keys, value: entry }];
  const next = changes
    ? `Restart ${title}, or reload its servers.${launch.type === 'http' && !uninstall ? ' Keep "toolscout serve" running.' : ''}`
    : 'Nothing had to be changed.';
  const report = { client, title, file: opened.path, action, entry: shown, next } as const;
  if (!changes) return { ...report, written: false };
  const edited = await editText(text, { path: target.path, format }, edits);
  if (dryRun) return { ...report, written: false };
  return { ...report, written: true, backup: await replaceWithBackup(opened, edited) };
}
