import { dirname } from 'node:path';
import { messageOf, ToolscoutError, type Problem } from '../../kernel/errors.js';
import { hashJson } from '../../kernel/hash.js';
import { isObject } from '../../kernel/json.js';
import type { Server } from '../../model/server.js';
import type { Variables } from '../environment.js';
import { parseConfig } from '../read/parse.js';
import { problemAt } from '../read/path.js';
import { rawField } from '../read/raw-field.js';
import { resolveConfig, type LoadedConfig } from '../resolve/resolve.js';
import { readSecretsFile, withSecrets } from '../secrets/secrets-file.js';
import { approvalFile, isCode, type PendingConfig, type TrustState } from './trust.js';

/** A config that was found in the current folder, as far as it was read. */
export interface FoundText {
  readonly path: string;
  /** `undefined` when it could not be read. */
  readonly text?: string;
  readonly problem?: string;
  readonly state: Exclude<TrustState, 'approved'>;
  readonly hash: string;
}

/** The message about a config that is not used, and how to use it. */
export function describePending({ path, state, isCode: runs, hash, servers }: PendingConfig): {
  readonly message: string;
  readonly next: string;
} {
  const why = state === 'changed' ? 'it changed since you approved it' : 'it was neither named nor approved';
  const what = runs
    ? 'It is code and was not run.'
    : `Its settings do not apply.${servers.length > 0 ? ` Its servers wait for approval: ${servers.join(', ')}.` : ''}`;
  return {
    message: `is not used: ${why}. ${what}`,
    next: `use it once with --config ${path}, or always: toolscout config approve --hash ${hash.slice(0, 12)}`,
  };
}

/** The same in one text. */
export function pendingNotice(pending: PendingConfig): string {
  const { message, next } = describePending(pending);
  return `${pending.path} ${message} U${next.slice(1)}`;
}

/** The servers of a config that is data; what is wrong with it is a warning, since it must not stop the user's own. */
async function readServers(
  { path, text }: FoundText,
  base: LoadedConfig,
  env: Variables,
): Promise<{ readonly servers: readonly Server[]; readonly secrets: readonly string[]; readonly warnings: Problem[] }> {
  // Without approvals they would start at once, only because the folder was opened.
  const wouldStart = base.config.approval === 'off';
  if (text === undefined || isCode(path) || wouldStart) return { servers: [], secrets: [], warnings: [] };
  try {
    const written = rawField(await parseConfig(text, path), 'servers');
    if (!isObject(written)) return { servers: [], secrets: [], warnings: [] };
    // The sandbox is that of the user (A49); what the servers say of one is not read.
    const { enabled, limits, rateLimit, retryPolicy, sandbox } = base.config;
    const raw = { enabled, limits, rateLimit, retryPolicy, sandbox, servers: written };
    const { servers, secrets, warnings } = resolveConfig(raw, {
      source: path,
      env,
      directory: dirname(path),
      scope: 'project',
    });
    return { servers, secrets, warnings };
  } catch (thrown) {
    if (!(thrown instanceof ToolscoutError)) throw thrown;
    return {
      servers: [],
      secrets: [],
      warnings: [problemAt(path, `its servers cannot be read: ${messageOf(thrown)}`)],
    };
  }
}

/** Adds to the config in force what a config of the folder may add before it is approved: its servers, as pending. */
export async function withPending(
  base: LoadedConfig,
  found: FoundText,
  { env, stateDirectory }: { readonly env: Variables; readonly stateDirectory?: string },
): Promise<LoadedConfig> {
  const { path, state, hash, problem } = found;
  // The same variables as for the user's own servers: the request for approval shows which of them are used.
  const values = base.secretsFile === undefined ? {} : (await readSecretsFile(base.secretsFile)).values;
  const read = await readServers(found, base, withSecrets(env, values));
  const taken = new Set(base.servers.map(({ id }) => id));
  const servers = read.servers.filter(({ id }) => !taken.has(id));
  const clashes = read.servers
    .filter(({ id }) => taken.has(id))
    .map(({ id }) => problemAt(path, `its server "${id}" is left out: a server of your own has that name`));
  const pending: PendingConfig = { path, state, hash, isCode: isCode(path), servers: servers.map(({ id }) => id) };
  return {
    ...base,
    pending,
    servers: [...base.servers, ...servers],
    hash: hashJson([base.hash, path, hash]),
    sourceFiles: [...base.sourceFiles, path, ...(stateDirectory ? [approvalFile(stateDirectory, path)] : [])],
    warnings: [
      ...base.warnings,
      ...(problem === undefined ? [] : [problemAt(path, problem)]),
      ...read.warnings,
      ...clashes,
    ],
    secrets: [...new Set([...base.secrets, ...read.secrets])],
  };
}
