import { isObject, type JsonObject } from '../../kernel/json.js';
import { textField } from '../reading/fields.js';
import { valueAt } from '../../config/read/path.js';
import type { Importer, SourceFile, SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { typedEntry } from '../reading/installation.js';
import { editorUserFolders, projectFile, userFile } from '../reading/client-paths.js';
import { readTable, together, type TableShape } from '../reading/read-table.js';

const client = 'vscode' as const;
const EDITORS = ['Code', 'Code - Insiders', 'VSCodium'];
const DEV_CONTAINER = ['customizations', 'vscode', 'mcp'];

const userSettings = (place: ClientEnvironment): SourcePath[] =>
  editorUserFolders(place, EDITORS).map((folder) => userFile('jsonc', folder, 'mcp.json'));

/** What the file says about the values it asks for. A password never has a default that counts. */
function inputsOf(file: SourceFile, root: readonly string[]): TableShape['describe'] {
  const inputs = valueAt(file.data, [...root, 'inputs']);
  const byId = new Map<string, { text?: string; fallback?: string }>();
  for (const input of Array.isArray(inputs) ? inputs : []) {
    const id = isObject(input) ? textField(input, 'id') : undefined;
    if (!isObject(input) || id === undefined) continue;
    const fallback = input['password'] === true ? undefined : textField(input, 'default');
    byId.set(id, { text: textField(input, 'description'), fallback });
  }
  return (id) => byId.get(id) ?? {};
}

/** What runs in its sandbox runs without a question. */
const shape = (raw: JsonObject): JsonObject => (raw['sandboxEnabled'] === true ? { ...raw, autoApprove: ['*'] } : raw);

function read(file: SourceFile, place: ClientEnvironment) {
  const bases = file.role === 'devcontainer' ? [DEV_CONTAINER] : [[], ['mcp']];
  const dialect = { shape, known: ['sandboxEnabled'] };
  return together(
    bases
      .filter((base, at) => at === 0 || valueAt(file.data, [...base, 'servers']) !== undefined)
      .map((base) =>
        readTable(file, place, { client, roots: [[...base, 'servers']], dialect, describe: inputsOf(file, base) }),
      ),
  );
}

/** VS Code: files of the user's profiles, of the project and of its development container. */
export const vscode: Importer = {
  type: client,
  title: 'VS Code',
  locate: (place) => [
    ...userSettings(place),
    ...editorUserFolders(place, EDITORS).map((folder) => userFile('jsonc', folder, 'settings.json')),
    ...projectFile(place, 'jsonc', '.vscode', 'mcp.json'),
    ...[['.devcontainer', 'devcontainer.json'], ['.devcontainer.json']].flatMap((parts) =>
      projectFile(place, 'jsonc', ...parts).map((path) => ({ ...path, role: 'devcontainer' as const })),
    ),
  ],
  read: (files, place) => together(files.map((file) => read(file, place))),
  installation: {
    file: (place, scope) =>
      scope === 'user' ? userSettings(place)[0] : projectFile(place, 'jsonc', '.vscode', 'mcp.json')[0],
    key: ['servers'],
    entry: typedEntry('stdio', 'http'),
  },
};
