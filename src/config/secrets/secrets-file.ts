import { lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import { userConfigStem, type FindOptions } from '../read/find.js';
import { parseEnvFile } from './env-file.js';
import { isVariableName } from '../resolve/variables.js';

/** Bytes of a file with secrets. */
const MAX_BYTES = 256 * 1024;

/** The variables of a file, or why it is not read. */
export interface SecretsRead {
  readonly values: Readonly<Record<string, string>>;
  /** Absent files have none. */
  readonly problem?: string;
  readonly exists: boolean;
}

/** Where secrets are kept unless the config names another file with `envFile`. */
export function defaultSecretsFile(options: Pick<FindOptions, 'home' | 'xdgConfigHome'>): string {
  return join(dirname(userConfigStem(options)), 'secrets.env');
}

/**
 * Why a file must not be read or written: a link may lead to another user's file, and others may read a file that is
 * not 0600.
 */
async function complaint(
  path: string,
  platform: string,
): Promise<{ readonly problem?: string; readonly exists: boolean }> {
  try {
    const info = await lstat(path);
    const exists = true;
    if (info.isSymbolicLink()) return { exists, problem: 'is a symbolic link, which is not followed' };
    if (!info.isFile()) return { exists, problem: 'is not a file' };
    if (info.size > MAX_BYTES) return { exists, problem: `is larger than ${MAX_BYTES} bytes` };
    // Windows has no such bits.
    if (platform !== 'win32' && (info.mode & 0o077) !== 0) {
      return {
        exists,
        problem: `can be read by others (mode ${(info.mode & 0o777).toString(8)}); run: chmod 600 ${path}`,
      };
    }
    return { exists };
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { exists: false };
    return { exists: true, problem: `cannot be read: ${messageOf(thrown)}` };
  }
}

/** Reads the variables of a file that only its owner may read. Values never appear in what is said about it. */
export async function readSecretsFile(path: string, platform: string = process.platform): Promise<SecretsRead> {
  const { problem, exists } = await complaint(path, platform);
  if (problem !== undefined || !exists) return { values: {}, exists, ...(problem !== undefined && { problem }) };
  try {
    return { values: parseEnvFile(await readFile(path, 'utf8')), exists };
  } catch (thrown) {
    return { values: {}, exists, problem: `cannot be read: ${messageOf(thrown)}` };
  }
}

/** The variables that a config may use: those of the environment, and of the file those that the environment does not set. */
export function withSecrets(
  env: Readonly<Record<string, string | undefined>>,
  values: Readonly<Record<string, string>>,
): Readonly<Record<string, string | undefined>> {
  const set = Object.entries(env).filter(([name, value]) => !Object.hasOwn(values, name) || value?.trim());
  return { ...values, ...Object.fromEntries(set) };
}

/** What to do about a file with secrets that cannot be used. */
export const REPAIR_SECRETS_FILE = 'Repair the file, or name another with envFile in the config.';

function refusal(path: string, problem: string): ToolscoutError {
  return new ToolscoutError('CONFIGURATION_ERROR', `${path} ${problem}`, {
    suggestion: `Nothing was changed. ${REPAIR_SECRETS_FILE}`,
    file: path,
  });
}

function checkSecret(name: string, value: string): void {
  if (!isVariableName(name) || name === '__proto__') {
    throw new ToolscoutError('INVALID_REQUEST', `"${name}" is not the name of a variable.`, {
      suggestion: 'A name has letters, digits and underscores, and does not begin with a digit.',
    });
  }
  if (value.trim() === '') {
    throw new ToolscoutError('INVALID_REQUEST', `${name} was not set: the value is empty.`, {
      suggestion: `Type the value when you are asked, or pipe it in: printf %s "$VALUE" | toolscout secret set ${name}`,
    });
  }
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(value)) {
    throw new ToolscoutError(
      'INVALID_REQUEST',
      `${name} was not set: the value has more than one line or a control character.`,
    );
  }
}

/** Whether a line of the file sets a variable. */
function sets(line: string, name: string): boolean {
  return Object.hasOwn(parseEnvFile(line), name);
}

async function write(path: string, text: string): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.toolscout-${newId()}`);
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.chmod(0o600);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (thrown) {
    await rm(temporary, { force: true });
    throw refusal(path, `cannot be written: ${messageOf(thrown)}`);
  }
}

async function linesOf(path: string, platform: string): Promise<string[]> {
  const { problem, exists } = await complaint(path, platform);
  if (problem !== undefined) throw refusal(path, problem);
  if (!exists) return [];
  const lines = (await readFile(path, 'utf8')).split(/\r?\n/);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

/** Writes secrets to a file that only its owner may read; other lines stay. */
export async function writeSecrets(
  path: string,
  secrets: Readonly<Record<string, string>>,
  platform: string = process.platform,
): Promise<void> {
  let lines = await linesOf(path, platform);
  for (const [name, value] of Object.entries(secrets)) {
    checkSecret(name, value);
    // Quotes around it keep blanks and quotes inside as they are.
    const line = `${name}="${value}"`;
    const at = lines.findLastIndex((each) => sets(each, name));
    lines = at === -1 ? [...lines, line] : lines.with(at, line);
  }
  await write(path, `${lines.join('\n')}\n`);
}

/** Takes a secret out of a file; answers whether it was there. */
export async function removeSecret(path: string, name: string, platform: string = process.platform): Promise<boolean> {
  const lines = await linesOf(path, platform);
  const kept = lines.filter((line) => !sets(line, name));
  if (kept.length === lines.length) return false;
  await write(path, kept.length === 0 ? '' : `${kept.join('\n')}\n`);
  return true;
}
