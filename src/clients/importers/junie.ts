import { join } from 'node:path';
import type { SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { inMcpServers, stdioOnly } from '../reading/installation.js';
import { projectFile, userFile } from '../reading/client-paths.js';
import { createTableImporter } from '../reading/read-table.js';

const userSettings = (place: ClientEnvironment): SourcePath =>
  userFile('jsonc', join(place.home, '.junie', 'mcp', 'mcp.json'));

/** Junie of JetBrains: processes only. */
export const junie = createTableImporter({
  type: 'junie',
  title: 'Junie',
  locate: (place) => [userSettings(place), ...projectFile(place, 'jsonc', '.junie', 'mcp', 'mcp.json')],
  installation: inMcpServers(
    (place, scope) =>
      scope === 'user' ? userSettings(place) : projectFile(place, 'jsonc', '.junie', 'mcp', 'mcp.json')[0],
    stdioOnly,
  ),
});
