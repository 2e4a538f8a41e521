import { join } from 'node:path';
import { isObject, type JsonObject } from '../../kernel/json.js';
import { textList } from '../reading/fields.js';
import type { SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { inMcpServers, typedEntry } from '../reading/installation.js';
import { projectFile, userFile } from '../reading/client-paths.js';
import { createTableImporter } from '../reading/read-table.js';

const userSettings = (place: ClientEnvironment): SourcePath =>
  userFile('jsonc', join(place.home, '.copilot', 'mcp-config.json'));

/** `tools` names what is offered; `*` is everything. */
function shape(raw: JsonObject): JsonObject {
  const tools = isObject(raw) ? textList(raw['tools']) : [];
  return tools.length === 0 || tools.includes('*') ? raw : { ...raw, enabledTools: tools };
}

/** The agent host of GitHub Copilot. */
export const copilot = createTableImporter({
  type: 'copilot',
  title: 'GitHub Copilot',
  locate: (place) => [
    userSettings(place),
    ...projectFile(place, 'jsonc', '.mcp.json'),
    ...projectFile(place, 'jsonc', '.github', 'mcp.json'),
  ],
  dialect: { shape, known: ['tools'], notations: ['dollar'] },
  installation: inMcpServers(
    (place, scope) => (scope === 'user' ? userSettings(place) : projectFile(place, 'jsonc', '.mcp.json')[0]),
    (launch) => ({ ...typedEntry('local', 'http')(launch), tools: ['*'] }),
  ),
});
