import { join } from 'node:path';
import type { SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { inMcpServers, stdioOnly } from '../reading/installation.js';
import { applicationData, userFile } from '../reading/client-paths.js';
import { createTableImporter } from '../reading/read-table.js';

const file = (place: ClientEnvironment): SourcePath =>
  userFile('jsonc', join(applicationData(place), 'Claude', 'claude_desktop_config.json'));

/** Claude Desktop: processes only, in one file of the user. */
export const claudeDesktop = createTableImporter({
  type: 'claude-desktop',
  title: 'Claude Desktop',
  locate: (place) => [file(place)],
  installation: inMcpServers((place, scope) => (scope === 'user' ? file(place) : undefined), stdioOnly),
});
