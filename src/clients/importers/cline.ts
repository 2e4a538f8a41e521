import { join } from 'node:path';
import type { SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { inMcpServers, plainEntry } from '../reading/installation.js';
import { editorUserFolders, userFile } from '../reading/client-paths.js';
import { createTableImporter } from '../reading/read-table.js';

const NAME = 'cline_mcp_settings.json';
const own = (place: ClientEnvironment): SourcePath =>
  userFile('jsonc', join(place.home, '.cline', 'data', 'settings', NAME));

/** Cline: its own folder, or in older versions that of the editor. A URL without a type is HTTP+SSE; times are seconds. */
export const cline = createTableImporter({
  type: 'cline',
  title: 'Cline',
  locate: (place) => [
    own(place),
    ...editorUserFolders(place).map((folder) =>
      userFile('jsonc', folder, 'globalStorage', 'saoudrizwan.claude-dev', 'settings', NAME),
    ),
  ],
  dialect: { timeoutUnit: 's', urlType: 'sse' },
  installation: inMcpServers(
    (place, scope) => (scope === 'user' ? own(place) : undefined),
    (launch) => (launch.type === 'stdio' ? plainEntry(launch) : { type: 'streamableHttp', url: launch.url }),
  ),
});
