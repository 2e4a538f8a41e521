import { projectFile } from './places.js';
import { createTableImporter } from './read-table.js';

/** `mcp.json` in the root of an application: a list of servers with the capabilities they declare. */
export const rangerMcpJson = createTableImporter({
  type: 'ranger-mcp-json',
  title: 'mcp.json of an application',
  locate: (place) => projectFile(place, 'jsonc', 'mcp.json'),
  roots: [['servers']],
});
