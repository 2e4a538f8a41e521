import { inMcpServers } from '../reading/installation.js';
import { projectFile } from '../reading/client-paths.js';
import { createTableImporter } from '../reading/read-table.js';

/** Air of JetBrains: two files in the project, its own and the one it shares with others. */
export const air = createTableImporter({
  type: 'air',
  title: 'JetBrains Air',
  locate: (place) => [...projectFile(place, 'jsonc', '.air', 'mcp.json'), ...projectFile(place, 'jsonc', '.mcp.json')],
  installation: inMcpServers((place, scope) =>
    scope === 'project' ? projectFile(place, 'jsonc', '.air', 'mcp.json')[0] : undefined,
  ),
});
