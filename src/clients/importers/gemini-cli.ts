import { join } from 'node:path';
import type { JsonObject } from '../../kernel/json.js';
import type { ImportedServer } from '../../model/source.js';
import { textField, textList } from '../reading/fields.js';
import { valueAt } from '../../config/read/path.js';
import type { Importer, SourceFile, SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { inMcpServers, plainEntry } from '../reading/installation.js';
import { projectFile, userFile } from '../reading/client-paths.js';
import { readTable, together } from '../reading/read-table.js';

const client = 'gemini-cli' as const;
const userSettings = (place: ClientEnvironment): SourcePath =>
  userFile('jsonc', join(place.home, '.gemini', 'settings.json'));

/** `httpUrl` is Streamable HTTP, a plain `url` is HTTP+SSE unless a type says otherwise; `trust` asks for nothing. */
function shape(raw: JsonObject): JsonObject {
  const isStreamable = textField(raw, 'httpUrl') !== undefined;
  return {
    ...raw,
    ...(isStreamable ? { type: 'http' } : {}),
    ...(raw['trust'] === true ? { autoApprove: ['*'] } : {}),
  };
}

/** `mcp.allowed` and `mcp.excluded` turn whole servers off. */
function underRules(server: ImportedServer, file: SourceFile): ImportedServer {
  const allowed = valueAt(file.data, ['mcp', 'allowed']);
  const isOff =
    textList(valueAt(file.data, ['mcp', 'excluded'])).includes(server.id) ||
    (Array.isArray(allowed) && !textList(allowed).includes(server.id));
  return isOff ? { ...server, entry: { ...server.entry, enabled: false } } : server;
}

/** Gemini CLI: a file of the user and one in the project; variables as in a shell. */
export const geminiCli: Importer = {
  type: client,
  title: 'Gemini CLI',
  locate: (place) => [userSettings(place), ...projectFile(place, 'jsonc', '.gemini', 'settings.json')],
  read(files, place) {
    const notations = place.platform === 'win32' ? (['dollar', 'percent'] as const) : (['dollar'] as const);
    return together(
      files.map((file) => {
        const dialect = { shape, known: ['trust'], notations, urlType: 'sse' as const };
        const { servers, problems } = readTable(file, place, { client, roots: [['mcpServers']], dialect });
        return { servers: servers.map((server) => underRules(server, file)), problems };
      }),
    );
  },
  installation: inMcpServers(
    (place, scope) =>
      scope === 'user' ? userSettings(place) : projectFile(place, 'jsonc', '.gemini', 'settings.json')[0],
    (launch) => (launch.type === 'stdio' ? plainEntry(launch) : { httpUrl: launch.url }),
  ),
};
