import { join } from 'node:path';
import type { Place, SourcePath } from '../importer.js';
import { inMcpServers } from '../reading/installation.js';
import { projectFile, userFile } from '../reading/client-paths.js';
import { createTableImporter } from '../reading/read-table.js';

const userSettings = (place: Place): SourcePath => userFile('jsonc', join(place.home, '.warp', '.mcp.json'));

/** Warp: a file of the user and one in the project. */
export const warp = createTableImporter({
  type: 'warp',
  title: 'Warp',
  locate: (place) => [userSettings(place), ...projectFile(place, 'jsonc', '.warp', '.mcp.json')],
  installation: inMcpServers((place, scope) =>
    scope === 'user' ? userSettings(place) : projectFile(place, 'jsonc', '.warp', '.mcp.json')[0],
  ),
});
