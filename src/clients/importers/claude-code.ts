import { join, resolve } from 'node:path';
import { isObject } from '../../kernel/json.js';
import type { Imported } from '../../model/source.js';
import { problemAt, valueAt } from '../../config/read/path.js';
import type { Importer, SourceFile, SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { textList } from '../reading/fields.js';
import { inMcpServers, typedEntry } from '../reading/installation.js';
import { movableHome, projectFile, userFile } from '../reading/client-paths.js';
import { filesOf, readTable, together } from '../reading/read-table.js';

const ROOT = ['mcpServers'] as const;
const client = 'claude-code' as const;

const userSettings = (place: ClientEnvironment): SourcePath =>
  userFile('jsonc', movableHome(place, 'CLAUDE_CONFIG_DIR'), '.claude.json');

function managedFolder(place: ClientEnvironment): string {
  if (place.platform === 'darwin') return '/Library/Application Support/ClaudeCode';
  return place.platform === 'win32' ? 'C:\\Program Files\\ClaudeCode' : '/etc/claude-code';
}

/** Servers that were added for one project only; they stand below its folder in the file of the user. */
function readProjects(file: SourceFile, place: ClientEnvironment): Imported {
  const projects = valueAt(file.data, ['projects']);
  if (!isObject(projects)) return { servers: [], problems: [] };
  const isHere = (path: string): boolean => place.project !== undefined && resolve(path) === resolve(place.project);
  const withServers = Object.keys(projects).filter((path) => {
    const table = valueAt(projects, [path, ...ROOT]);
    return isObject(table) && Object.keys(table).length > 0;
  });
  const here = withServers
    .filter((path) => isHere(path))
    .map((project) => readTable(file, place, { client, project, roots: [['projects', project, ...ROOT]] }));
  const elsewhere = withServers.filter((path) => !isHere(path)).length;
  const others = elsewhere === 1 ? '1 other project' : `${elsewhere} other projects`;
  const note = problemAt(file.path, `servers of ${others} are not read; name a project to read those`);
  return together([...here, { servers: [], problems: [], remarks: elsewhere > 0 ? [note] : [] }]);
}

/** Files with rules about what runs without a question; one in the project is the project's. */
function permissions(place: ClientEnvironment): SourcePath[] {
  const user = userFile('jsonc', movableHome(place, 'CLAUDE_CONFIG_DIR', '.claude'), 'settings.json');
  const project = ['settings.json', 'settings.local.json'].flatMap((name) =>
    projectFile(place, 'jsonc', '.claude', name),
  );
  return [user, ...project].map((path) => ({ ...path, role: 'permissions' as const }));
}

/** `mcp__github`, `mcp__github__get_issue` and `mcp__github__*` among the rules that allow something. */
function approvedFor(id: string, files: readonly SourceFile[]): string[] {
  const name = `mcp__${id.replace(/[^\w-]/g, '_')}`;
  const rules = files.flatMap(({ data }) => textList(valueAt(data, ['permissions', 'allow'])));
  return rules.flatMap((rule) => {
    if (rule === name) return ['*'];
    return rule.startsWith(`${name}__`) ? [rule.slice(name.length + 2)] : [];
  });
}

/** Claude Code: a file of the user with tables for single projects, a file in the project, one of the administrator. */
export const claudeCode: Importer = {
  type: client,
  title: 'Claude Code',
  locate: (place) => [
    userSettings(place),
    ...projectFile(place, 'jsonc', '.mcp.json'),
    userFile('jsonc', join(managedFolder(place), 'managed-mcp.json')),
    ...permissions(place),
  ],
  read(files, place) {
    const rules = filesOf(files, 'permissions');
    const found = together(
      filesOf(files, undefined).flatMap((file) => [
        readTable(file, place, { client, roots: [ROOT] }),
        file.scope === 'user' ? readProjects(file, place) : together([]),
      ]),
    );
    const servers = found.servers.map((each) => ({
      ...each,
      autoApproved: [...each.autoApproved, ...approvedFor(each.id, rules)],
    }));
    return { ...found, servers };
  },
  installation: {
    ...inMcpServers(
      (place, scope) => (scope === 'user' ? userSettings(place) : projectFile(place, 'jsonc', '.mcp.json')[0]),
      typedEntry('stdio', 'http'),
    ),
    alwaysLoadsAs: 'claude-code',
  },
};
