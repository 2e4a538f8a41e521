import { join } from 'node:path';
import type { Importer, SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { inMcpServers } from '../reading/installation.js';
import { textList } from '../reading/fields.js';
import { valueAt } from '../../config/read/path.js';
import { projectFile, userFile } from '../reading/client-paths.js';
import { filesOf, readTable, together } from '../reading/read-table.js';

const client = 'cursor' as const;
const userSettings = (place: ClientEnvironment): SourcePath =>
  userFile('jsonc', join(place.home, '.cursor', 'mcp.json'));

/** `github:get_*` or `github` in the list of what runs without a question. */
function approvedFor(id: string, allowed: readonly string[]): string[] {
  return allowed.flatMap((entry) => {
    const [server, tool = '*'] = entry.split(':', 2);
    return server === id || server === '*' ? [tool] : [];
  });
}

/** Cursor: a file of the user and one in the project, and a list of what runs without a question. */
export const cursor: Importer = {
  type: client,
  title: 'Cursor',
  locate: (place) => [
    userSettings(place),
    ...projectFile(place, 'jsonc', '.cursor', 'mcp.json'),
    { ...userFile('jsonc', join(place.home, '.cursor', 'permissions.json')), role: 'permissions' },
  ],
  read(files, place) {
    const allowed = filesOf(files, 'permissions').flatMap((file) => textList(valueAt(file.data, ['mcpAllowlist'])));
    const { servers, problems } = together(
      filesOf(files, undefined).map((file) => readTable(file, place, { client, roots: [['mcpServers']] })),
    );
    return {
      servers: servers.map((server) => ({ ...server, autoApproved: approvedFor(server.id, allowed) })),
      problems,
    };
  },
  installation: inMcpServers((place, scope) =>
    scope === 'user' ? userSettings(place) : projectFile(place, 'jsonc', '.cursor', 'mcp.json')[0],
  ),
};
