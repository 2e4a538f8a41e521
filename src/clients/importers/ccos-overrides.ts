import { isObject, type JsonObject } from '../../kernel/json.js';
import { field, textField, textList } from '../reading/fields.js';
import type { Importer, SourceFile } from '../importer.js';
import { projectFile } from '../reading/client-paths.js';
import { readTable, together } from '../reading/read-table.js';
import { isVariableName } from '../../config/resolve/variables.js';

const RUNNERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['npm', ['npx', '-y']],
  ['pypi', ['uvx']],
  ['oci', ['docker', 'run', '-i', '--rm']],
]);

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A header without a value is one the user brings; `<NAME>_MCP_TOKEN` is the way to do so. */
function headersOf(remote: JsonObject): JsonObject {
  const given = objects(remote['headers']).flatMap((header) => {
    const name = textField(header, 'name');
    const value = textField(header, 'value');
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given);
}

function remoteOf(server: JsonObject): JsonObject | undefined {
  const first = objects(server['remotes']).find((remote) => /^https?:/i.test(textField(remote, 'url') ?? ''));
  return first && { url: first['url'], type: textField(first, 'type', 'kind') ?? 'http', headers: headersOf(first) };
}

function packageOf(server: JsonObject): JsonObject | undefined {
  for (const each of objects(server['packages'])) {
    const runner = RUNNERS.get(textField(each, 'registryType', 'registry_type')?.toLowerCase() ?? '');
    const name = textField(each, 'identifier');
    if (!runner || name === undefined || name.startsWith('-')) continue;
    const version = textField(each, 'version');
    const isNpm = runner[0] === 'npx' && version !== undefined && version !== 'latest';
    const variables = objects(each['environmentVariables'])
      .filter((variable) => variable['isRequired'] === true && isVariableName(variable['name']))
      .map((variable) => String(variable['name']));
    const flags = runner[0] === 'docker' ? variables.flatMap((variable) => ['-e', variable]) : [];
    const [command, ...args] = runner;
    return { command: command!, args: [...args, ...flags, isNpm ? `${name}@${version}` : name], env_vars: variables };
  }
  return undefined;
}

/** An entry as most clients would write it: a remote server when there is one, else a package. */
function flatten(entry: JsonObject): JsonObject {
  const server = entry['server'];
  if (!isObject(server)) return {};
  const remote = remoteOf(server);
  return {
    ...leftOver(entry, ['matches', 'server'], ''),
    ...leftOver(server, ['name', remote ? 'remotes' : 'packages'], 'server.'),
    name: field(server, 'name') as string,
    capabilities: textList(entry['matches']),
    ...(remote ?? packageOf(server)),
  };
}

/** Fields that say nothing to us, under their path, so that they are named. */
function leftOver(raw: JsonObject, known: readonly string[], path: string): JsonObject {
  const rest = Object.entries(raw).filter(([name]) => !known.includes(name) && name !== '__proto__');
  return Object.fromEntries(rest.map(([name, value]) => [`${path}${name}`, value]));
}

/** The same server under several patterns is one server with all of them. */
function gather(file: SourceFile): SourceFile {
  const entries = isObject(file.data) ? file.data['entries'] : undefined;
  const byName = new Map<unknown, JsonObject>();
  for (const flat of objects(entries).map(flatten)) {
    const known = byName.get(flat['name']);
    const matches = [...textList(known?.['capabilities']), ...textList(flat['capabilities'])];
    byName.set(flat['name'], { ...flat, ...known, capabilities: [...new Set(matches)] });
  }
  return { ...file, data: isObject(file.data) ? { ...file.data, entries: [...byName.values()] } : file.data };
}

/** Curated servers of CCOS: patterns of capabilities and the server that has them. */
export const ccosOverrides: Importer = {
  type: 'ccos-overrides',
  title: 'CCOS overrides',
  locate: (place) => projectFile(place, 'jsonc', 'capabilities', 'mcp', 'overrides.json'),
  read: (files, place) =>
    together(
      files.map((file) =>
        readTable(gather(file), place, { client: 'ccos-overrides', roots: [['entries']], fields: ['entries'] }),
      ),
    ),
};
