import { join } from 'node:path';
import type { SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { inMcpServers } from '../reading/installation.js';
import { projectFile, userFile } from '../reading/client-paths.js';
import { createTableImporter } from '../reading/read-table.js';

const userSettings = (place: ClientEnvironment): SourcePath =>
  userFile('jsonc', join(place.home, '.kiro', 'settings', 'mcp.json'));

/** Kiro: a file of the user and one in the project. */
export const kiro = createTableImporter({
  type: 'kiro',
  title: 'Kiro',
  locate: (place) => [userSettings(place), ...projectFile(place, 'jsonc', '.kiro', 'settings', 'mcp.json')],
  installation: inMcpServers((place, scope) =>
    scope === 'user' ? userSettings(place) : projectFile(place, 'jsonc', '.kiro', 'settings', 'mcp.json')[0],
  ),
});
