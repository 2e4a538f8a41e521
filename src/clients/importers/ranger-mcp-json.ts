import { dirname } from 'node:path';
import { isObject } from '../../kernel/json.js';
import type { Imported } from '../../model/source.js';
import { problemAt } from '../../config/read/path.js';
import type { Importer, SourceFile } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { projectFile } from '../reading/client-paths.js';
import { readTable, together } from '../reading/read-table.js';

const client = 'ranger-mcp-json' as const;
const FIELDS = ['version', 'servers'];

/** The versions of the format that are known. */
const VERSIONS = new Set(['1', '1.0']);

function read(file: SourceFile, place: ClientEnvironment): Imported {
  const { data } = file;
  const found = readTable(file, place, { client, roots: [['servers']], fields: FIELDS, project: dirname(file.path) });
  const version = isObject(data) ? data['version'] : undefined;
  if (version === undefined || version === null || VERSIONS.has(String(version))) return found;
  const text = 'version is not known; the file is read as version "1.0"';
  return { ...found, problems: [...found.problems, problemAt(file.path, text)] };
}

/** `mcp.json` in the root of an application: a list of servers with the capabilities they declare (NEG-1). They start in its folder. */
export const rangerMcpJson: Importer = {
  type: client,
  title: 'mcp.json of an application',
  locate: (place) => projectFile(place, 'jsonc', 'mcp.json'),
  read: (files, place) => together(files.map((file) => read(file, place))),
};
