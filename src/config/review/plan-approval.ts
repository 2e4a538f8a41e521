import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import { isObject } from '../../kernel/json.js';
import { printable } from '../../kernel/text.js';
import type { Config } from '../../model/config.js';
import type { Server, ShownTransport } from '../../model/server.js';
import type { ConfigApproval } from '../../model/source.js';
import type { Variables } from '../environment.js';
import { locateConfig, type FindOptions } from '../read/find.js';
import { parseConfig } from '../read/parse.js';
import { resolveConfig } from '../resolve/resolve.js';
import { quoteArgument } from './review.js';
import { approveConfig, fingerprintOf, isCode, trustOf, withdrawConfig } from './trust.js';

/** Fewer characters of a hash could be met by chance. */
const MIN_PREFIX = 12;

function checkHash(path: string, hash: string, wanted: string | undefined): void {
  if (wanted === undefined) return;
  const given = wanted.toLowerCase().replace(/^sha256[:-]/, '');
  if (given.length < MIN_PREFIX) {
    throw new ToolscoutError('INVALID_REQUEST', `--hash needs at least ${MIN_PREFIX} characters of the hash.`);
  }
  if (hash.startsWith(given)) return;
  throw new ToolscoutError('TOOL_CHANGED', `${path} has changed: its hash is now ${hash.slice(0, MIN_PREFIX)}.`, {
    suggestion: 'Look at the file again, then approve it with that hash.',
  });
}

/** How a server would be started or reached once its config is approved, whole: nothing that decides what runs is left out (A42). */
function wholeOf({ id, shown, review, transport }: Server, { sandbox: general, servers }: Config): ShownTransport {
  if (!review) return shown;
  const sandbox = transport.type === 'stdio' && (servers[id]?.sandbox ?? general);
  // As it is written: its variables may be credentials.
  const words = sandbox ? sandbox.command.map(quoteArgument) : [];
  const given = shown.type === 'stdio' ? review.env.map(([name, value]) => `${name}=${value}`) : shown.secrets;
  const besides = [
    ...(given.length > 0 ? [`with ${shown.type === 'stdio' ? 'env' : 'headers'} ${given.join(', ')}`] : []),
    ...(review.cwd === undefined ? [] : [`in ${review.cwd}`]),
    ...(review.uses.length > 0 ? [`fills in ${review.uses.join(', ')}`] : []),
  ];
  const command = [...words, review.target].join(' ');
  return { ...shown, target: besides.length === 0 ? command : printable(`${command} (${besides.join('; ')})`) };
}

/**
 * Looks at the config of the current folder, or at the named one, without running it.
 *
 * @throws ToolscoutError `NOTHING_FOUND` when there is no config; `CONFIGURATION_ERROR` when it is a data file and not
 * valid.
 */
export async function planApproval(options: {
  readonly find: FindOptions;
  readonly stateDirectory: string;
  readonly env: Variables;
  readonly now: () => number;
  /** Only if the content has this hash, or one that begins with it. */
  readonly hash?: string;
}): Promise<ConfigApproval> {
  const { find, stateDirectory, env } = options;
  const found = await locateConfig(find);
  if (!found || found.origin === 'user') {
    throw new ToolscoutError('NOTHING_FOUND', `There is no config in ${find.cwd} that needs an approval.`, {
      suggestion: 'Run it in the folder of the config, or name the file.',
    });
  }
  const { path } = found;
  const text = await readFile(path, 'utf8').catch((thrown: unknown) => {
    throw new ToolscoutError('CONFIGURATION_ERROR', `${path} cannot be read: ${messageOf(thrown)}`, {
      suggestion: 'Make the file readable for this user, then try again.',
      file: path,
    });
  });
  const hash = await fingerprintOf(path, text);
  checkHash(path, hash, options.hash);
  const raw = isCode(path) ? {} : await parseConfig(text, path);
  const { servers, config } = resolveConfig(raw, { source: path, env, directory: dirname(path), scope: 'project' });
  const section = isObject(raw) && isObject(raw['discovery']) ? raw['discovery'] : {};
  const fields = isObject(raw) ? [...Object.keys(raw), ...Object.keys(section)] : [];
  return {
    path,
    hash,
    state: await trustOf(stateDirectory, path, hash),
    isCode: isCode(path),
    servers: servers.map((server) => ({ id: server.id, transport: wholeOf(server, config) })),
    settings: fields.filter((name) => !['servers', 'discovery', '$schema'].includes(name)),
    approve: () => approveConfig(stateDirectory, path, hash, options.now()),
    withdraw: () => withdrawConfig(stateDirectory, path),
  };
}
