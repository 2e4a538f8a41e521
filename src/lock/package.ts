import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { LockPackage } from '../model/lock.js';
import type { Transport } from '../model/server.js';

/** Where packages of npm may be installed. */
export interface PackagePlaces {
  /** The folder of the project. */
  readonly project: string;
  /** The cache of npm, in which `npx` installs. */
  readonly npmCache: string;
}

/** A package as a command names it. */
const SPEC = /^(?:npm:)?((?:@[\w.~-]+\/)?[\w.~-]+)(?:@(.+))?$/;
/** Installations of `npx` that are looked at. */
const MAX_INSTALLED = 1000;

/** The package of npm that a command runs, and what it asks for; `undefined` for every other command. */
export function packageIn(transport: Transport): Pick<LockPackage, 'name' | 'requested'> | undefined {
  if (transport.type !== 'stdio') return undefined;
  const command =
    transport.command
      .split(/[\\/]/)
      .at(-1)
      ?.replace(/\.(?:exe|cmd)$/i, '') ?? '';
  const { args } = transport;
  const skipped = /^(?:npx|bunx|pnpx)$/.test(command)
    ? 0
    : /^(?:npm|pnpm|yarn)$/.test(command) && /^(?:exec|x|dlx)$/.test(args[0] ?? '')
      ? 1
      : undefined;
  if (skipped === undefined) return undefined;
  for (let at = skipped; at < args.length; at++) {
    const [flag = '', value] = args[at]!.split('=', 2);
    if (flag === '-p' || flag === '--package') return parse(value ?? args[at + 1] ?? '');
    if (!flag.startsWith('-')) return parse(args[at]!);
  }
  return undefined;
}

function parse(spec: string): Pick<LockPackage, 'name' | 'requested'> | undefined {
  const [, name, requested] = SPEC.exec(spec) ?? [];
  return name === undefined ? undefined : { name, ...(requested !== undefined && { requested }) };
}

/** What is installed of a package, in the project or by `npx`; nothing is asked over the network. */
export async function findInstalled(
  { name, requested }: Pick<LockPackage, 'name' | 'requested'>,
  { project, npmCache }: PackagePlaces,
): Promise<Pick<LockPackage, 'version' | 'integrity'>> {
  const own = entryIn(await readJson(join(project, 'node_modules', '.package-lock.json')), name);
  if (own) return own;
  const folders = await readdir(join(npmCache, '_npx')).catch(() => []);
  const spec = requested === undefined ? name : `${name}@${requested}`;
  for (const folder of folders.toSorted().slice(0, MAX_INSTALLED)) {
    const installed = await readJson(join(npmCache, '_npx', folder, 'package-lock.json'));
    const wanted = await readJson(join(npmCache, '_npx', folder, 'package.json'));
    const found = entryIn(installed, name);
    if (found && isWanted(wanted, name, requested, spec)) return found;
  }
  return {};
}

/** Whether `npx` made an installation for this very package, and not for another one that needs it. */
function isWanted(manifest: JsonValue | undefined, name: string, requested: string | undefined, spec: string): boolean {
  if (!isObject(manifest)) return false;
  const { _npx: made, dependencies } = manifest;
  if (isObject(made) && Array.isArray(made['packages'])) return made['packages'].includes(spec);
  const range = isObject(dependencies) ? dependencies[name] : undefined;
  return typeof range === 'string' && (requested === undefined || range.replace(/^[\^~]/, '') === requested);
}

function entryIn(lock: JsonValue | undefined, name: string): Pick<LockPackage, 'version' | 'integrity'> | undefined {
  const packages = isObject(lock) ? lock['packages'] : undefined;
  const key = `node_modules/${name}`;
  if (!isObject(packages) || !Object.hasOwn(packages, key)) return undefined;
  const { version, integrity } = (packages[key] ?? {}) as JsonObject;
  if (typeof version !== 'string') return undefined;
  return { version, ...(typeof integrity === 'string' && { integrity }) };
}

async function readJson(path: string): Promise<JsonValue | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as JsonValue;
  } catch {
    // Not installed there, or not by npm: there is nothing to say of it.
    return undefined;
  }
}
