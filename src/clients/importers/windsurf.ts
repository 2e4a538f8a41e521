import { join } from 'node:path';
import type { SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { inMcpServers, plainEntry } from '../reading/installation.js';
import { userFile } from '../reading/client-paths.js';
import { createTableImporter } from '../reading/read-table.js';

const file = (place: ClientEnvironment): SourcePath =>
  userFile('jsonc', join(place.home, '.codeium', 'windsurf', 'mcp_config.json'));

/** Windsurf: one file of the user; remote servers have a `serverUrl`. */
export const windsurf = createTableImporter({
  type: 'windsurf',
  title: 'Windsurf',
  locate: (place) => [file(place)],
  installation: inMcpServers(
    (place, scope) => (scope === 'user' ? file(place) : undefined),
    (launch) => (launch.type === 'stdio' ? plainEntry(launch) : { serverUrl: launch.url }),
  ),
});
