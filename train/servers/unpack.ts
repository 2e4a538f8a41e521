import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Program } from './ask.js';

const run = promisify(execFile);

/** A package as it is pinned, and what it needs to start. */
export interface Pinned {
  readonly name: string;
  readonly version: string;
  readonly args: readonly string[];
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly bin?: string | Readonly<Record<string, string>>;
  readonly main?: string;
}

const INSTALL_MS = 180_000;
/** Files of a package that are read for the names of variables, and characters of each. */
const MAX_FILES = 400;
const MAX_TEXT = 3_000_000;

/** `@scope/name@1.2.3 argument argument`. */
export function readPinned(line: string): Pinned {
  const [spec = '', ...args] = line.trim().split(/\s+/);
  const cut = spec.lastIndexOf('@');
  return cut > 0
    ? { name: spec.slice(0, cut), version: spec.slice(cut + 1), args }
    : { name: spec, version: 'latest', args };
}

/** Installs a package into a folder of its own, without its scripts, and says how it is started. */
export async function unpack(
  { name, version, args }: Pinned,
  folder: string,
  installer: string,
): Promise<Program & { readonly version: string }> {
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  // npm and bun read the same words.
  await run(installer, ['install', '--ignore-scripts', `${name}@${version}`], {
    cwd: folder,
    timeout: INSTALL_MS,
    maxBuffer: 1 << 24,
  });
  const home = join(folder, 'node_modules', name);
  const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as Manifest;
  const file = startOf(manifest);
  if (file === undefined) throw new Error('The package has no program.');
  return { file: join(home, file), args, folder, env: guessEnvironment(home), version: manifest.version };
}

/** The program of a package: the only one, the one of its name, or one that speaks of a server. */
function startOf({ name, bin, main }: Manifest): string | undefined {
  if (typeof bin === 'string') return bin;
  const all = Object.entries(bin ?? {});
  const short = name.split('/').at(-1)!;
  const best =
    all.find(([each]) => each === short) ??
    all.find(([each]) => /mcp/.test(each)) ??
    all.find(([each]) => /server/.test(each)) ??
    all[0];
  return best?.[1] ?? main;
}

/** Variables that change how a server speaks, and not what it may reach. */
const LEFT_ALONE =
  /PORT|NODE_|^DEBUG|LOG|TRANSPORT|^PATH$|^HOME$|TIMEOUT|MODE|DISABLE|READ_?ONLY|PROXY|^CI$|ENABLE|TOOLS|LIMIT|MAX|SSE|HTTP_|STDIO|TELEMETRY/;
const NEEDED =
  /KEY|TOKEN|SECRET|PASS|USER|EMAIL|ID$|ACCOUNT|ORG|TENANT|WORKSPACE|PROJECT|REGION|DOMAIN|SITE|SPACE|NAME|SUBDOMAIN|TEAM/;
const ADDRESS = /UR[LI]|HOST|ENDPOINT|BASE|INSTANCE|SERVER/;

/** Values for the variables that a package reads, so that a server that insists on a key starts. None of them opens anything. */
export function guessEnvironment(home: string): Record<string, string> {
  const env: Record<string, string> = {};
  for (const file of sourcesIn(home)) {
    for (const [, name = ''] of file.matchAll(/process\.env(?:\.|\[["'])([A-Z][A-Z0-9_]{2,60})/g)) {
      if (LEFT_ALONE.test(name)) continue;
      if (/MONGO/.test(name) && ADDRESS.test(name)) env[name] = 'mongodb://127.0.0.1:9/x';
      else if (/POSTGRES|DATABASE_UR|PG_?UR/.test(name)) env[name] = 'postgres://u:p@127.0.0.1:9/x';
      else if (/REDIS/.test(name) && ADDRESS.test(name)) env[name] = 'redis://127.0.0.1:9';
      else if (ADDRESS.test(name)) env[name] = name.endsWith('HOST') ? '127.0.0.1' : 'https://127.0.0.1:9';
      else if (/EMAIL/.test(name)) env[name] = 'nobody@example.com';
      else if (NEEDED.test(name)) env[name] = 'sk_test_00000000000000000000000000000000';
    }
  }
  return env;
}

function* sourcesIn(home: string): Generator<string> {
  const folders = [home];
  let count = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (entry.name !== 'node_modules') folders.push(path);
      } else if (/\.[cm]?js$/.test(entry.name) && statSync(path).size < MAX_TEXT && ++count <= MAX_FILES)
        yield readFileSync(path, 'utf8');
    }
  }
}
