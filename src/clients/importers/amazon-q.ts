import { join } from 'node:path';
import { textList } from '../reading/fields.js';
import { valueAt } from '../../config/read/path.js';
import type { Importer, SourceFile, SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { inMcpServers, plainEntry } from '../reading/installation.js';
import { projectFile, userFile } from '../reading/client-paths.js';
import { readTable, together } from '../reading/read-table.js';

const client = 'amazon-q' as const;
const folder = (place: ClientEnvironment): string => join(place.home, '.aws', 'amazonq');
const userSettings = (place: ClientEnvironment): SourcePath => userFile('jsonc', folder(place), 'mcp.json');

function agents(place: ClientEnvironment): SourcePath[] {
  const paths = [
    userFile('jsonc', folder(place), 'cli-agents'),
    userFile('jsonc', folder(place), 'agents'),
    ...projectFile(place, 'jsonc', '.amazonq', 'cli-agents'),
  ];
  return paths.map((path) => ({ ...path, endings: ['.json'], role: 'agent' as const }));
}

/** `@server` and `@server/read_*` in the list of what runs without a question. */
function approvedFor(id: string, file: SourceFile): string[] {
  return textList(valueAt(file.data, ['allowedTools'])).flatMap((entry) => {
    if (entry === `@${id}`) return ['*'];
    return entry.startsWith(`@${id}/`) ? [entry.slice(id.length + 2)] : [];
  });
}

/** Amazon Q: a file of the user, one in the project, and agents that bring servers of their own. */
export const amazonQ: Importer = {
  type: client,
  title: 'Amazon Q',
  locate: (place) => [userSettings(place), ...projectFile(place, 'jsonc', '.amazonq', 'mcp.json'), ...agents(place)],
  read: (files, place) =>
    together(
      files.map((file) => {
        const { servers, problems } = readTable(file, place, { client, roots: [['mcpServers']] });
        const approved = (id: string, own: readonly string[]): string[] => [...own, ...approvedFor(id, file)];
        return { servers: servers.map((s) => ({ ...s, autoApproved: approved(s.id, s.autoApproved) })), problems };
      }),
    ),
  installation: inMcpServers(
    (place, scope) => (scope === 'user' ? userSettings(place) : projectFile(place, 'jsonc', '.amazonq', 'mcp.json')[0]),
    (launch) => (launch.type === 'stdio' ? plainEntry(launch) : { type: 'http', url: launch.url }),
  ),
};
