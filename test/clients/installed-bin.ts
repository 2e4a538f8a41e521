import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The script behind a command of an installed package; the first one unless a name is given. */
export async function installedBin(installed: string, name: string, command?: string): Promise<string> {
  const folder = join(installed, 'node_modules', name);
  const { bin } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    bin: string | Record<string, string>;
  };
  if (typeof bin === 'string') return join(folder, bin);
  return join(folder, String(command === undefined ? Object.values(bin)[0] : bin[command]));
}
