import { lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import { sha256 } from '../../kernel/hash.js';
import { newId } from '../../kernel/ids.js';
import { isObject } from '../../kernel/json.js';
import { locateConfig, type FindOptions, type FoundConfig } from '../read/find.js';
import { formatOf } from '../read/parse.js';

/** How a config stands that was found in the current folder and not named by the user. */
export type TrustState =
  /** It is approved exactly as it is. */
  | 'approved'
  /** Another content of this path was approved. */
  | 'changed'
  | 'new';

/**
 * A config in the current folder that no person has named or approved. Only the list of its servers takes effect, as
 * pending.
 */
export interface PendingConfig {
  readonly path: string;
  readonly state: Exclude<TrustState, 'approved'>;
  /** It is code, so not even its servers are known before it is approved. */
  readonly isCode: boolean;
  /** What an approval is bound to. */
  readonly hash: string;
  /** Ids of its servers; they wait for approval too. */
  readonly servers: readonly string[];
}

/** Files that one config may load; more is not looked at. */
const MAX_IMPORTS = 200;

const ENDINGS = ['', '.ts', '.js', '.mjs', '.cjs', '.json', '/index.ts', '/index.js'];

/** Whether a config is code, which runs when it is loaded. */
export function isCode(path: string): boolean {
  return /^(ts|js|mjs)$/.test(formatOf(path));
}

async function readIfFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (thrown) {
    if (thrown instanceof Error) return undefined;
    throw thrown;
  }
}

/** Every file that a text of code names by a relative path, with what it holds. */
async function importsOf(text: string, path: string, seen: Map<string, string>): Promise<void> {
  for (const [, name] of text.matchAll(/['"`](\.{1,2}\/[^'"`\n]+)['"`]/g)) {
    for (const ending of ENDINGS) {
      const file = resolve(dirname(path), name! + ending);
      if (seen.has(file) || seen.size >= MAX_IMPORTS) continue;
      const content = await readIfFile(file);
      if (content === undefined) continue;
      seen.set(file, content);
      await importsOf(content, file, seen);
    }
  }
}

/** The hash an approval is bound to: the text of the config and, where it is code, of the files beside it that it loads. */
export async function fingerprintOf(path: string, text: string): Promise<string> {
  if (!isCode(path)) return sha256(text);
  const imported = new Map<string, string>();
  await importsOf(text, path, imported);
  const parts = [...imported]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, content]) => [file, sha256(content)]);
  return parts.length === 0 ? sha256(text) : sha256(JSON.stringify([sha256(text), parts]));
}

/** The file that holds the approval of a config: one each, so that two processes never overwrite each other. */
export function approvalFile(stateDirectory: string, path: string): string {
  return join(stateDirectory, 'approved-configs', `${sha256(path)}.json`);
}

/** Whether the user trusts a config. An approval behind a symbolic link, or an unreadable one, does not count. */
export async function trustOf(stateDirectory: string | undefined, path: string, hash: string): Promise<TrustState> {
  if (stateDirectory === undefined) return 'new';
  const file = approvalFile(stateDirectory, path);
  try {
    if (!(await lstat(file)).isFile()) return 'new';
    const approved = JSON.parse(await readFile(file, 'utf8')) as unknown;
    if (!isObject(approved) || approved['path'] !== path) return 'new';
    return approved['hash'] === hash ? 'approved' : 'changed';
  } catch (thrown) {
    if (thrown instanceof Error) return 'new';
    throw thrown;
  }
}

/** Approves a config as it is now. */
export async function approveConfig(stateDirectory: string, path: string, hash: string, at: number): Promise<void> {
  const file = approvalFile(stateDirectory, path);
  const temporary = `${file}.${newId()}`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify({ path, hash, at })}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (thrown) {
    await rm(temporary, { force: true });
    throw new ToolscoutError('STORE_ERROR', `The approval cannot be written to ${file}: ${messageOf(thrown)}`, {
      suggestion: 'Check that the state directory is writable, or choose another with --state-dir.',
      cause: thrown,
    });
  }
}

/** Takes an approval back; answers whether there was one. */
export async function withdrawConfig(stateDirectory: string, path: string): Promise<boolean> {
  const file = approvalFile(stateDirectory, path);
  const wasThere = await lstat(file).then(
    () => true,
    () => false,
  );
  await rm(file, { force: true });
  return wasThere;
}

/** The config in force: the one the user named, an approved one of the folder, or the user's own. */
export async function chooseConfig(
  options: FindOptions & { readonly stateDirectory?: string },
): Promise<FoundConfig | undefined> {
  const found = await locateConfig(options);
  if (found?.origin !== 'folder') return found;
  const text = await readIfFile(found.path);
  const hash = text === undefined ? '' : await fingerprintOf(found.path, text);
  const state = await trustOf(options.stateDirectory, found.path, hash);
  return state === 'approved' ? found : locateConfig({ ...options, folder: false });
}

/** Changes a config on behalf of the user: one that was approved stays approved. */
export async function keepApproved<T>(
  {
    path,
    stateDirectory,
    now,
  }: { readonly path: string; readonly stateDirectory?: string; readonly now: () => number },
  change: () => Promise<T>,
): Promise<T> {
  const hashNow = async (): Promise<string> => fingerprintOf(path, (await readIfFile(path)) ?? '');
  const wasApproved = (await trustOf(stateDirectory, path, await hashNow())) === 'approved';
  const changed = await change();
  if (wasApproved && stateDirectory !== undefined) await approveConfig(stateDirectory, path, await hashNow(), now());
  return changed;
}
