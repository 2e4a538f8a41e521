import { join } from 'node:path';
import type { SourceFormat, SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { plainEntry } from '../reading/installation.js';
import { projectFile, userFile } from '../reading/client-paths.js';
import { createTableImporter } from '../reading/read-table.js';

const userSettings = (place: ClientEnvironment): SourcePath =>
  userFile('yaml', join(place.home, '.continue', 'config.yaml'));

/** A folder whose files each hold servers. */
function folders(place: ClientEnvironment): SourcePath[] {
  const kinds: Array<[SourceFormat, string[]]> = [
    ['yaml', ['.yaml', '.yml']],
    ['jsonc', ['.json']],
  ];
  return kinds.flatMap(([format, endings]) =>
    [
      userFile(format, join(place.home, '.continue', 'mcpServers')),
      ...projectFile(place, format, '.continue', 'mcpServers'),
    ].map((path) => ({ ...path, endings })),
  );
}

/** Continue: servers are a list; JSON files of other clients may stand in its folder as well. */
export const continueDev = createTableImporter({
  type: 'continue',
  title: 'Continue',
  locate: (place) => [userSettings(place), ...folders(place)],
  roots: [['mcpServers'], ['experimental', 'modelContextProtocolServers']],
  dialect: { notations: ['secrets'] },
  installation: {
    file: (place, scope) =>
      scope === 'user'
        ? userSettings(place)
        : projectFile(place, 'yaml', '.continue', 'mcpServers', 'toolscout.yaml')[0],
    key: ['mcpServers'],
    list: true,
    preamble: { name: 'Local Config', version: '1.0.0', schema: 'v1' },
    entry: (launch) =>
      launch.type === 'stdio' ? plainEntry(launch) : { type: 'streamable-http', ...plainEntry(launch) },
  },
});
