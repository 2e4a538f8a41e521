import { join } from 'node:path';
import { isObject } from '../../kernel/json.js';
import type { ImportedServer } from '../../model/source.js';
import { problemAt, valueAt } from '../../config/read/path.js';
import { isServerId } from '../../config/resolve/server-id.js';
import { textList } from '../reading/fields.js';
import type { Importer, SourceFile } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { userFile } from '../reading/client-paths.js';
import { filesOf, together } from '../reading/read-table.js';

const folder = (place: ClientEnvironment): string => join(place.home, '.docker', 'mcp');

function readRegistry(file: SourceFile, tools: readonly SourceFile[]) {
  const registry = valueAt(file.data, ['registry']);
  if (registry === undefined || registry === null) return together([]);
  if (!isObject(registry)) return { servers: [], problems: [problemAt(file.path, 'registry is not an object')] };
  // Names that are no ids cannot be passed to the gateway as they are.
  const names = Object.keys(registry).filter(
    (name) => isServerId(name) && name !== '__proto__' && !name.startsWith('-'),
  );
  const odd = Object.keys(registry).length - names.length;
  const servers = names.map((name): ImportedServer => {
    const chosen = tools.flatMap((each) => textList(valueAt(each.data, [name])));
    return {
      id: name,
      // Docker keeps images, settings and secrets; its gateway, asked for one server, brings them together.
      entry: { command: 'docker', args: ['mcp', 'gateway', 'run', `--servers=${name}`] },
      scope: file.scope,
      client: 'docker-mcp',
      file: file.path,
      autoApproved: [],
      disabledTools: [],
      enabledTools: chosen.length > 0 ? chosen : undefined,
      capabilities: [],
      prompts: [],
      notes: [],
    };
  });
  const problem = problemAt(file.path, `leaves out ${odd} of its entries, whose names cannot be used`);
  return { servers, problems: odd > 0 ? [problem] : [] };
}

/** Docker's MCP Toolkit: the servers that are switched on, each through Docker's own gateway. */
export const dockerMcp: Importer = {
  type: 'docker-mcp',
  title: 'Docker MCP',
  locate: (place) => [
    userFile('yaml', folder(place), 'registry.yaml'),
    { ...userFile('yaml', folder(place), 'tools.yaml'), role: 'tools' },
  ],
  read: (files) => together(filesOf(files, undefined).map((file) => readRegistry(file, filesOf(files, 'tools')))),
};
