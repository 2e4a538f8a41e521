import { join } from 'node:path';
import type { SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { inMcpServers } from '../reading/installation.js';
import { projectFile, userFile } from '../reading/client-paths.js';
import { createTableImporter } from '../reading/read-table.js';

const userSettings = (place: ClientEnvironment): SourcePath =>
  userFile('jsonc', join(place.home, '.warp', '.mcp.json'));

/** Warp: a file of the user and one in the project. */
export const warp = createTableImporter({
  type: 'warp',
  title: 'Warp',
  locate: (place) => [userSettings(place), ...projectFile(place, 'jsonc', '.warp', '.mcp.json')],
  installation: inMcpServers((place, scope) =>
    scope === 'user' ? userSettings(place) : projectFile(place, 'jsonc', '.warp', '.mcp.json')[0],
  ),
});
