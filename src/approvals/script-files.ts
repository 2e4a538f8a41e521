import { createHash } from 'node:crypto';
import { closeSync, existsSync, lstatSync, openSync, readFileSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sha256 } from '../kernel/hash.js';
import { isObject, type JsonValue } from '../kernel/json.js';
import { isLoaderVariable } from '../kernel/loader-variables.js';
import type { StdioTransport } from '../model/server.js';

/** Files up to here are read at once. */
const SMALL_BYTES = 4 * 1024 * 1024;
/** A larger file cannot be pinned; only where it really lies is noted then. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Words of a launch that are looked at. */
const MAX_WORDS = 1000;

const SCRIPTS = new Set(
  '.js .mjs .cjs .ts .mts .cts .jsx .tsx .py .rb .pl .php .sh .bash .zsh .ps1 .bat .cmd .lua'.split(' '),
);

/** Endings that a runtime adds to a name without one. */
const ADDED = ['.js', '.json', '.node', '.mjs', '.cjs', '.ts'];

/** What a runtime starts in a folder that is named as its program. */
const ENTRIES = ['package.json', 'index.js', 'index.json', 'index.node', 'index.mjs', 'index.ts', '__main__.py'];

/** Words before the program: they run what follows them. */
const RUNNERS =
  /^(?:env|node|nodejs|bun|bunx|deno|tsx|ts-node|npx|npm|pnpm|yarn|exec|run|dlx|uv|uvx|pipx|python[\d.]*|pypy\d*|ruby|perl|php|lua|sh|bash|zsh|dash)(?:\.exe|\.cmd)?$/i;

/** Programs with words of their own before the runner or the program that they start. */
const WRAPPERS = /^(?:timeout|taskset|chrt|flock|setarch|chroot|su|runuser|xargs|script|watch)$/;

/** A variable that is set for the program behind it. */
const ASSIGNMENT = /^[A-Za-z_]\w*=/;

/** Runners that take the name of a package where others take a path, and flags without values before it. */
const PACKAGE_RUNNERS = /^(?:npx|npm|pnpm|yarn|bunx|uv|uvx|pipx|docker|podman)(?:\.exe|\.cmd)?$/i;

/** Flags whose value is loaded before the program. */
const LOADING =
  /^(?:-r|--require|--import|--(?:experimental-)?loader|--preload|-C|--conditions|--env-file|--from|--with)$/;
/** Flags whose value is the program. */
const STARTING = /^(?:-m|-c|-e|-p|--eval|--print|-jar)$/;

/** Where programs of the system lie: an update of the system replaces them, a project does not. */
const SYSTEM = /^(?:\/(?:usr|bin|sbin|lib|opt|nix|snap|System|Library)\/|[a-z]:\\(?:Windows|Program Files))/i;

/** A database changes with every call, and no runtime runs one. */
const DATABASE = 'SQLite format 3\0';

/** The checksum of a file; `undefined` for a file that is not pinned. */
function sumOf(path: string, isCode: boolean): string | undefined {
  const { size } = statSync(path);
  if (size > MAX_BYTES) return undefined;
  const isSystem = SYSTEM.test(path) || path === process.execPath;
  if (size <= SMALL_BYTES) {
    const text = readFileSync(path).toString('latin1');
    const isScript = SCRIPTS.has(extname(path).toLowerCase()) || text.startsWith('#!');
    return isScript || (isCode && !isSystem && !text.startsWith(DATABASE)) ? sha256(text) : undefined;
  }
  if (isSystem || !(isCode || SCRIPTS.has(extname(path).toLowerCase()))) return undefined;
  const sum = createHash('sha256');
  const chunk = Buffer.alloc(1024 * 1024);
  const file = openSync(path, 'r');
  try {
    for (let at = 0, read = 1; read > 0 && at <= MAX_BYTES; at += read) {
      read = readSync(file, chunk, 0, chunk.length, at);
      if (at === 0 && chunk.toString('latin1', 0, DATABASE.length) === DATABASE) return undefined;
      sum.update(chunk.subarray(0, read));
    }
  } finally {
    closeSync(file);
  }
  return sum.digest('hex');
}

/** Parts of a text that may be paths: all of it, what follows `=` or a short flag, and its words where it is code. */
function pathsIn(text: string): string[] {
  const whole = text.startsWith('-') ? [] : [text];
  const value = text.includes('=') ? [text.slice(text.indexOf('=') + 1)] : [];
  const attached = /^-[A-Za-z][^=-]/.test(text) ? [text.slice(2)] : [];
  const words = /\s/.test(text) ? text.split(/[\s"'`;|&()<>]+/).flatMap((word) => pathsIn(word)) : [];
  return [...whole, ...value, ...attached, ...words].filter((path) => path !== '');
}

/** Paths in the values of variables that decide what code runs: `NODE_OPTIONS=--require ./x.js`, `LD_PRELOAD=/a.so:/b.so`. */
function pathsInVariables({ env, args }: StdioTransport): string[] {
  const given = args.flatMap((arg): Array<[string, string]> => {
    const [, name, value] = /^([A-Za-z_]\w*)=([^]*)$/.exec(arg) ?? [];
    return name !== undefined && value !== undefined ? [[name, value]] : [];
  });
  return [...Object.entries(env), ...given]
    .filter(([name]) => isLoaderVariable(name))
    .flatMap(([, value]) => [value, ...value.split(/[\s"',;]+/), ...value.split(/[\s"',;:]+/)])
    .flatMap(pathsIn);
}

/** The files that a folder is started by: what its `package.json` names, and what is started without one. */
function entriesOf(folder: string): string[] {
  let manifest: JsonValue = null;
  try {
    manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as JsonValue;
  } catch (thrown) {
    // Without a package.json that can be read, the usual names are all there is.
    if (!(thrown instanceof Error)) throw thrown;
  }
  const { main, bin } = isObject(manifest) ? manifest : {};
  const named = [main, ...(isObject(bin) ? Object.values(bin) : [bin])].filter((path) => typeof path === 'string');
  const files = named.flatMap((path) => ['', ...ADDED, '/index.js'].map((end) => join(folder, path + end)));
  return [...ENTRIES.map((name) => join(folder, name)), ...files];
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (thrown) {
    // What cannot be looked at is no folder that a runtime starts.
    if (thrown instanceof Error) return false;
    throw thrown;
  }
}

/** The path of a `file:` URL; `undefined` when the URL is not valid. */
function filePath(word: string): string | undefined {
  if (!/^file:/i.test(word)) return undefined;
  try {
    return fileURLToPath(word);
  } catch (thrown) {
    if (thrown instanceof TypeError || thrown instanceof URIError) return undefined;
    throw thrown;
  }
}

/** A path that may be a file of the launch. */
interface Candidate {
  readonly word: string;
  readonly path: string;
  /** It stands where code is named; elsewhere it counts only when it is a script. */
  readonly isCode: boolean;
}

/** Every path that a launch may name a file by, with the word that names it. */
function candidatesOf(transport: StdioTransport): Candidate[] {
  const { command, args, cwd } = transport;
  const pathOf = (word: string): string => filePath(word) ?? resolve(cwd ?? '.', word);
  const exists = (word: string): boolean => !word.includes('\0') && existsSync(pathOf(word));
  const found: Candidate[] = [];
  const add = (words: readonly string[], isCode: boolean): void => {
    for (const word of new Set(words)) {
      if (word.length > 4096 || word.includes('\0') || found.length > MAX_WORDS) continue;
      const path = pathOf(word);
      found.push({ word, path, isCode });
      if (extname(path) !== '' || !/[/\\]/.test(word)) continue;
      for (const end of ADDED) found.push({ word, path: path + end, isCode });
    }
  };
  if (/[/\\]/.test(command)) add([command], true);
  // Files and folders count up to the program: the first word that neither runs another nor is the value of a flag.
  const isPackageRunner = PACKAGE_RUNNERS.test(basename(command));
  let isWrapped = WRAPPERS.test(basename(command));
  let isBefore = isWrapped || !/[/\\]/.test(command) || RUNNERS.test(basename(command));
  for (const [at, arg] of args.entries()) {
    add(pathsIn(arg), isBefore);
    const isFlag = arg.startsWith('-');
    const word = isFlag ? arg.slice(arg.indexOf('=') + 1) : arg;
    if (isBefore && !(isFlag && isPackageRunner) && isFolder(pathOf(word))) {
      for (const path of entriesOf(pathOf(word))) found.push({ word, path, isCode: true });
    }
    const isRunner = RUNNERS.test(basename(arg)) && !arg.startsWith('.');
    isWrapped = (isWrapped && !isRunner) || (isBefore && WRAPPERS.test(arg));
    if (isFlag || isRunner || isWrapped || ASSIGNMENT.test(arg)) continue;
    const flag = args[at - 1]?.startsWith('-') ? args[at - 1]! : '';
    const isValue = LOADING.test(flag) || (flag !== '' && !STARTING.test(flag) && !isPackageRunner && !exists(word));
    isBefore &&= isValue;
  }
  add(pathsInVariables(transport), true);
  return found;
}

/**
 * The files that a launch names as its program, in its arguments or in variables that decide what code runs: where each really lies,
 * and what is in it. A link that leads elsewhere and a file that was rewritten make it another launch (A42). What scripts load is
 * not looked at, nor are programs of the system and SQLite databases.
 */
export function scriptsOf(transport: StdioTransport): string[][] {
  const found = new Map<string, string[]>();
  for (const { word, path, isCode } of candidatesOf(transport)) {
    const note = (...facts: string[]): void => void found.set(`${word}\0${path}`, [word, ...facts]);
    try {
      if (!lstatSync(path, { throwIfNoEntry: false })) continue;
      const real = realpathSync(path);
      if (!statSync(real).isFile()) continue;
      const sum = sumOf(real, isCode);
      if (sum !== undefined) note(real, sum);
      else if (real !== path) note(real);
    } catch (thrown) {
      // This user cannot read it as a file, so there is nothing to compare.
      const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unreadable';
      if (code !== 'ENOTDIR' && code !== 'ENAMETOOLONG') note(code);
    }
  }
  return [...found.values()];
}

/** Files that a launch names and that are too large to be compared. */
export function unpinnedFilesOf(transport: StdioTransport): string[] {
  const large = candidatesOf(transport).filter(({ path, isCode }) => {
    if (!isCode) return false;
    try {
      const stats = statSync(path, { throwIfNoEntry: false });
      return stats?.isFile() === true && stats.size > MAX_BYTES && !SYSTEM.test(path) && path !== process.execPath;
    } catch (thrown) {
      // What cannot be looked at is named by its word in the launch already.
      if (thrown instanceof Error) return false;
      throw thrown;
    }
  });
  return [...new Set(large.map(({ word }) => word))];
}
