import { inMcpServers } from './installation.js';
import { projectFile } from './places.js';
import { createTableImporter } from './read-table.js';

/** Air of JetBrains: two files in the project, its own and the one it shares with others. */
export const air = createTableImporter({
  type: 'air',
  title: 'JetBrains Air',
  locate: (place) => [...projectFile(place, 'jsonc', '.air', 'mcp.json'), ...projectFile(place, 'jsonc', '.mcp.json')],
  installation: inMcpServers((place, scope) =>
    scope === 'project' ? projectFile(place, 'jsonc', '.air', 'mcp.json')[0] : undefined,
  ),
});
