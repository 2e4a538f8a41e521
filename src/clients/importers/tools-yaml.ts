import { isAbsolute } from 'node:path';
import type { SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';
import { readEnvironment } from '../../config/environment.js';
import { projectFile, userFile } from '../reading/client-paths.js';
import { createTableImporter } from '../reading/read-table.js';

/** `TOOLS_YAML_PATH`, which the user set, or `tools/tools.yaml` in the project. */
function locate(place: ClientEnvironment): SourcePath[] {
  const { toolsYamlPath } = readEnvironment(place.env);
  if (isAbsolute(toolsYamlPath)) return [userFile('yaml', toolsYamlPath)];
  return projectFile(place, 'yaml', toolsYamlPath);
}

/** An inventory in YAML: a list of remote servers by their base URL, taken as a source of servers like any client's file. */
export const toolsYaml = createTableImporter({
  type: 'tools-yaml',
  title: 'tools.yaml inventory',
  locate,
  roots: [[], ['tools'], ['servers']],
  fields: ['tools', 'servers'],
});
