import type { SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { inMcpServers, plainEntry } from '../reading/installation.js';
import { editorUserFolders, projectFile, userFile } from '../reading/client-paths.js';
import { createTableImporter } from '../reading/read-table.js';

const userSettings = (place: ClientEnvironment): SourcePath[] =>
  editorUserFolders(place).map((folder) =>
    userFile('jsonc', folder, 'globalStorage', 'rooveterinaryinc.roo-cline', 'settings', 'mcp_settings.json'),
  );

/** Roo: in the folder of the editor, and a file in the project. Times are seconds. */
export const roo = createTableImporter({
  type: 'roo',
  title: 'Roo Code',
  locate: (place) => [...userSettings(place), ...projectFile(place, 'jsonc', '.roo', 'mcp.json')],
  dialect: { timeoutUnit: 's', urlType: 'sse' },
  installation: inMcpServers(
    (place, scope) => (scope === 'user' ? userSettings(place)[0] : projectFile(place, 'jsonc', '.roo', 'mcp.json')[0]),
    (launch) => (launch.type === 'stdio' ? plainEntry(launch) : { type: 'streamable-http', url: launch.url }),
  ),
});
