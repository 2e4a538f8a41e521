import { existsSync } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from './client.js';
import { cacheFolder } from './install.js';
import { runProcess } from './processes.js';

const SETUP_TIMEOUT_MS = 300_000;

/** Installs a package of PyPI into an environment of its own; throws where PyPI cannot be reached. */
async function installPython(name: string, requirement: string): Promise<string> {
  const folder = cacheFolder(name, requirement.split('==')[1] ?? '');
  const marker = join(folder, 'installed');
  if (existsSync(marker)) return folder;
  const options = { cwd: '/', env: process.env, timeoutMs: SETUP_TIMEOUT_MS };
  const steps: ReadonlyArray<readonly [string, readonly string[]]> = [
    ['python3', ['-m', 'venv', folder]],
    [join(folder, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', '--retries', '0', requirement]],
    [join(folder, 'bin', 'python'), ['-c', `open(${JSON.stringify(marker)}, "w").close()`]],
  ];
  for (const [command, args] of steps) {
    const { code, stderr } = await runProcess(command, args, options);
    if (code === 0) continue;
    await rm(folder, { recursive: true, force: true });
    throw new Error(stderr.trim().split('\n').at(-1) ?? `ended with ${code}`);
  }
  return folder;
}

/** A library of PyPI that a script of `drivers/` uses. */
function pythonLibrary(
  name: string,
  driver: string,
  [project, version]: readonly [string, string],
  env: Readonly<Record<string, string>> = {},
): Client {
  return {
    name,
    packages: { [project]: version },
    kind: 'library',
    async install() {
      try {
        return { folder: await installPython(name, `${project}==${version}`) };
      } catch (thrown) {
        return { skip: `PyPI could not install ${project}==${version}: ${String(thrown)}` };
      }
    },
    async launch({ installed }) {
      for (const file of ['exercise.py', `${driver}.py`]) {
        await copyFile(fileURLToPath(new URL(`drivers/${file}`, import.meta.url)), join(installed, file));
      }
      return { command: join(installed, 'bin', 'python'), args: [join(installed, `${driver}.py`)], env };
    },
  };
}

/** Clients of PyPI; they are skipped where it cannot be reached. */
export const PYTHON: readonly Client[] = [
  pythonLibrary('python-sdk-legacy', 'python_sdk', ['mcp', '2.3.0'], { ERA: 'legacy' }),
  pythonLibrary('python-sdk-modern', 'python_sdk', ['mcp', '2.3.0'], { ERA: 'auto' }),
  pythonLibrary('python-fastmcp', 'fastmcp_client', ['fastmcp', '4.0.10']),
];
