import { join } from 'node:path';
import type { SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { inMcpServers } from '../reading/installation.js';
import { userFile } from '../reading/client-paths.js';
import { createTableImporter } from '../reading/read-table.js';

const files = (place: ClientEnvironment): SourcePath[] => [
  userFile('jsonc', join(place.home, '.lmstudio', 'mcp.json')),
  userFile('jsonc', join(place.home, '.cache', 'lm-studio', 'mcp.json')),
];

/** LM Studio: the notation of Cursor. */
export const lmStudio = createTableImporter({
  type: 'lm-studio',
  title: 'LM Studio',
  locate: files,
  installation: inMcpServers((place, scope) => (scope === 'user' ? files(place)[0] : undefined)),
});
