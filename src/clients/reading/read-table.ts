import { messageOf, ToolscoutError, type Problem } from '../../kernel/errors.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import { oneLine, printable } from '../../kernel/text.js';
import type { ServerEntry, SourceType } from '../../model/config.js';
import type { Imported, ImportedServer } from '../../model/source.js';
import { joinPath, problemAt, ROOT, valueAt } from '../../config/read/path.js';
import { isServerId, suggestServerId } from '../../config/resolve/server-id.js';
import { textField } from './fields.js';
import type { Importer, SourceFile } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { isOwnEntry, OWN_NAME } from '../../config/resolve/own-entry.js';
import { readEntry, type Dialect } from './read-entry.js';
import type { TextContext } from '../../config/resolve/variables.js';

/** More than any real file has. */
const MAX_SERVERS = 1000;

/** Where in a file servers stand, and how they are written there. */
export interface TableShape {
  readonly client: SourceType;
  /** Paths of keys below which servers stand, as an object by name or as a list; all that are there are read. */
  readonly roots: ReadonlyArray<readonly string[]>;
  readonly dialect?: Dialect;
  /** What the file says about values it asks for. */
  readonly describe?: TextContext['describe'];
  /** The folder of the project, where the file is not the one of `place`. */
  readonly project?: string;
  /** Whether an entry is a server at all; what is not is passed over without a word. */
  readonly isServer?: (raw: JsonObject) => boolean;
  /** The fields of the whole file, where it is about servers alone: others are named. */
  readonly fields?: readonly string[];
}

function named(value: unknown): Array<[string | undefined, unknown]> {
  if (Array.isArray(value)) {
    return value.map((raw: unknown) => [isObject(raw) ? textField(raw, 'id', 'name') : undefined, raw]);
  }
  return isObject(value) ? Object.entries(value) : [];
}

/** Quoted for people: a name out of a file may hold anything. */
function shown(name: string): string {
  return JSON.stringify(oneLine(printable(name), 60));
}

/** Clients start the servers of a project in its folder, and relative paths in arguments count on it. */
function inProject(entry: ServerEntry, project: string | undefined): ServerEntry {
  const isProcess = entry.command !== undefined && entry.cwd === undefined;
  return isProcess && project !== undefined ? { ...entry, cwd: project } : entry;
}

/** Every server of a file. A bad one is named and skipped; toolscout itself is skipped without a word. */
export function readTable(file: SourceFile, place: ClientEnvironment, shape: TableShape): Imported {
  const servers: ImportedServer[] = [];
  const problems: Problem[] = [];
  const context: TextContext = {
    notations: shape.dialect?.notations ?? [],
    home: place.home,
    project: shape.project ?? (file.scope === 'project' ? place.project : undefined),
    describe: shape.describe,
  };
  const complain = (message: string): void => void problems.push(problemAt(file.path, message));
  if (!isObject(file.data) && !(Array.isArray(file.data) && shape.roots.some((root) => root.length === 0))) {
    complain('does not contain an object');
    return { servers, problems };
  }
  const { fields } = shape;
  for (const name of fields && isObject(file.data) ? Object.keys(file.data) : []) {
    if (!fields?.includes(name)) complain(`${joinPath(ROOT, name)} is not used`);
  }
  for (const root of shape.roots) {
    if (root.length === 0 && !Array.isArray(file.data)) continue;
    const table = valueAt(file.data, root);
    if (table === undefined || table === null) continue;
    if (!isObject(table) && !Array.isArray(table)) {
      complain(`${root.join('.')} is neither an object nor a list`);
      continue;
    }
    const entries = named(table);
    if (entries.length > MAX_SERVERS) complain(`holds more than ${MAX_SERVERS} servers; the rest is left out`);
    for (const [name, raw] of entries.slice(0, MAX_SERVERS)) {
      if (name === undefined) complain('an entry without a name is left out');
      else if (name === '__proto__') complain(`the name ${shown(name)} is reserved; this server is left out`);
      else if (isObject(raw) && shape.isServer?.(raw) === false) continue;
      else {
        try {
          const read = readEntry(raw, shape.dialect ?? {}, context);
          if (isOwnEntry(read.entry, place.self ?? {})) continue;
          const id = isServerId(name) ? name : suggestServerId(name);
          const title = read.entry.title ?? (isObject(raw) ? textField(raw, 'name') : undefined) ?? name;
          const entry = inProject(
            title === id ? read.entry : { ...read.entry, title: oneLine(printable(title), 120) },
            context.project,
          );
          servers.push({ ...read, entry, id, scope: file.scope, client: shape.client, file: file.path });
        } catch (thrown) {
          if (!(thrown instanceof ToolscoutError)) throw thrown;
          // An entry of ours that is broken is not worth a complaint either.
          if (name !== OWN_NAME) complain(`${shown(name)} ${messageOf(thrown)}; this server is left out`);
        }
      }
    }
  }
  return { servers, problems };
}

/** Several answers as one, in order. */
export function together(parts: readonly Imported[]): Imported {
  return {
    servers: parts.flatMap((part) => part.servers),
    problems: parts.flatMap((part) => part.problems),
    remarks: parts.flatMap((part) => part.remarks ?? []),
  };
}

/** Finds the files of a role among those that were read. */
export function filesOf(files: readonly SourceFile[], role: SourceFile['role']): SourceFile[] {
  return files.filter((file) => file.role === role);
}

/** An importer for a client whose files all hold one table of servers. */
export function createTableImporter(
  client: Omit<Importer, 'read'> &
    Pick<TableShape, 'dialect' | 'isServer' | 'fields'> & { readonly roots?: TableShape['roots'] },
): Importer {
  const { type, title, locate, installation, dialect, isServer, fields, roots = [['mcpServers']] } = client;
  return {
    type,
    title,
    locate,
    installation,
    read: (files, place) =>
      together(files.map((file) => readTable(file, place, { client: type, roots, dialect, isServer, fields }))),
  };
}
