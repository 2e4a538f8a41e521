import { join } from 'node:path';
import { isObject, type JsonObject } from '../../kernel/json.js';
import { valueAt } from '../../config/read/path.js';
import type { Importer, SourceFile, SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { plainEntry } from '../reading/installation.js';
import { configHome, projectFile, userFile } from '../reading/client-paths.js';
import { readTable, together } from '../reading/read-table.js';

const client = 'zed' as const;
const userSettings = (place: ClientEnvironment): SourcePath =>
  userFile('jsonc', configHome(place), place.platform === 'win32' ? 'Zed' : 'zed', 'settings.json');

/** A server that an extension brings has settings but no command: there is nothing to start. */
const isServer = (raw: JsonObject): boolean => raw['command'] !== undefined || raw['url'] !== undefined;

/** Tools of a server that run without a question: keys `mcp:server:tool` whose default is `allow`. */
function approvedFor(id: string, file: SourceFile): string[] {
  const tools = valueAt(file.data, ['agent', 'tool_permissions', 'tools']);
  const prefix = `mcp:${id}:`;
  return Object.entries(isObject(tools) ? tools : {}).flatMap(([key, rule]) =>
    key.startsWith(prefix) && isObject(rule) && rule['default'] === 'allow' ? [key.slice(prefix.length)] : [],
  );
}

/** Zed: `context_servers` among its settings. */
export const zed: Importer = {
  type: client,
  title: 'Zed',
  locate: (place) => [userSettings(place), ...projectFile(place, 'jsonc', join('.zed', 'settings.json'))],
  read: (files, place) =>
    together(
      files.map((file) => {
        const { servers, problems } = readTable(file, place, {
          client,
          roots: [['context_servers']],
          isServer,
          dialect: { known: ['source'] },
        });
        return { servers: servers.map((each) => ({ ...each, autoApproved: approvedFor(each.id, file) })), problems };
      }),
    ),
  installation: {
    file: (place, scope) =>
      scope === 'user' ? userSettings(place) : projectFile(place, 'jsonc', '.zed', 'settings.json')[0],
    key: ['context_servers'],
    entry: (launch) => (launch.type === 'stdio' ? { source: 'custom', ...plainEntry(launch) } : plainEntry(launch)),
  },
};
