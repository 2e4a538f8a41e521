import { join } from 'node:path';
import type { JsonObject } from '../../kernel/json.js';
import { objectField, textField } from '../reading/fields.js';
import type { SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { applicationData, configHome, userFile } from '../reading/client-paths.js';
import { createTableImporter } from '../reading/read-table.js';

const file = (place: ClientEnvironment): SourcePath =>
  place.platform === 'win32'
    ? userFile('yaml', join(applicationData(place), 'Block', 'goose', 'config', 'config.yaml'))
    : userFile('yaml', join(configHome(place), 'goose', 'config.yaml'));

/** Newer versions put what makes the server into `config`. */
const shape = (raw: JsonObject): JsonObject => ({ ...objectField(raw, 'config'), ...raw });

/** Extensions that are part of Goose itself are no servers. */
function isServer(raw: JsonObject): boolean {
  const type = textField(shape(raw), 'type');
  return type === undefined || !/^(builtin|platform|frontend|inline_python)$/.test(type);
}

/** Goose: extensions in YAML; secrets are in its keyring and only named here. Times are seconds. */
export const goose = createTableImporter({
  type: 'goose',
  title: 'Goose',
  locate: (place) => [file(place)],
  roots: [['extensions']],
  dialect: { shape, known: ['config'], timeoutUnit: 's' },
  isServer,
  installation: {
    file: (place, scope) => (scope === 'user' ? file(place) : undefined),
    key: ['extensions'],
    entry: (launch) => ({
      enabled: true,
      name: 'toolscout',
      timeout: 300,
      ...(launch.type === 'stdio'
        ? { type: 'stdio', cmd: launch.command, args: [...launch.args], envs: {} }
        : { type: 'streamable_http', uri: launch.url }),
    }),
  },
});
