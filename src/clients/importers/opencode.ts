import { join } from 'node:path';
import { isObject, type JsonObject } from '../../kernel/json.js';
import { valueAt } from '../../config/read/path.js';
import type { Importer, SourceFile, SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { configHome, projectFile, userFile } from '../reading/client-paths.js';
import { readTable, together } from '../reading/read-table.js';

const client = 'opencode' as const;
const NAMES = ['opencode.json', 'opencode.jsonc'];

const userSettings = (place: ClientEnvironment): SourcePath[] =>
  NAMES.map((name) => userFile('jsonc', join(configHome({ ...place, platform: 'linux' }), 'opencode', name)));

/** `timeout` is what it waits for the list of tools, in milliseconds. */
const shape = ({ timeout, ...raw }: JsonObject): JsonObject => ({ ...raw, startup_timeout_ms: timeout });

/** Servers stand below `mcp`, in newer versions below `mcp.servers`. */
function rootOf(file: SourceFile): string[] {
  return isObject(valueAt(file.data, ['mcp', 'servers'])) ? ['mcp', 'servers'] : ['mcp'];
}

/** opencode: the command is one list with its arguments; variables are `{env:X}`. */
export const opencode: Importer = {
  type: client,
  title: 'opencode',
  locate: (place) => [...userSettings(place), ...NAMES.flatMap((name) => projectFile(place, 'jsonc', name))],
  read: (files, place) =>
    together(
      files.map((file) =>
        readTable(file, place, { client, roots: [rootOf(file)], dialect: { shape, notations: ['braces'] } }),
      ),
    ),
  installation: {
    file: (place, scope) => (scope === 'user' ? userSettings(place)[0] : projectFile(place, 'jsonc', NAMES[0]!)[0]),
    key: ['mcp'],
    entry: (launch) =>
      launch.type === 'stdio'
        ? { type: 'local', command: [launch.command, ...launch.args], enabled: true }
        : { type: 'remote', url: launch.url, enabled: true },
  },
};
