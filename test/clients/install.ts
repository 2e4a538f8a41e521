import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProcess } from './processes.js';

/** Installed clients are kept between runs, by their exact versions. */
const CACHE = join(tmpdir(), 'toolscout-clients');
/** No package newer than this is installed, so that what the clients depend on stays the same too. */
const BEFORE = '2026-11-16';
const INSTALL_TIMEOUT_MS = 600_000;
const NODE_VERSIONS = { '22': '22.23.3', '24': '24.21.0' } as const;

/** Where one version of a client is installed. */
export function cacheFolder(name: string, version: string): string {
  return join(CACHE, `${name}-${version}`);
}

/** Installs exact versions into a folder of their own, without running their scripts. */
export async function installPackages(name: string, packages: Readonly<Record<string, string>>): Promise<string> {
  const [version = 'none'] = Object.values(packages);
  const folder = cacheFolder(name, version);
  if (existsSync(join(folder, 'node_modules'))) return folder;
  const partial = `${folder}.${process.pid}`;
  await mkdir(partial, { recursive: true });
  await writeFile(
    join(partial, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies: packages }),
  );
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', `--before=${BEFORE}`];
  const { code, stdout, stderr } = await runProcess('npm', args, {
    cwd: partial,
    env: process.env,
    timeoutMs: INSTALL_TIMEOUT_MS,
  });
  if (code !== 0 || !existsSync(join(partial, 'node_modules'))) {
    await rm(partial, { recursive: true, force: true });
    throw new Error(`npm could not install ${JSON.stringify(packages)}: ${(stderr || stdout).slice(-600)}`);
  }
  await rename(partial, folder);
  return folder;
}

/** A Node.js of this major version, from npm. */
export async function installNode(major: keyof typeof NODE_VERSIONS): Promise<string> {
  if (Number(process.versions.node.split('.')[0]) >= Number(major)) return process.execPath;
  const platform = `${process.platform}-${process.arch}`;
  const folder = await installPackages(`node-${major}`, { [`node-${platform}`]: NODE_VERSIONS[major] });
  return join(folder, 'node_modules', `node-${platform}`, 'bin', 'node');
}
