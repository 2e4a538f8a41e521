import { isObject } from '../../kernel/json.js';
import { valueAt } from '../../config/read/path.js';
import type { Importer, SourceFile, SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { plainEntry } from '../reading/installation.js';
import { movableHome, projectFile, userFile } from '../reading/client-paths.js';
import { readTable, together } from '../reading/read-table.js';

const client = 'codex' as const;
const KEY = 'mcp_servers';
const userSettings = (place: ClientEnvironment): SourcePath =>
  userFile('toml', movableHome(place, 'CODEX_HOME', '.codex'), 'config.toml');

const APPROVALS = ['tools', 'default_tools_approval_mode'];

/** Tools that run without a question: `auto` or `approve` for all of them, or for one. */
function approvedFor(id: string, file: SourceFile): string[] {
  const server = valueAt(file.data, [KEY, id]);
  const tools = valueAt(server, ['tools']);
  const runs = (mode: unknown): boolean => mode === 'auto' || mode === 'approve';
  const single = Object.entries(isObject(tools) ? tools : {})
    .filter(([, tool]) => runs(valueAt(tool, ['approval_mode'])))
    .map(([name]) => name);
  return runs(valueAt(server, ['default_tools_approval_mode'])) ? ['*'] : single;
}

/** Codex: TOML; it names variables and never writes their values. Times are seconds. */
export const codex: Importer = {
  type: client,
  title: 'Codex',
  locate: (place) => [userSettings(place), ...projectFile(place, 'toml', '.codex', 'config.toml')],
  read: (files, place) =>
    together(
      files.map((file) => {
        const { servers, problems } = readTable(file, place, { client, roots: [[KEY]], dialect: { known: APPROVALS } });
        return { servers: servers.map((each) => ({ ...each, autoApproved: approvedFor(each.id, file) })), problems };
      }),
    ),
  installation: {
    file: (place, scope) =>
      scope === 'user' ? userSettings(place) : projectFile(place, 'toml', '.codex', 'config.toml')[0],
    key: [KEY],
    entry: plainEntry,
  },
};
